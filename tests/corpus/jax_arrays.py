"""Modules of jax's functions that rearrange, index, reduce, contract and sort arrays."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
from case import Case
from jax import lax
from jax_lowering import KINDS, argument, dtype, lowered

EVERY_KIND = "fiucbnm"


def cases() -> Iterator[Case]:
    yield from shapes()
    yield from shapes_of_every_dtype()
    yield from slices()
    yield from gathers()
    yield from scatters()
    yield from reductions()
    yield from cumulations()
    yield from sorts()


def shapes() -> Iterator[Case]:
    yield lowered("broadcast", lambda x: lax.broadcast(x, (2, 3)), argument((4,)))
    yield lowered("broadcast/scalar", lambda x: lax.broadcast(x, (2, 0)), argument(()))
    yield lowered("broadcast_in_dim", lambda x: lax.broadcast_in_dim(x, (2, 3, 4), (0, 2)), argument((2, 1)))
    yield lowered("broadcast_to_rank", lambda x: lax.broadcast_to_rank(x, 3), argument((2,)))
    yield lowered("reshape", lambda x: lax.reshape(x, (3, 4)), argument((2, 6)))
    yield lowered("reshape/permuted", lambda x: lax.reshape(x, (12,), (1, 0)), argument((2, 6)))
    yield lowered("reshape/empty", lambda x: lax.reshape(x, (0, 5)), argument((7, 0)))
    yield lowered("reshape/scalar", lambda x: lax.reshape(x, ()), argument((1, 1)))
    yield lowered("squeeze", lambda x: lax.squeeze(x, (0, 2)), argument((1, 3, 1)))
    yield lowered("expand_dims", lambda x: lax.expand_dims(x, (0, 2)), argument((3,)))
    yield lowered("collapse", lambda x: lax.collapse(x, 0, 2), argument((2, 3, 4)))
    yield lowered("transpose", lambda x: lax.transpose(x, (2, 0, 1)), argument((2, 3, 4)))
    yield lowered("transpose/scalar", lambda x: lax.transpose(x, ()), argument(()))
    yield lowered("rev", lambda x: lax.rev(x, (0, 2)), argument((2, 3, 4)))
    yield lowered("tile", lambda x: lax.tile(x, (2, 3)), argument((2, 3)))
    yield lowered("concatenate", lambda *xs: lax.concatenate(xs, 1), *[argument((2, n)) for n in (3, 0, 1)])
    yield lowered("concatenate/one", lambda x: lax.concatenate([x], 0), argument((2,)))
    yield lowered("stack", lambda *xs: lax.stack(xs), argument((2,)), argument((2,)))
    yield lowered("split", lambda x: lax.split(x, (1, 2, 3), 1), argument((2, 6)))
    yield lowered("unstack", lambda x: lax.unstack(x), argument((3, 2)))
    for name, edges in [
        ("around", [(1, 2, 0), (0, 0, 3)]),
        ("negative", [(-1, 0, 0), (0, -2, 0)]),
        ("none", [(0, 0, 0), (0, 0, 0)]),
        ("mixed", [(-1, 2, 1), (1, -1, 2)]),
    ]:
        yield lowered(f"pad/{name}", lambda x, v, e=edges: lax.pad(x, v, e), argument((4, 5)), argument(()))
    yield lowered("full", lambda: lax.full((2, 3), 7.0))
    yield lowered("constants", constants)
    yield lowered("tokens", lambda: lax.after_all(lax.create_token(), lax.create_token()))
    yield lowered(
        "optimization_barrier", lambda *xs: lax.optimization_barrier(xs), argument((2,)), argument(())
    )


def constants() -> list[jax.Array]:
    """Constants of every dtype, splats and not, with the numbers that have names."""
    values = []
    for kind in EVERY_KIND:
        for name in KINDS[kind]:
            ramp = jnp.arange(9) % 2
            values.append(ramp.astype(dtype(name)))
            values.append(jnp.ones((2, 2), dtype(name)))
    for name in KINDS["f"]:
        values.append(jnp.array([jnp.nan, jnp.inf, -jnp.inf, -0.0, 1e-7, 3e4], dtype(name)))
        values.append(jnp.full((3,), -jnp.inf, dtype(name)))
    return [lax.optimization_barrier(value) for value in values]


def shapes_of_every_dtype() -> Iterator[Case]:
    """The ops that move elements take them all."""
    moves = {
        "rev": lambda x: lax.rev(x, (1,)),
        "transpose": lambda x: lax.transpose(x, (1, 0)),
        "reshape": lambda x: lax.reshape(x, (6,)),
        "slice": lambda x: lax.slice(x, (0, 1), (2, 3)),
        "concatenate": lambda x: lax.concatenate([x, x], 0),
        "pad": lambda x: lax.pad(x, jnp.zeros((), x.dtype), [(1, 0, 0), (0, 1, 1)]),
        "broadcast_in_dim": lambda x: lax.broadcast_in_dim(x, (4, 2, 3), (1, 2)),
        "dynamic_slice": lambda x: lax.dynamic_slice(x, (0, 1), (1, 2)),
        "gather": lambda x: x[jnp.array([1, 0, 1])],
        "scatter": lambda x: x.at[jnp.array([1, 0])].set(x),
        "where": lambda x: jnp.where(jnp.array([True, False, True]), x, x),
    }
    for name, move in moves.items():
        for kind in EVERY_KIND:
            arguments = [argument((2, 3), dtype) for dtype in KINDS[kind]]
            yield lowered(f"{name}/{kind}", lambda xs, move=move: [move(x) for x in xs], arguments)
    for kind in "fiucm":
        iotas = lambda kind=kind: [lax.iota(dtype(name), 5) for name in KINDS[kind]]
        yield lowered(f"iota/{kind}", iotas)
    yield lowered("broadcasted_iota", lambda: lax.broadcasted_iota("int32", (2, 3, 4), 1))


def slices() -> Iterator[Case]:
    x, index = argument((5, 6)), argument((), "int32")
    yield lowered("slice", lambda x: lax.slice(x, (1, 0), (4, 6), (2, 3)), x)
    yield lowered("slice/empty", lambda x: lax.slice(x, (2, 2), (2, 4)), x)
    yield lowered("slice_in_dim", lambda x: lax.slice_in_dim(x, -3, None, 2, 1), x)
    yield lowered("index_in_dim", lambda x: lax.index_in_dim(x, -1, 1, keepdims=False), x)
    for name in ("int32", "int64", "uint8", "uint32"):
        at = argument((), name)
        yield lowered(
            f"dynamic_slice/{name}", lambda x, i, j: lax.dynamic_slice(x, (i, j), (2, 3)), x, at, at
        )
    yield lowered("dynamic_index_in_dim", lambda x, i: lax.dynamic_index_in_dim(x, i, 1), x, index)
    update = lambda x, u, i, j: lax.dynamic_update_slice(x, u, (i, j))
    yield lowered("dynamic_update_slice", update, x, argument((2, 2)), index, index)
    yield lowered("dynamic_update_slice/whole", update, x, x, index, index)
    yield lowered("dynamic_update_slice/empty", update, x, argument((0, 3)), index, index)
    yield lowered(
        "dynamic_update_index_in_dim",
        lambda x, u, i: lax.dynamic_update_index_in_dim(x, u, i, 0),
        x,
        argument((6,)),
        index,
    )


def gathers() -> Iterator[Case]:
    x, i = argument((4, 5, 6)), argument((3,), "int32")
    pairs = argument((7, 2), "int32")
    yield lowered("gather/rows", lambda x, i: x[i], x, i)
    yield lowered("gather/columns", lambda x, i: x[:, i], x, i)
    yield lowered("gather/two", lambda x, i: x[i, :, i], x, i)
    yield lowered("gather/matrix", lambda x, p: x[p], x, pairs)
    yield lowered("gather/slice", lambda x, i: x[i[0], 1:3, ::2], x, i)
    yield lowered("gather/along", lambda x, i: jnp.take_along_axis(x, i, 1), x, argument((4, 2, 6), "int64"))
    for mode in ("clip", "fill", "wrap"):
        yield lowered(f"take/{mode}", lambda x, i, m=mode: jnp.take(x, i, 1, mode=m), x, i)
    for name in ("int8", "int64", "uint32", "uint64"):
        yield lowered(f"gather/{name}", lambda x, i: x[i], x, argument((2,), name))
    numbers = lax.GatherDimensionNumbers(
        offset_dims=(1,), collapsed_slice_dims=(0, 2), start_index_map=(2, 0), operand_batching_dims=()
    )
    yield lowered("gather/windows", lambda x, p: lax.gather(x, p, numbers, (1, 3, 1)), x, pairs)
    sorted_unique = lambda x, p: lax.gather(
        x, p, numbers, (1, 5, 1), indices_are_sorted=True, unique_indices=True, mode="clip"
    )
    yield lowered("gather/sorted", sorted_unique, x, pairs)
    yield lowered("gather/vmap", jax.vmap(lambda x, i: x[i]), x, argument((4, 2), "int32"))
    yield lowered("gather/empty", lambda x, i: x[i], x, argument((0,), "int32"))
    yield lowered("index_take", lambda x, i: lax.index_take(x, (i,), (0,)), x, i)


def scatters() -> Iterator[Case]:
    x, i, u = argument((4, 5)), argument((3,), "int32"), argument((3, 5))
    for name in ("set", "add", "multiply", "min", "max", "divide", "power", "subtract"):
        yield lowered(f"scatter/{name}", lambda x, i, u, n=name: getattr(x.at[i], n)(u), x, i, u)
    yield lowered("scatter/apply", lambda x, i: x.at[i].apply(jnp.sin), x, i)
    for name in ("int32", "uint8", "bool", "bfloat16", "complex64"):
        operands = [argument((4, 5), name), i, argument((3, 5), name)]
        yield lowered(f"scatter/{name}", lambda x, i, u: x.at[i].max(u), *operands)
    for mode in ("clip", "drop", "promise_in_bounds"):
        yield lowered(f"scatter/{mode}", lambda x, i, u, m=mode: x.at[i].add(u, mode=m), x, i, u)
    yield lowered("scatter/element", lambda x, i: x.at[i[0], i[1]].set(1.0), x, i)
    yield lowered("scatter/columns", lambda x, i: x.at[:, i].add(2.0), x, i)
    sorted_unique = lambda x, i, u: x.at[i].set(u, indices_are_sorted=True, unique_indices=True)
    yield lowered("scatter/sorted", sorted_unique, x, i, u)
    batched = jax.vmap(lambda x, i, u: x.at[i].add(u))
    operands = [argument((2, 4, 5)), argument((2, 3), "int32"), argument((2, 3, 5))]
    yield lowered("scatter/vmap", batched, *operands)
    yield lowered(
        "scatter/empty", lambda x, i, u: x.at[i].add(u), x, argument((0,), "int32"), argument((0, 5))
    )
    yield lowered("scatter/gradient", jax.grad(lambda x, i: (x[i] * 2).sum()), x, i)


def reductions() -> Iterator[Case]:
    named = {"reduce_sum": "fiuc", "reduce_prod": "fiuc", "reduce_max": "fiub", "reduce_min": "fiub"}
    for name, kinds in (named | {"reduce_and": "iub", "reduce_or": "iub", "reduce_xor": "iub"}).items():
        function = getattr(lax, name)
        for kind in kinds:
            reduce = lambda xs, f=function: [f(x, (1,)) for x in xs]
            arguments = [argument((2, 3, 4), dtype) for dtype in KINDS[kind]]
            yield lowered(f"{name}/{kind}", reduce, arguments)
    for name, shape, axes in [
        ("all", (2, 3), (0, 1)),
        ("none", (2, 3), ()),
        ("empty", (0, 3), (0,)),
        ("scalar", (), ()),
        ("several", (2, 3, 4, 5), (0, 2)),
    ]:
        yield lowered(f"reduce_sum/{name}", lambda x, a=axes: lax.reduce_sum(x, a), argument(shape))
    for name in ("argmax", "argmin"):
        function = getattr(lax, name)
        for each in ("float32", "int32", "uint8", "bool", "bfloat16"):
            find = lambda x, f=function: f(x, 1, "int32")
            yield lowered(f"{name}/{each}", find, argument((3, 4), each))
    both = lambda x, y: lax.reduce(
        (x, y), (jnp.float32(0), jnp.int32(1)), lambda a, b: (a[0] + b[0], jnp.maximum(a[1], b[1])), (0,)
    )
    yield lowered("reduce/two", both, argument((3, 4)), argument((3, 4), "int32"))
    unusual = lambda x: lax.reduce(x, jnp.float32(1), lambda a, b: a * b + a - jnp.sin(b), (1,))
    yield lowered("reduce/expression", unusual, argument((3, 4)))
    for name in [
        "mean",
        "var",
        "std",
        "median",
        "ptp",
        "nansum",
        "any",
        "all",
        "count_nonzero",
        "cumsum",
        "diff",
    ]:
        yield lowered(f"numpy.{name}", getattr(jnp, name), argument((3, 4)))


def cumulations() -> Iterator[Case]:
    for name in ["cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"]:
        function = getattr(lax, name)
        for reverse in (False, True):
            label = f"{name}/{'reverse' if reverse else 'forward'}"
            yield lowered(label, lambda x, f=function, r=reverse: f(x, 1, r), argument((2, 5)))
    yield lowered("cumsum/int32", lambda x: lax.cumsum(x), argument((5,), "int32"))
    yield lowered("associative_scan", lambda x: lax.associative_scan(jnp.add, x), argument((6, 2)))


def sorts() -> Iterator[Case]:
    for kind in "fiucbnm":
        arguments = [argument((3, 4), dtype) for dtype in KINDS[kind]]
        yield lowered(f"sort/{kind}", lambda xs: [lax.sort(x, dimension=0) for x in xs], arguments)
    yield lowered("sort/unstable", lambda x: lax.sort(x, is_stable=False), argument((5,)))
    yield lowered("sort/scalar_like", lambda x: lax.sort(x), argument((1,)))
    yield lowered("sort/empty", lambda x: lax.sort(x), argument((2, 0)))
    keys = [argument((4, 3)), argument((4, 3), "int32"), argument((4, 3), "bool")]
    yield lowered("sort/keys", lambda *xs: lax.sort(xs, num_keys=2), *keys)
    yield lowered("sort_key_val", lambda k, v: lax.sort_key_val(k, v, 0), *keys[:2])
    yield lowered("argsort", lambda x: jnp.argsort(x, descending=True), argument((5,)))
    for name in ("float32", "int32", "bfloat16", "uint8"):
        yield lowered(f"top_k/{name}", lambda x: lax.top_k(x, 2), argument((3, 5), name))
    yield lowered("approx_max_k", lambda x: lax.approx_max_k(x, 2), argument((3, 5)))
    yield lowered("approx_min_k", lambda x: lax.approx_min_k(x, 2), argument((3, 5)))
    for name in ("unique", "searchsorted", "nonzero"):
        size = {"unique": lambda x: jnp.unique(x, size=4), "nonzero": lambda x: jnp.nonzero(x, size=4)}
        function = size.get(name, lambda x: jnp.searchsorted(x, x))
        yield lowered(f"numpy.{name}", function, argument((6,)))

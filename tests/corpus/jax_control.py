"""Modules of jax's control flow, calls, collectives and dynamic shapes."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
from case import Case
from jax import lax
from jax.sharding import AxisType, PartitionSpec
from jax_lowering import argument, exported, lowered


def cases() -> Iterator[Case]:
    yield from loops()
    yield from branches()
    yield from calls()
    yield from collectives()
    yield from dynamic_elementwise()
    yield from dynamic_shapes()
    yield from models()


def loops() -> Iterator[Case]:
    x, n = argument((3,)), argument((), "int32")
    yield lowered("while_loop", lambda x: lax.while_loop(lambda s: s.sum() < 10, lambda s: s * 2 + 1, x), x)
    counted = lambda x, n: lax.while_loop(
        lambda s: s[0] < n, lambda s: (s[0] + 1, jnp.sin(s[1])), (jnp.int32(0), x)
    )
    yield lowered("while_loop/two", counted, x, n)
    nested = lambda x, n: lax.fori_loop(0, n, lambda i, s: lax.fori_loop(0, i, lambda j, t: t + x, s), x)
    yield lowered("fori_loop/nested", nested, x, n)
    yield lowered("fori_loop/constant", lambda x: lax.fori_loop(0, 5, lambda i, s: s + i, x), x)
    yield lowered("map", lambda x: lax.map(jnp.cos, x), argument((4, 2)))
    step = lambda carry, x: (carry + x, carry * x)
    yield lowered("scan", lambda x, xs: lax.scan(step, x, xs), x, argument((5, 3)))
    yield lowered("scan/reverse", lambda x, xs: lax.scan(step, x, xs, reverse=True), x, argument((5, 3)))
    yield lowered("scan/unrolled", lambda x, xs: lax.scan(step, x, xs, unroll=2), x, argument((5, 3)))
    yield lowered("scan/no_inputs", lambda x: lax.scan(lambda c, _: (c * 2, None), x, None, length=4), x)
    yield lowered("scan/empty", lambda x, xs: lax.scan(step, x, xs), x, argument((0, 3)))
    total = lambda x, xs: lax.scan(step, x, xs)[0].sum()
    yield lowered("scan/gradient", jax.grad(total), x, argument((5, 3)))
    batched = jax.vmap(lambda x: lax.while_loop(lambda s: s < 10, lambda s: s * 2 + 1, x))
    yield lowered("while_loop/vmap", batched, x)
    root = lambda a: lax.custom_root(
        lambda x: x * x - a,
        a,
        lambda f, x: lax.fori_loop(0, 5, lambda i, s: s - f(s) / (2 * s), x),
        lambda g, y: y / g(jnp.float32(1)),
    )
    yield lowered("custom_root", root, argument(()))


def branches() -> Iterator[Case]:
    x, flag, index = argument((3,)), argument((), "bool"), argument((), "int32")
    yield lowered("cond", lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x), flag, x)
    several = lambda p, x, y: lax.cond(p, lambda x, y: (x, y + 1), lambda x, y: (x * 2, y), x, y)
    yield lowered("cond/several", several, flag, x, index)
    nested = lambda p, q, x: lax.cond(p, lambda x: lax.cond(q, jnp.sin, jnp.tan, x), jnp.cos, x)
    yield lowered("cond/nested", nested, flag, flag, x)
    yield lowered("cond/gradient", jax.grad(lambda x, p: lax.cond(p, jnp.sin, jnp.cos, x).sum()), x, flag)
    yield lowered("switch", lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tanh], x), index, x)
    yield lowered("switch/one", lambda i, x: lax.switch(i, [jnp.sin], x), index, x)
    yield lowered(
        "cond/vmap", jax.vmap(lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x)), argument((3,), "bool"), x
    )
    chosen = lambda x: lax.platform_dependent(x, cpu=jnp.sin, default=jnp.cos)
    yield exported("platform_dependent", chosen, x, platforms=["cpu", "tpu"])


def calls() -> Iterator[Case]:
    x = argument((3,))
    inner = jax.jit(lambda x: jnp.sin(x) * 2)
    yield lowered("jit/nested", lambda x: inner(x) + inner(x * 3), x)
    yield lowered("jit/inline", lambda x: jax.jit(jnp.sin, inline=True)(x), x)
    yield lowered("jit/donated", lambda x: x + 1, x, donate_argnums=0)
    yield lowered("jit/unused", lambda x, y: x, x, x)
    yield lowered("jit/unused_kept", lambda x, y: x, x, x, keep_unused=True)
    yield lowered("jit/nothing", lambda: ())
    yield lowered(
        "jit/tree", lambda tree: {"sum": tree["a"] + tree["b"][0], "same": tree}, {"a": x, "b": [x]}
    )
    yield lowered("jit/remat", jax.grad(lambda x: jax.checkpoint(lambda y: jnp.sin(jnp.sin(y)))(x).sum()), x)
    yield lowered("custom_jvp", jax.nn.relu, x)
    yield lowered(
        "custom_linear_solve", lambda b: lax.custom_linear_solve(lambda v: 2 * v, b, lambda f, v: v / 2), x
    )
    activate = lax.composite(lambda x, *, scale: jnp.tanh(x) * scale, "corpus.activate", version=3)
    yield lowered("composite", lambda x: activate(x, scale=np.float32(2)), x)
    plain = lax.composite(lambda x, y: (x + y, x), "corpus.plain")
    yield lowered("composite/two", plain, x, x)
    for name, options in {
        "plain": {},
        "configured": {"scale": np.float32(2), "name": "kernel", "count": 3},
    }.items():
        target = jax.ffi.ffi_call("corpus_target", jax.ShapeDtypeStruct((3,), jnp.float32))
        yield lowered(f"ffi_call/{name}", lambda x, t=target, o=options: t(x, **o), x)
    effects = jax.ffi.ffi_call("corpus_effect", (argument((2,)), argument((3,))), has_side_effect=True)
    yield lowered("ffi_call/effect", lambda x: effects(x)[1], x)
    laid_out = jax.ffi.ffi_call(
        "corpus_layout",
        argument((2, 3)),
        input_layouts=[(0, 1)],
        output_layouts=(1, 0),
        vmap_method="sequential",
    )
    yield lowered("ffi_call/layout", laid_out, argument((2, 3)))
    aliased = jax.ffi.ffi_call("corpus_alias", argument((3,)), input_output_aliases={0: 0})
    yield lowered("ffi_call/alias", aliased, x)
    yield exported("export/platforms", lambda x: jnp.sort(x) @ x, x, platforms=["cpu", "cuda", "tpu"])
    yield exported("export/tpu", jnp.linalg.cholesky, argument((3, 3)), platforms=["tpu"])


def collectives() -> Iterator[Case]:
    mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto, AxisType.Auto))
    whole = PartitionSpec()
    over = {
        "psum": lambda a: lax.psum(a, "x"),
        "psum/both": lambda a: lax.psum(a, ("x", "y")),
        "psum/groups": lambda a: lax.psum(a, "x", axis_index_groups=[[0, 2], [1, 3]]),
        "psum/two": lambda a: lax.psum((a, a.astype(jnp.int32)), "y"),
        "pmax": lambda a: lax.pmax(a, "x"),
        "pmin": lambda a: lax.pmin(a, "y"),
        "pmean": lambda a: lax.pmean(a, "x"),
        "ppermute": lambda a: lax.ppermute(a, "x", [(0, 1), (1, 2), (2, 3), (3, 0)]),
        "pshuffle": lambda a: lax.pshuffle(a, "y", [1, 0]),
        "all_gather": lambda a: lax.all_gather(a, "x"),
        "all_gather/tiled": lambda a: lax.all_gather(a, "x", axis=1, tiled=True),
        "all_to_all": lambda a: lax.all_to_all(a, "x", 0, 1, tiled=True),
        "psum_scatter": lambda a: lax.psum_scatter(a, "x", tiled=True),
        "axis_index": lambda a: a + lax.axis_index("x"),
        "pswapaxes": lambda a: lax.pswapaxes(a, "y", 0),
    }
    for name, function in over.items():
        shape = (2, 4) if name == "pswapaxes" else (8, 4)
        mapped = jax.shard_map(function, mesh=mesh, in_specs=whole, out_specs=whole, check_vma=False)
        yield lowered(f"shard_map/{name}", mapped, argument(shape))
    split = PartitionSpec("x", "y")
    mapped = jax.shard_map(lambda a: a * 2, mesh=mesh, in_specs=split, out_specs=split)
    yield lowered("shard_map/split", mapped, argument((8, 4)))
    sharding = jax.sharding.NamedSharding(mesh, split)
    yield lowered(
        "sharding_constraint", lambda a: lax.with_sharding_constraint(a, sharding), argument((8, 4))
    )
    yield lowered("in_shardings", lambda a: a + 1, argument((8, 4)), in_shardings=sharding)


def symbolic(*patterns: str) -> list[jax.ShapeDtypeStruct]:
    """Arguments whose shapes share symbols, from patterns as `n, 3` or `n, 3: bool`; each is at least 2."""
    shapes, names = zip(*((f"{pattern}: float32".split(": ")[:2]) for pattern in patterns), strict=True)
    constraints = [f"{symbol} >= 2" for symbol in sorted(set("".join(shapes)) & set("nmk"))]
    scope = jax.export.SymbolicScope(constraints)
    shapes = [jax.export.symbolic_shape(shape, scope=scope) for shape in shapes]
    return [jax.ShapeDtypeStruct(*each) for each in zip(shapes, names, strict=True)]


def dynamic_elementwise() -> Iterator[Case]:
    """Functions that need their operand's shape at run time."""
    for name in ["exp", "log1p", "abs", "erf_inv", "sign", "is_finite", "lgamma", "tan", "asin", "cbrt"]:
        yield exported(f"dynamic/{name}", getattr(lax, name), *symbolic("n, 3"))
    for name in ["add", "div", "max", "pow", "rem", "atan2", "nextafter", "eq"]:
        yield exported(f"dynamic/{name}", getattr(lax, name), *symbolic("n, 3", "n, 3"))
    yield exported("dynamic/clamp", lambda x: lax.clamp(jnp.float32(0), x, jnp.float32(1)), *symbolic("n, 3"))
    yield exported("dynamic/where", jnp.where, *symbolic("n, 3: bool", "n, 3", "n, 3"))
    yield exported("dynamic/convert", lambda x: x.astype(jnp.int8), *symbolic("n, 3"))
    yield exported("dynamic/bitcast", lambda x: lax.bitcast_convert_type(x, jnp.int32), *symbolic("n, 3"))


# A name, what is called, and the patterns of its arguments.
DYNAMIC = [
    ("broadcast", lambda x, y: x + y, "n, m", "m"),
    ("broadcast_in_dim", lambda x: jnp.broadcast_to(x, (4, *x.shape)), "n, m"),
    ("reshape", lambda x: x.reshape(-1), "n, m"),
    ("split_dimension", lambda x: x.reshape(x.shape[0] // 2, 2, -1), "2*n, m"),
    ("iota", lambda x: jnp.arange(x.shape[0]) + x.sum(), "n, m"),
    ("slice", lambda x: x[1:, : x.shape[0] - 1], "n, n"),
    ("strided", lambda x: x[::2, ::-1], "n, m"),
    ("dynamic_slice", lambda x, i: lax.dynamic_slice_in_dim(x, i[0], 2), "n, m", "1: int32"),
    ("update", lambda x, i: lax.dynamic_update_slice(x, x[:2], (i[0], i[1])), "n, m", "2: int32"),
    ("pad", lambda x: jnp.pad(x, ((0, x.shape[1]), (1, 2))), "n, m"),
    ("concatenate", lambda x: jnp.concatenate([x, x, x[:1]]), "n, m"),
    ("reduce", lambda x: (x.sum(1), x.max(0), x.mean()), "n, m"),
    ("argmax", lambda x: jnp.argmax(x, 1), "n, m"),
    ("dot", jnp.matmul, "n, m", "m, n"),
    ("batched_dot", jnp.matmul, "n, 3, m", "n, m, 5"),
    ("take", lambda x, i: x[i], "n, m", "k: int32"),
    ("scatter", lambda x, i: x.at[i].add(1.0), "n, m", "k: int32"),
    ("sort", lambda x: jnp.sort(x, 0), "n, m"),
    ("top_k", lambda x: lax.top_k(x, 2), "n, m"),
    ("cumsum", lambda x: jnp.cumsum(x, 0), "n, m"),
    (
        "reduce_window",
        lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 2, 2), (1, 2, 1), "VALID"),
        "n, 8, 2*m",
    ),
    ("convolution", lambda x, k: lax.conv(x, k, (1, 1), "SAME"), "n, 3, 2*m, 8", "4, 3, 2, 2"),
    ("while", lambda x: lax.while_loop(lambda s: s.sum() < 5, lambda s: s + 1, x), "n, m"),
    ("scan", lambda x: lax.scan(lambda c, row: (c + row, c), x[0], x), "n, m"),
    ("cond", lambda p, x: lax.cond(p[0], jnp.sin, jnp.cos, x), "1: bool", "n, m"),
    ("softmax", jax.nn.softmax, "n, m"),
    ("normal", lambda x: jax.random.normal(jax.random.key(0), x.shape), "n, m"),
    ("rng", lambda s, x: lax.rng_bit_generator(s, x.shape), "4: uint32", "n, m"),
    ("gradient", jax.grad(lambda x: (x @ x.T).sum()), "n, m"),
]


def dynamic_shapes() -> Iterator[Case]:
    for name, function, *patterns in DYNAMIC:
        yield exported(f"dynamic/{name}", function, *symbolic(*patterns))


def models() -> Iterator[Case]:
    x = argument((2, 5, 8))
    attention = lambda q: jax.nn.dot_product_attention(q, q, q, is_causal=True)
    yield lowered("nn.attention", attention, argument((2, 5, 2, 4)))
    for name in [
        "gelu",
        "silu",
        "softplus",
        "elu",
        "log_softmax",
        "leaky_relu",
        "glu",
        "hard_swish",
        "standardize",
    ]:
        yield lowered(f"nn.{name}", getattr(jax.nn, name), x)
    yield lowered("nn.one_hot", lambda i: jax.nn.one_hot(i, 7), argument((5,), "int32"))
    yield lowered("image.resize", lambda x: jax.image.resize(x, (2, 9, 4), "linear"), x)
    yield lowered("mlp/gradient", jax.grad(loss), [argument((8, 16)), argument((16, 4))], argument((3, 8)))


def loss(weights: list[jax.Array], x: jax.Array) -> jax.Array:
    hidden = jax.nn.relu(x @ weights[0])
    return -jax.nn.log_softmax(hidden @ weights[1])[:, 0].mean()

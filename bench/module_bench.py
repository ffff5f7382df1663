"""Modules of 25,000 to 100,000 ops: text, verifiers, portable artifacts, refining, simplifying.

CPU milliseconds, best of 5; jaxlib does the same in the same run, where it can. "growth" is how many times as
long twice the ops take, from 50,000 to 100,000: about 2 is linear. (Modules that fit the processor's caches
are quicker, so they are no measure of growth.) Parsing verifies too, and reading an artifact does, in both.
"""

import io
import time
from collections.abc import Callable

from jax._src.interpreters.mlir import make_ir_context
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from torchere._core import (
    TARGET_VERSION,
    Module,
    deserialize_portable_artifact,
    serialize_portable_artifact,
)

REPEATS = 5
SIZES = (25_000, 50_000, 100_000)
BLOCK_OPS = 11
X, T = "tensor<?x16xf32>", "tensor<16x?xf32>"
BLOCK = f"""
    %n@ = stablehlo.get_dimension_size %x@, dim = 0 : ({X}) -> tensor<i32>
    %r@ = stablehlo.reshape %n@ : (tensor<i32>) -> tensor<1xi32>
    %c@ = stablehlo.constant dense<16> : tensor<1xi32>
    %s@ = stablehlo.concatenate %r@, %c@, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %b@ = stablehlo.dynamic_broadcast_in_dim %bias, %s@, dims = [1] : (tensor<16xf32>, tensor<2xi32>) -> {X}
    %d@ = stablehlo.dot_general %x@, %weight, contracting_dims = [1] x [0] : ({X}, tensor<16x16xf32>) -> {X}
    %a@ = stablehlo.add %d@, %b@ : {X}
    %t@ = stablehlo.transpose %a@, dims = [1, 0] : ({X}) -> {T}
    %h@ = stablehlo.tanh %t@ : {T}
    %u@ = stablehlo.transpose %h@, dims = [1, 0] : ({T}) -> {X}
    %x# = stablehlo.add %u@, %x@ : {X}"""


def module_text(ops: int) -> str:
    """A network of residual blocks with a dynamic batch: about `ops` ops, most of unknown shape."""
    count = ops // BLOCK_OPS
    blocks = "".join(BLOCK.replace("@", str(i)).replace("#", str(i + 1)) for i in range(count))
    return f"""module {{
  func.func @main(%x0: {X}, %weight: tensor<16x16xf32>, %bias: tensor<16xf32>) -> {X} {{{blocks}
    return %x{count} : {X}
  }}
}}"""


def best(prepare: Callable[[], object], step: Callable[[object], object]) -> float:
    """The least CPU milliseconds that `step` takes on what `prepare` makes, which does not count."""
    times = []
    for _ in range(REPEATS):
        subject = prepare()
        start = time.thread_time()
        result = step(subject)
        times.append((time.thread_time() - start) * 1e3)
        del result
    return min(times)


def measure_ours(text: str) -> dict[str, float]:
    module = Module.parse(text)
    artifact = serialize_portable_artifact(module)

    def refined() -> Module:
        clone = module.clone()
        clone.refine_shapes([[8, 16], [16, 16], [16]])
        return clone

    return {
        "parse": best(lambda: text, Module.parse),
        "verify": best(lambda: module, Module.verify),
        "print": best(lambda: module, Module.text),
        "serialize": best(lambda: module, serialize_portable_artifact),
        "deserialize": best(lambda: artifact, deserialize_portable_artifact),
        "refine": best(module.clone, lambda clone: clone.refine_shapes([[8, 16], [16, 16], [16]])),
        "simplify": best(refined, Module.simplify),
    }


def measure_jaxlib(text: str) -> dict[str, float]:
    """Writing an artifact changes the module there, so that each time is on a clone."""
    with make_ir_context() as context:
        module = ir.Module.parse(text)

        def clone() -> ir.Module:
            bytecode = io.BytesIO()
            module.operation.write_bytecode(bytecode)
            return ir.Module.parse(bytecode.getvalue())

        def serialize(module: ir.Module) -> bytes:
            return stablehlo.serialize_portable_artifact(module, TARGET_VERSION)

        artifact = serialize(clone())
        return {
            "parse": best(lambda: text, ir.Module.parse),
            "verify": best(lambda: module, lambda module: module.operation.verify()),
            "print": best(lambda: module, str),
            "serialize": best(clone, serialize),
            "deserialize": best(
                lambda: artifact, lambda bytes: stablehlo.deserialize_portable_artifact(context, bytes)
            ),
        }


def measure() -> dict[str, dict[int, dict[str, float]]]:
    """Milliseconds by who ("ours", "jaxlib"), number of ops and step."""
    texts = {size: module_text(size) for size in SIZES}
    return {
        "ours": {size: measure_ours(text) for size, text in texts.items()},
        "jaxlib": {size: measure_jaxlib(text) for size, text in texts.items()},
    }


def row(times: list[float]) -> str:
    """The milliseconds of each size, and the last's growth over the one before."""
    return "".join(f"{time:10.1f}" for time in times) + f"{times[-1] / times[-2]:8.1f}"


def main() -> None:
    figures = measure()
    sizes = "".join(f"{size:>10,}" for size in SIZES) + f"{'growth':>8}"
    print(f"{'ms':<12}{sizes}   jaxlib:{sizes}")
    for step in figures["ours"][SIZES[0]]:
        line = f"{step:<12}" + row([figures["ours"][size][step] for size in SIZES])
        if step in figures["jaxlib"][SIZES[0]]:
            line += " " * 10 + row([figures["jaxlib"][size][step] for size in SIZES])
        print(line)


if __name__ == "__main__":
    main()

"""Modules of 50,000 and 100,000 ops: parsing, verifying, printing, refining, simplifying. CPU ms, best of 5.

jaxlib's parser, verifier and printer take the same text in the same run. "growth" is how many times as long
twice the ops take: about 2 is linear. (Modules that fit the processor's caches are quicker, so they are no
measure of growth.) Parsing verifies too, in both.
"""

import time
from collections.abc import Callable

from jax._src.interpreters.mlir import make_ir_context
from jaxlib.mlir import ir

from torchere._core import Module

REPEATS = 5
SIZES = (50_000, 100_000)
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

    def refined() -> Module:
        clone = module.clone()
        clone.refine_shapes([[8, 16], [16, 16], [16]])
        return clone

    return {
        "parse": best(lambda: text, Module.parse),
        "verify": best(lambda: module, Module.verify),
        "print": best(lambda: module, Module.text),
        "refine": best(module.clone, lambda clone: clone.refine_shapes([[8, 16], [16, 16], [16]])),
        "simplify": best(refined, Module.simplify),
    }


def measure_jaxlib(text: str) -> dict[str, float]:
    with make_ir_context():
        module = ir.Module.parse(text)
        return {
            "parse": best(lambda: text, ir.Module.parse),
            "verify": best(lambda: module, lambda module: module.operation.verify()),
            "print": best(lambda: module, str),
        }


def measure() -> dict[str, dict[int, dict[str, float]]]:
    """Milliseconds by who ("ours", "jaxlib"), number of ops and step."""
    texts = {size: module_text(size) for size in SIZES}
    return {
        "ours": {size: measure_ours(text) for size, text in texts.items()},
        "jaxlib": {size: measure_jaxlib(text) for size, text in texts.items()},
    }


def main() -> None:
    figures = measure()
    small, large = SIZES
    print(
        f"{'ms':<12}{small:>12,}{large:>12,}{'growth':>9}{'jaxlib:':>10}{small:>8,}{large:>9,}{'growth':>9}"
    )
    for step, least in figures["ours"][small].items():
        most = figures["ours"][large][step]
        row = f"{step:<12}{least:12.1f}{most:12.1f}{most / least:9.1f}"
        if step in figures["jaxlib"][small]:
            theirs = [figures["jaxlib"][size][step] for size in SIZES]
            row += f"{theirs[0]:18.1f}{theirs[1]:9.1f}{theirs[1] / theirs[0]:9.1f}"
        print(row)


if __name__ == "__main__":
    main()

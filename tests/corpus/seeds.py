"""Single ops in generic form, taken out of valid modules: what the mutations change."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator

from jaxlib.mlir import ir
from judges import upstreams_context


@dataclasses.dataclass(frozen=True)
class Region:
    """A region of one block: its text, and what it takes and returns."""

    text: str
    arguments: tuple[str, ...]
    results: tuple[str, ...]

    @staticmethod
    def returning(arguments: tuple[str, ...], results: tuple[str, ...]) -> Region:
        """A region that returns constants, whatever it takes."""
        block = ", ".join(f"%in_region{i}: {type}" for i, type in enumerate(arguments))
        lines = [f"^bb0({block}):" if arguments else ""]
        for i, type in enumerate(results):
            zero = "(0.0, 0.0)" if "complex" in type else "0.0" if re.search(r"\bb?f\d", type) else "0"
            zero = "false" if "i1>" in type else zero
            lines.append(f'%c{i} = "stablehlo.constant"() {{value = dense<{zero}> : {type}}} : () -> {type}')
        values = ", ".join(f"%c{i}" for i in range(len(results)))
        lines.append(f'"stablehlo.return"({values}) : ({", ".join(results)}) -> ()')
        return Region("{\n" + "\n".join(lines) + "\n}", arguments, results)


@dataclasses.dataclass(frozen=True)
class Seed:
    """An op in parts. Its text is a function whose arguments are the op's operands."""

    op: str
    operands: tuple[str, ...]
    attributes: tuple[tuple[str, str], ...]
    regions: tuple[Region, ...]
    results: tuple[str, ...]
    captures: tuple[
        tuple[str, str], ...
    ] = ()  # values that the regions use, as further arguments of the function

    def with_attribute(self, name: str, value: str | None) -> Seed:
        """With another value for an attribute, or without the attribute."""
        changed = [(n, v if n != name else value) for n, v in self.attributes]
        return dataclasses.replace(self, attributes=tuple((n, v) for n, v in changed if v is not None))

    @property
    def text(self) -> str:
        named = [(f"%in{i}", type) for i, type in enumerate(self.operands)] + list(self.captures)
        arguments = ", ".join(f"{name}: {type}" for name, type in named)
        given = ", ".join(f"%in{i}" for i in range(len(self.operands)))
        regions = f" ({', '.join(region.text for region in self.regions)})" if self.regions else ""
        pairs = ", ".join(name if value == "unit" else f"{name} = {value}" for name, value in self.attributes)
        attributes = f" {{{pairs}}}" if pairs else ""
        names = f"%out:{len(self.results)} = " if self.results else ""
        type = f"({', '.join(self.operands)}) -> ({', '.join(self.results)})"
        return (
            f'func.func @main({arguments}) {{\n  {names}"{self.op}"({given}){regions}{attributes} : {type}\n'
            f"  func.return\n}}"
        )


def seeds(texts: Iterable[str]) -> list[Seed]:
    """The distinct ops of modules, without the ops inside other ops' regions."""
    found: dict[Seed, None] = {}
    with upstreams_context():
        for text in filter(_parses, texts):
            for op in _operations(ir.Module.parse(text)):
                seed = _seed(op)
                if seed and _parses(seed.text):
                    found.setdefault(seed)
    return list(found)


def _operations(module: ir.Module) -> Iterator[ir.Operation]:
    for function in module.body.operations:
        if function.operation.name != "func.func":
            continue
        for region in function.operation.regions:
            for block in region:
                yield from (op.operation for op in block.operations)


def _seed(op: ir.Operation) -> Seed | None:
    if op.name.startswith("func.") or not op.name.startswith(("stablehlo.", "chlo.")):
        return None
    try:
        attributes = tuple((name, str(op.attributes[name])) for name in op.attributes)
    except TypeError:  # an attribute that jaxlib's bindings have no class for: a complex constant
        return None
    return Seed(
        op.name,
        tuple(str(value.type) for value in op.operands),
        attributes,
        tuple(_regions(op)),
        tuple(str(value.type) for value in op.results),
        tuple(_captures(op)),
    )


def _captures(op: ir.Operation) -> Iterator[tuple[str, str]]:
    """The values from outside that an op's regions use, with their types."""
    inside: set[str] = set()
    outside: dict[str, str] = {}

    def visit(nested: ir.Operation) -> None:
        for region in nested.regions:
            for block in region:
                inside.update(argument.get_name() for argument in block.arguments)
                for each in block.operations:
                    outside.update((value.get_name(), str(value.type)) for value in each.operation.operands)
                    visit(each.operation)
                    inside.update(value.get_name() for value in each.operation.results)

    visit(op)
    return ((name, type) for name, type in outside.items() if name not in inside)


def _regions(op: ir.Operation) -> Iterator[Region]:
    """The regions, by cutting the op's own text, in which the names of values are consistent."""
    text = op.get_asm(print_generic_op_form=True)
    texts = _bracketed(text[text.index("({") + 1 : text.rindex("})") + 1]) if len(op.regions) else []
    for region, body in zip(op.regions, texts, strict=True):
        block = region.blocks[0] if len(region.blocks) else None
        last = list(block.operations)[-1] if block and len(block.operations) else None
        yield Region(
            body,
            tuple(str(argument.type) for argument in block.arguments) if block else (),
            tuple(str(value.type) for value in last.operation.operands) if last else (),
        )


def _bracketed(text: str) -> list[str]:
    """The parts of `{...}, {...}`."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        if letter == "{":
            start = place if depth == 0 else start
            depth += 1
        elif letter == "}":
            depth -= 1
            if depth == 0:
                parts.append(text[start : place + 1])
    return parts


def _parses(text: str) -> bool:
    try:
        ir.Module.parse(text)
    except ir.MLIRError:
        return False
    return True

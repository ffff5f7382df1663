"""Which element types each op takes: ours are upstream's.

Every op of the lit tests is tried with one of its element types replaced by each type in turn.
"""

import re

import pytest

pytest.importorskip("jaxlib")
import judges
from sources import LIT, SPLIT

pytestmark = pytest.mark.skipif(judges.find_tool() is None, reason="torchere-opt is not built")

INTEGERS = [f"{sign}{width}" for sign in ("i", "ui") for width in (2, 4, 8, 16, 32, 64)]
SMALL_FLOATS = ["f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E3M4", "f8E4M3", "f8E4M3FN", "f8E4M3FNUZ"]
SMALL_FLOATS += ["f8E4M3B11FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU"]
FLOATS = ["bf16", "f16", "f32", "f64", *SMALL_FLOATS]
COMPLEX = ["complex<f32>", "complex<f64>"]
REFUSED = ["tf32", "f80", "f128", "index", "i3", "ui1", "i128", "si8", "complex<bf16>", "complex<i32>"]
TYPES = ["i1", *INTEGERS, *FLOATS, *COMPLEX, *REFUSED]

ELEMENT = r"(?<=tensor<)((?:[0-9?]+x)*)(complex<\w+>|\w+)(?=[>,])"


def functions(path):
    """The functions of a lit test that expect no error and that jaxlib knows, as (header, body lines)."""
    for part in SPLIT.split(path.read_text()):
        if "expected-error" in part or judges.is_newer(part):
            continue
        for header, body in re.findall(
            r"^(func\.func @.*\{)\n(.*?)^  return$", part, re.MULTILINE | re.DOTALL
        ):
            yield header, [line for line in body.splitlines() if "// CHECK" not in line]


def programs(path):
    """Functions of one op each where an op is one line, whole functions otherwise."""
    for header, lines in functions(path):
        names = re.findall(r"(%\w+): ", header)
        if any(line.startswith(("}", "^")) or not line.startswith("  ") for line in lines):
            yield "\n".join([header, *lines, "  return", "}"])
            continue
        for line in lines:
            operands = re.findall(r"%\w+", line.split("=", 1)[-1] if line.strip().startswith("%") else line)
            if f"{path.parent.name}.{path.stem}" in line and set(operands) <= set(names):
                yield "\n".join([header, line, "  return", "}"])


def variants(path):
    """For each element type of the test, the first program that has it, with each other type instead."""
    seen = set()
    for program in programs(path):
        for element in sorted({found[1] for found in re.findall(ELEMENT, program)} - seen):
            seen.add(element)
            for other in TYPES:
                change = lambda found: found[1] + (other if found[2] == element else found[2])  # noqa: B023
                yield re.sub(ELEMENT, change, program)


# What the specification does not allow and upstream takes: what our error says.
STRICTER = {
    "bitcast_convert": "(C1)",  # elements of one width in shapes of different ranks
    "dynamic_iota": "result #0 must be ranked tensor of integer",  # booleans
}


@pytest.mark.slow
@pytest.mark.parametrize("path", LIT, ids=lambda path: f"{path.parent.name}.{path.stem}")
def test_element_types_are_upstreams(path):
    modules = list(dict.fromkeys(variants(path)))
    if path.stem == "constant":  # upstream's parser aborts on complex literals of other types
        modules = [module for module in modules if not any(name in module for name in REFUSED)]
        modules = [
            module for module in modules if not re.search(r"dense<\(.*> : tensor<(?!.*complex)", module)
        ]
    judged = zip(modules, judges.ours(modules), judges.theirs_apart(modules), strict=True)
    wrong = []
    for module, ours, theirs in judged:
        is_stricter = path.stem in STRICTER and STRICTER[path.stem] in ours.error
        if ours.accepted != theirs.accepted and not is_stricter:
            wrong.append(f"{module}\nours: {ours.error or 'accepted'}\ntheirs: {theirs.error or 'accepted'}")
    if wrong:
        pytest.fail(f"{len(wrong)} of {len(modules)} modules:\n" + "\n".join(wrong[:5]), pytrace=False)

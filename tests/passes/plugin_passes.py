"""The passes that only some plugins need, as they show in a program's text."""

from __future__ import annotations

import dataclasses
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "interpreter"))
from xla import prepared


@dataclasses.dataclass(frozen=True)
class PluginPass:
    option: str  # of torchere-opt
    target: re.Pattern[str]  # what it changes
    mark: re.Pattern[str]  # what it makes, which our lowerings do not


COUNTERS = PluginPass(
    "--torchere-prepare-xla-loop-counters",
    re.compile(r"stablehlo\.add (%iterArg\w*), \1 : tensor<u?i\d+>"),
    re.compile(
        r"(%\w+) = stablehlo\.constant dense<2> : tensor<u?i\d+>\s+"
        r"%\w+ = stablehlo\.multiply %iterArg\w*, \1 :"
    ),
)
ARC_TANGENTS = PluginPass(
    "--torchere-prepare-xla-cpu-arc-tangents",
    re.compile(r"stablehlo\.atan2 "),
    re.compile(r"dense<0\.4142135\d*>"),  # tan(pi / 8), where the formula takes another form
)
DONATED_WRITES = PluginPass(
    "--torchere-prepare-xla-cpu-donated-writes",
    re.compile(r"tf\.aliasing_output"),  # which prepareFor sets before
    re.compile(r"stablehlo\.optimization_barrier "),
)
QUANTIZED_TYPES = PluginPass(
    "--torchere-prepare-xla-quantized-types",
    re.compile(r"stablehlo\.uniform_(de)?quantize "),
    re.compile(r"(?!)"),  # arithmetic as any other
)
FLOAT32_PRODUCTS = PluginPass(
    "--torchere-prepare-xla-gpu-float32-products",
    re.compile(
        r"stablehlo\.(dot|dot_general|convolution|dynamic_conv)\b.*: "
        r"\(tensor<([0-9?]+x)*f32>, tensor<([0-9?]+x)*f32>"
    ),
    re.compile(r"HIGHEST"),
)
ALL = (COUNTERS, ARC_TANGENTS, DONATED_WRITES, FLOAT32_PRODUCTS, QUANTIZED_TYPES)


def marks(text: str) -> list[PluginPass]:
    """The passes of whose work there is something in a program."""
    return [each for each in ALL if each.mark.search(text)]


def needed(text: str) -> list[PluginPass]:
    """The passes that have something to do in a program."""
    plain = prepared(text, [])
    return [each for each in ALL if prepared(text, [each.option]) != plain]


def assert_is_for_any_plugin(text: str) -> list[PluginPass]:
    """That nothing in a program is there for one plugin alone, and that each pass finds there what it is for.
    The passes that find something."""
    assert marks(text) == []
    assert not DONATED_WRITES.target.search(text)
    found = needed(text)
    assert found == [each for each in ALL if each.target.search(text)]
    return found

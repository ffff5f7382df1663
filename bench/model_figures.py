"""What the models' bench found, as a table in Markdown and as a plot."""

from __future__ import annotations

import math
import statistics
from typing import Any
from xml.sax.saxutils import escape

OURS = "Torchère"
ABSENT = "absent"
VERSIONS = ("python", "torchère", "torch", "onnxruntime", "openvino", "torchvision", "transformers")
Figures = dict[str, Any]


def milliseconds(engine: Figures) -> float | None:
    """The median of the rounds, of which each is the median of its calls."""
    rounds = engine.get("rounds_ms")
    return statistics.median(rounds) if rounds else None


def floor_ms(row: Figures, machine: Figures) -> float | None:
    """What the multiply-adds take at the peak, or reading the weights from memory: the longer of both."""
    if not machine["gigaflops"]:
        return None
    work = row["flops"] / machine["gigaflops"] * 1e-6
    reading = row["weight_bytes"] / machine["gigabytes_per_second"] * 1e-6
    return max(work, reading)


CALLS = """The median of all rounds, with the middle half of them. "floor" is what the multiply-adds take at
the measured peak, or reading all weights once at the measured bandwidth, whichever is longer. (Where the
processor's cache holds the weights, a call can be quicker.)"""
RATIOS = """How many times as quick as the quickest other engine: the median of the rounds' ratios, in each of
which both ran one after the other, and the middle half of them. 1 and more: ours is the quicker.
The last column is how long a line of the cache took from one core to another and back, before and after the
model. It takes several times as long where cores do not share a cache; then all engines need longer for small
models."""
EXPORTING = """Seconds, and by how many MiB the process grew at its peak. Each contains torch.export, which is
shown alone too. The memory of the model itself does not count."""
LOADING = """From the file (for torch, from the module) to the first result: in a first process / in a second
one, with the caches on disk that the first left."""
ERRORS = "The largest difference from eager's results, as a part of their largest magnitude."


def as_markdown(figures: Figures) -> str:
    sections = [
        *("# The nine models", _introduction(figures)),
        *("## A call, ms", CALLS, _calls(figures)),
        *("## Beside the quickest other engine", RATIOS, _ratios(figures)),
        *("## Exporting", EXPORTING, _exports(figures)),
        *("## Loading, s", LOADING, _loads(figures)),
        *("## Distance from eager", ERRORS, _errors(figures)),
        *_failures(figures),
    ]
    return "\n\n".join(sections) + "\n"


def _introduction(figures: Figures) -> str:
    machine = figures["machine"]
    versions = [f"{name} {value}" for name, value in machine.items() if name in VERSIONS and value]
    peak = "not measured (no compiler)"
    if machine["gigaflops"]:
        peak = f"{machine['gigaflops']:.0f} GFLOP/s in f32, {machine['gigabytes_per_second']:.1f} GB/s read"
    busy = "" if machine["quiet"] else ": **others were at work, so this is no measure of speed**"
    return f"""Machine: {machine["processor"]}, {machine["threads"]} threads; measured at most: {peak}.
Load average before: {machine["load_before"]}{busy}.
{figures["rounds"]} rounds of {figures["seconds_a_turn"]} s for each engine, in turns, each in a process
of its own; batch 1 where none is named; f32; random weights.
Versions: {", ".join(versions)}."""


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _calls(figures: Figures) -> str:
    head = ["model", "GFLOP", "weights, MB", "floor", *figures["engines"], "best peer / ours"]
    return _table(head, [_call_row(row, figures) for row in figures["models"]])


def _call_row(row: Figures, figures: Figures) -> list[str]:
    if "flops" not in row:
        return [row["model"], *[""] * 3, *[row.get("absent", "-")] * len(figures["engines"]), "-"]
    floor = floor_ms(row, figures["machine"])
    ours = milliseconds(row["engines"].get(OURS, {}))
    peers = [milliseconds(engine) for name, engine in row["engines"].items() if name != OURS]
    peers = [peer for peer in peers if peer]
    return [
        row["model"],
        f"{row['flops'] * 1e-9:.2f}",
        f"{row['weight_bytes'] * 1e-6:.0f}",
        "" if floor is None else _short(floor),
        *[_call_cell(row["engines"].get(name)) for name in figures["engines"]],
        f"{min(peers) / ours:.2f}" if ours and peers else "-",
    ]


def paired_ratios(row: Figures) -> list[float]:
    """The quickest other engine's time by ours, round by round."""
    ours = row["engines"].get(OURS, {}).get("rounds_ms") or []
    peers = [engine for name, engine in row["engines"].items() if name != OURS and milliseconds(engine)]
    if not ours or not peers:
        return []
    best = min(peers, key=lambda engine: milliseconds(engine) or math.inf)
    return [peer / own for peer, own in zip(best["rounds_ms"], ours, strict=False)]


def _ratios(figures: Figures) -> str:
    rows, medians = [], []
    for row in figures["models"]:
        ratios = paired_ratios(row)
        if not ratios:
            rows.append([row["model"], "-", "-", "-"])
            continue
        quartiles = statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3
        medians.append(statistics.median(ratios))
        middle = f"{quartiles[0]:.2f} - {quartiles[2]:.2f}"
        rows.append([row["model"], f"{medians[-1]:.2f}", middle, _round_trips(row)])
    if medians:
        rows.append(["geometric mean", f"{statistics.geometric_mean(medians):.2f}", "", ""])
    return _table(["model", "ratio", "middle half", "round trip, ns"], rows)


def _round_trips(row: Figures) -> str:
    measured = [f"{trip:.0f}" for trip in row.get("round_trip_ns", []) if trip is not None]
    return ", ".join(measured) or "-"


def _call_cell(engine: Figures | None) -> str:
    if engine is None:
        return ABSENT
    median = milliseconds(engine)
    if "failed" in engine or median is None:
        return "failed"
    rounds = engine["rounds_ms"]
    if len(rounds) < 2:
        return _short(median)
    low, _, high = statistics.quantiles(rounds, n=4, method="inclusive")
    return f"{_short(median)} ({_short(low)} - {_short(high)})"


def _short(value: float) -> str:
    """Three digits."""
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}" if value > 0 else "0"


def _exports(figures: Figures) -> str:
    names = list(dict.fromkeys(name for row in figures["models"] for name in row["exports"]))
    rows = []
    for row in figures["models"]:
        cells = [_export_cell(row["exports"].get(name)) for name in names]
        rows.append([row["model"], *cells])
    return _table(["model", *(f"{name}: s, MiB" for name in names)], rows)


def _export_cell(export: Figures | None) -> str:
    if export is None:
        return "-"
    if "failed" in export:
        return "failed"
    return f"{_short(export['seconds'])}, {export['bytes'] / 2**20:.0f}"


def _loads(figures: Figures) -> str:
    def cell(engine: Figures | None) -> str:
        if engine is None:
            return ABSENT
        if "load_s" not in engine:
            return "failed"
        first = f"{_short(engine['first_load_s'])} / " if "first_load_s" in engine else ""
        return first + _short(engine["load_s"])

    return _of_engines(figures, cell)


def _errors(figures: Figures) -> str:
    def cell(engine: Figures | None) -> str:
        if engine is None:
            return ABSENT
        return f"{engine['error']:.1e}" if "error" in engine else "failed"

    return _of_engines(figures, cell)


def _of_engines(figures: Figures, cell: Any) -> str:
    rows = [
        [row["model"], *(cell(row["engines"].get(name)) for name in figures["engines"])]
        for row in figures["models"]
    ]
    return _table(["model", *figures["engines"]], rows)


def _failures(figures: Figures) -> list[str]:
    lines = []
    for row in figures["models"]:
        parts = [("", row), *row["exports"].items(), *row["engines"].items()]
        lines += [
            f"- {row['model']}, {name or 'eager'}: `{part['failed'].splitlines()[0][:200]}`"
            for name, part in parts
            if "failed" in part
        ]
    return ["## What failed", "\n".join(lines)] if lines else []


COLOURS = {
    "Torchère": "#d9480f",
    "eager": "#868e96",
    "torch.compile": "#5c7cfa",
    "ONNX Runtime": "#37b24d",
    "OpenVINO": "#ae3ec9",
}
WIDTH, LEFT, BAR, GAP, TOP = 900, 220, 11, 14, 70


def as_svg(figures: Figures) -> str:
    """Bars of speed, eager's being 1: longer is quicker. The scale is logarithmic."""
    speeds = [(row, _speeds(row, figures)) for row in figures["models"]]
    speeds = [(row, found) for row, found in speeds if found]
    largest = max((speed for _, found in speeds for speed in found.values()), default=1.0)
    least = min((speed for _, found in speeds for speed in found.values()), default=1.0)
    low, high = math.floor(math.log2(min(least, 0.5))), math.ceil(math.log2(max(largest, 2.0)))
    scale = (WIDTH - LEFT - 60) / (high - low)
    parts = [f'<text x="12" y="24" font-size="16">{escape(_title(figures))}</text>', *_legend(figures)]
    y = TOP
    bars: list[str] = []
    for row, found in speeds:
        middle = y + BAR * len(found) / 2 + 4
        bars.append(f'<text x="{LEFT - 8}" y="{middle:.0f}" text-anchor="end">{escape(row["model"])}</text>')
        for name, speed in found.items():
            length = (math.log2(speed) - low) * scale
            colour = COLOURS.get(name, "#000")
            bars.append(f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR - 1}" fill="{colour}"/>')
            bars.append(
                f'<text x="{LEFT + length + 3:.1f}" y="{y + BAR - 2}" font-size="9">{_short(speed)}</text>'
            )
            y += BAR
        y += GAP
    for power in range(low, high + 1):
        x = LEFT + (power - low) * scale
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{y}" stroke="#ddd"/>')
        parts.append(f'<text x="{x:.1f}" y="{y + 12}" text-anchor="middle">{2.0**power:g}</text>')
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y + 24}" '
        'font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="#fff"/>'
    )
    return "\n".join([head, *parts, *bars, "</svg>"]) + "\n"


def _title(figures: Figures) -> str:
    machine = figures["machine"]
    busy = "" if machine["quiet"] else " (machine busy)"
    return f"Calls a second, eager torch = 1: {machine['processor']}, {machine['threads']} threads{busy}"


def _legend(figures: Figures) -> list[str]:
    parts, x = [], 12
    for name in figures["engines"]:
        parts.append(f'<rect x="{x}" y="36" width="12" height="12" fill="{COLOURS.get(name, "#000")}"/>')
        parts.append(f'<text x="{x + 17}" y="46">{escape(name)}</text>')
        x += 45 + 8 * len(name)
    return parts


def _speeds(row: Figures, figures: Figures) -> dict[str, float]:
    """How many times as quick as eager each engine is; nothing where eager was not measured."""
    times = {name: milliseconds(row["engines"].get(name, {})) for name in figures["engines"]}
    eager = times.get("eager")
    return {name: eager / each for name, each in times.items() if each} if eager else {}

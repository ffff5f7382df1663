"""Checks every #include of src/ and python/bindings against the table of layers in docs/architecture.md.

A row names every folder that its folder includes directly, and no other.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = "docs/architecture.md"
SOURCES = (".h", ".hpp", ".cpp", ".cc", ".inc")
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)
ROW = re.compile(r"^\|\s*`(?P<folder>[\w/]+)/`\s*\|(?P<rest>.*)\|\s*$")
# Libraries that only some folders may use: the column of the table that allows it, and how its headers begin.
OUTSIDE = {
    "MLIR": ("mlir/", "llvm/"),
    "torch": ("torch/", "ATen/", "c10/"),
    "nanobind": ("nanobind/", "Python.h"),
}


class LayerError(Exception):
    """The table itself is wrong."""


@dataclass
class Layer:
    """One row: the folders and the libraries of OUTSIDE that it may include."""

    uses: list[str]
    outside: set[str]


def read_table(text: str) -> dict[str, Layer]:
    """The rows `| `folder/` | purpose | may use | libraries |` of a Markdown text, keyed by folder."""
    layers: dict[str, Layer] = {}
    for line in text.splitlines():
        row = ROW.match(line)
        if not row:
            continue
        cells = [cell.strip() for cell in row["rest"].split("|")]
        if len(cells) != 3:
            raise LayerError(f"{row['folder']}: got {len(cells) + 1} columns, expected 4")
        if row["folder"] in layers:
            raise LayerError(f"{row['folder']}: two rows")
        outside = {name for name in re.findall(r"\w+", cells[2]) if name in OUTSIDE}
        layers[row["folder"]] = Layer(re.findall(r"`([\w/]+)`", cells[1]), outside)
    if not layers:
        raise LayerError("no table of layers found")
    for folder, layer in layers.items():
        for used in layer.uses:
            if used not in layers:
                raise LayerError(f"{folder}: may use {used}, which has no row")
    refuse_cycles(layers)
    return layers


def refuse_cycles(layers: dict[str, Layer]) -> None:
    """Raises a LayerError for folders that may use each other."""
    done: set[str] = set()

    def visit(folder: str, path: tuple[str, ...]) -> None:
        if folder in path:
            raise LayerError("cycle: " + " -> ".join(path[path.index(folder) :] + (folder,)))
        if folder not in done:
            for used in layers[folder].uses:
                visit(used, path + (folder,))
            done.add(folder)

    for folder in layers:
        visit(folder, ())


def folder_of(path: str, layers: dict[str, Layer]) -> str | None:
    """The innermost folder of the table that holds `path` ("lowering/ops/unary.cpp" -> "lowering/ops")."""
    parts = path.split("/")[:-1]
    while parts:
        if "/".join(parts) in layers:
            return "/".join(parts)
        parts.pop()
    return None


def check_file(
    name: str, folder: str, text: str, layers: dict[str, Layer], included: set[tuple[str, str]]
) -> list[str]:
    """The complaints about one file's includes; `name` is for the messages. Adds to `included` the pairs of
    `folder` and the folders that the file includes."""
    complaints = []
    for bracket, header in INCLUDE.findall(text):
        outside = [library for library, starts in OUTSIDE.items() if header.startswith(starts)]
        if outside:
            if outside[0] not in layers[folder].outside:
                complaints.append(f"{name}: includes {header}, but {folder}/ may not use {outside[0]}")
        elif bracket == '"':
            # Headers are named from src/; those of the bindings from python/.
            target = folder_of(header, layers) or folder_of("python/" + header, layers)
            if target is None:
                complaints.append(f'{name}: includes "{header}", which is in no folder of the table')
            elif target != folder:
                included.add((folder, target))
                if target not in layers[folder].uses:
                    complaints.append(
                        f"{name}: includes {header}, but the row of {folder}/ does not name {target}/"
                    )
    return complaints


def check(root: Path, table: str) -> list[str]:
    """All complaints about the tree at `root`, sorted; `table` is the Markdown text with the rows."""
    layers = read_table(table)
    complaints = []
    seen: set[str] = set()
    included: set[tuple[str, str]] = set()
    for base in (root / "src", root / "python"):
        for path in sorted(base.rglob("*")):
            if path.suffix not in SOURCES or not path.is_file():
                continue
            inside = path.relative_to(base if base.name == "src" else root).as_posix()
            name = path.relative_to(root).as_posix()
            folder = folder_of(inside, layers)
            if folder is None:
                complaints.append(f"{name}: its folder has no row in {TABLE}")
                continue
            seen.add(folder)
            complaints += check_file(name, folder, path.read_text(), layers, included)
    for folder, layer in layers.items():
        if not any(held == folder or held.startswith(folder + "/") for held in seen):
            complaints.append(f"{TABLE}: the folder {folder}/ holds no source")
            continue
        for used in layer.uses:
            if (folder, used) not in included:
                complaints.append(
                    f"{TABLE}: the row of {folder}/ names {used}/, of which it includes nothing"
                )
    return sorted(complaints)


def main() -> int:
    try:
        complaints = check(ROOT, (ROOT / TABLE).read_text())
    except LayerError as error:
        complaints = [f"{TABLE}: {error}"]
    for complaint in complaints:
        print(complaint)
    print(f"layers: {len(complaints)} complaints" if complaints else "layers: every include is allowed")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

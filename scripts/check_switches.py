"""Checks that no switch over an enum of src/ has a `default:`, so that the compiler (-Wswitch) names the
places that miss a new enumerator."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENUM = re.compile(r"\benum\s+class\s+(\w+)")
LABEL = re.compile(r"\bcase\s+(?:\w+::)*(\w+)::\w+\s*:|\b(default)\s*:|\b(switch)\s*\(|([{}])")


def our_enums(files: list[Path]) -> set[str]:
    return {name for file in files for name in ENUM.findall(file.read_text())}


def switches_with_default(text: str, enums: set[str]) -> list[int]:
    """The lines of `default:` labels beside `case`s of one of the enums."""
    wrong, depth = [], 0
    switches: list[dict] = []  # those that are open, the innermost last
    text = re.sub(r"//[^\n]*", "", text)
    for match in LABEL.finditer(text):
        enum, is_default, is_switch, brace = match.groups()
        if is_switch:
            switches.append({"depth": depth, "ours": False, "default": None})
        elif brace == "{":
            depth += 1
        elif brace == "}":
            depth -= 1
            if switches and switches[-1]["depth"] == depth:
                closed = switches.pop()
                if closed["ours"] and closed["default"]:
                    wrong.append(closed["default"])
        elif switches and is_default:
            switches[-1]["default"] = text.count("\n", 0, match.start()) + 1
        elif switches:
            switches[-1]["ours"] |= enum in enums
    return wrong


def check(root: Path) -> list[str]:
    folders = (root / "src", root / "python/bindings")
    # By their whole suffix: Python leaves files as `table.cpython-311.pyc` beside the sources.
    files = [file for folder in folders for end in ("h", "cpp") for file in sorted(folder.rglob(f"*.{end}"))]
    enums = our_enums(files)
    return [
        f"{file.relative_to(root)}:{line}: a switch over an enum of ours has a default"
        for file in files
        for line in switches_with_default(file.read_text(), enums)
    ]


def main() -> int:
    complaints = check(ROOT)
    print("\n".join(complaints) or "switches: none over an enum of ours has a default")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

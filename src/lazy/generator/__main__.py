"""python src/lazy/generator --table ops.yaml --output DIR: writes the kernels of the lazy device's ops.

Everything that is written depends on the table and on torchgen alone, so that equal inputs give equal bytes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from kernels import kernel_sources
from pieces import missing_pieces
from table import TableError, read_table


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="generator", description=__doc__)
    parser.add_argument("--table", type=Path, required=True)
    parser.add_argument("--numbers", type=Path, required=True, help="which numbers are operands")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--shards", type=int, default=6, help="files that the kernels are spread over")
    options = parser.parse_args(arguments)
    try:
        table = read_table(options.table, options.numbers)
    except TableError as error:
        print(error, file=sys.stderr)
        return 1
    (options.output / "lazy").mkdir(parents=True, exist_ok=True)
    for name, text in kernel_sources(table, options.shards).items():
        path = options.output / "lazy" / name
        if not path.exists() or path.read_text() != text:  # so that what did not change is not compiled again
            path.write_text(text)
    complaints = missing_pieces(table, options.numbers.parent, options.output, options.shards)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

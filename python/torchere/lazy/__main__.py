"""python -m torchere.lazy build: builds the lazy device against the torch that is installed."""

from __future__ import annotations

import argparse
import sys

from torchere.errors import Error
from torchere.lazy.build import build


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m torchere.lazy", description=__doc__)
    commands = parser.add_subparsers(required=True, dest="command")
    command = commands.add_parser("build", help="build the extension, or what changed of it")
    command.add_argument("-j", "--jobs", type=int, help="compilers at once; default: the processors")
    options = parser.parse_args(arguments)
    try:
        print(build(options.jobs))
    except Error as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The command `torchere`: runs the parts that need Python, and passes the rest on to the C++ program."""

from __future__ import annotations

import os
import sys
from pathlib import Path

BINARY = Path(__file__).parent / "bin" / "torchere"


def main(arguments: list[str] | None = None) -> int:
    """Runs the command: returns plugins.main's exit code, or replaces this process by the C++ program."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["plugins"] and arguments[1:2] in (["install"], ["uninstall"]):
        from torchere import plugins

        return plugins.main(arguments[1:])
    if not os.access(BINARY, os.X_OK):
        print(
            f"torchere: the program is missing: expected {BINARY}; install the package again", file=sys.stderr
        )
        return 1
    _name_installed_plugins(arguments)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    _fill_standard_streams()
    os.execv(BINARY, ["torchere", *arguments])


def _fill_standard_streams() -> None:
    """Descriptors 0 to 2 that are closed (`>&-`) become ones that cannot be written: the next file that the
    program opens would be its output."""
    while (descriptor := os.open(os.devnull, os.O_RDONLY)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)


def _name_installed_plugins(arguments: list[str]) -> None:
    """Tells the C++ program of the plugins of installed packages, which only Python finds: where all are
    listed, or where one is named that does not ship with the package."""
    wanted = os.environ.get("TORCHERE_PLUGIN") or os.environ.get("PJRT_DEVICE", "")
    for before, argument in zip(["", *arguments], arguments, strict=False):
        name, _, value = argument.partition("=")
        wanted = value if name == "--plugin" and value else argument if before == "--plugin" else wanted
    if wanted.lower() not in ("", "interpreter", "torchere_cpu") or arguments[:1] == ["plugins"]:
        from torchere import plugins

        found = (f"{each.name}:{each.path}" for each in plugins.installed_packages())
        os.environ["TORCHERE_PACKAGE_PLUGINS"] = ",".join(found)


def to_saved_model() -> int:
    """PyTorch/XLA's command stablehlo-to-saved-model."""
    return main(["to-saved-model", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

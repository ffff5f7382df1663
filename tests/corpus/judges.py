"""Two judges of StableHLO text: jaxlib, and ours. Each parses, verifies and prints many modules at a time."""

from __future__ import annotations

import atexit
import bisect
import dataclasses
import functools
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence

from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
from jaxlib.mlir.passmanager import PassManager
from sources import ROOT

# The ways to print: options of torchere-opt, and arguments of MLIR's Python printer.
PLAIN: dict[str, object] = {}
GENERIC = {"print_generic_op_form": True}
LOCATIONS = {"enable_debug_info": True}
OPTIONS = {"print_generic_op_form": "--mlir-print-op-generic", "enable_debug_info": "--mlir-print-debuginfo"}
THEIR_VERSION = tuple(int(number) for number in stablehlo.get_current_version().split("."))
SINCE = re.compile(r"// Since StableHLO (\d+)\.(\d+)")
# Stands on a line of its own between modules.
MARKER = "// ===== next module"
SANITIZED = ("asan", "tsan")  # presets
# Modules a run: the tool looks for line numbers in all of its input for each module.
BATCH = 100
# A form of ours alone: with CHLO's ops expanded.
LEGALIZED: dict[str, object] = {"legalized": True}
OPTIONS["legalized"] = "--chlo-legalize-to-stablehlo"


@dataclasses.dataclass(frozen=True)
class Verdict:
    """A module's text, or, when it was refused, why."""

    text: str | None
    error: str = ""

    @property
    def accepted(self) -> bool:
        return self.text is not None


def is_newer(text: str) -> bool:
    """Whether a module says that it needs a StableHLO which jaxlib does not have yet."""
    found = SINCE.search(text)
    return found is not None and tuple(map(int, found.groups())) > THEIR_VERSION


def upstreams_context() -> ir.Context:
    """jaxlib's dialects, and that of quantized types, which only a pass of StableHLO's loads."""
    stablehlo.register_stablehlo_passes()
    context = jax_mlir.make_ir_context()
    with context:
        loading = PassManager.parse("builtin.module(vhlo-legalize-to-stablehlo)")
        loading.run(ir.Module.parse("").operation)
    return context


_shared_context = functools.cache(upstreams_context)


def theirs(texts: Sequence[str], form: dict[str, object] = PLAIN) -> list[Verdict]:
    """jaxlib's verdict on each text."""
    return [_theirs(text, form) for text in texts]


def _theirs(text: str, form: dict[str, object]) -> Verdict:
    # A context tells resources of one name apart, so that a second module would print other names.
    with upstreams_context() if "dense_resource" in text else _shared_context():
        return _judged(text, form)


def _judged(text: str, form: dict[str, object]) -> Verdict:
    try:
        module = ir.Module.parse(text)
    except ir.MLIRError as error:
        return Verdict(None, "; ".join(line for line in str(error).splitlines() if "error:" in line))
    return Verdict(module.operation.get_asm(**form).strip())


class _Apart:
    """jaxlib in a process of its own, which judges text after text; when it dies another is started."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def judge(self, text: str) -> Verdict:
        if self.process is None:
            command = [sys.executable, __file__]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            self.process = subprocess.Popen(command, text=True, **pipes)
        print(json.dumps(text), file=self.process.stdin, flush=True)
        if line := self.process.stdout.readline():
            return Verdict(*json.loads(line))
        status = self.end()
        assert status < 0, f"exit status {status} of the judge"
        return Verdict(None, f"jaxlib died: signal {-status}")

    def end(self) -> int:
        process, self.process = self.process, None
        if process is None:
            return 0
        process.communicate()  # it ends with its input
        return process.returncode


_apart = _Apart()
atexit.register(_apart.end)


def theirs_apart(texts: Sequence[str]) -> list[Verdict]:
    """jaxlib's verdict from another process: some of its verifiers read out of bounds, and die."""
    return [_apart.judge(text) for text in texts]


def find_tool() -> str | None:
    """torchere-opt: the one that TORCHERE_OPT names, the one on PATH, the one built last. Sanitizers fail a
    process for what it leaks at its end, so theirs are taken only if there is no other."""
    named = os.environ.get("TORCHERE_OPT") or shutil.which("torchere-opt")
    built = sorted(
        ROOT.glob("build/*/bin/torchere-opt"),
        key=lambda path: (path.parts[-3] not in SANITIZED, path.stat().st_mtime),
    )
    return named or (str(built[-1]) if built else None)


def ours(texts: Sequence[str], form: dict[str, object] = PLAIN) -> list[Verdict]:
    """Our verdict on each text, from runs of torchere-opt on many of them each."""
    batches = [texts[i : i + BATCH] for i in range(0, len(texts), BATCH)]
    return [verdict for batch in batches for verdict in _ours(batch, form)]


def _ours(texts: Sequence[str], form: dict[str, object]) -> list[Verdict]:
    options = ["--mlir-disable-threading", *(OPTIONS[name] for name in form)]
    command = [find_tool(), f"--split-input-file={MARKER}", f"--output-split-marker={MARKER}", *options]
    given = f"\n{MARKER}\n".join(texts)
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    printed = [text.strip() for text in done.stdout.split(f"{MARKER}\n")]
    if len(texts) == 1:
        died = f"exit status {done.returncode}: " if done.returncode < 0 else ""
        return [Verdict(printed[0] or None, died + "; ".join(re.findall("error: (.*)", done.stderr)))]
    errors = _errors(texts, done.stderr)
    refused = [i for i, text in enumerate(printed) if not text]
    if len(printed) != len(texts):  # it died on one of them
        half = len(texts) // 2
        return _ours(texts[:half], form) + _ours(texts[half:], form)
    # Errors at a location that the text itself gives do not tell of which module they are.
    alone = {i: _ours([texts[i]], form)[0] for i in refused if i not in errors}
    return [alone.get(i) or Verdict(text or None, errors.get(i, "")) for i, text in enumerate(printed)]


def _errors(texts: Sequence[str], stderr: str) -> dict[int, str]:
    """The messages about each module that was refused, by the line on which the module begins."""
    starts = list(itertools.accumulate((text.count("\n") + 2 for text in texts[:-1]), initial=1))
    errors: dict[int, list[str]] = {}
    for line, message in re.findall(r"^\S+?:(\d+):\d+: error: (.*)", stderr, re.MULTILINE):
        errors.setdefault(bisect.bisect_right(starts, int(line)) - 1, []).append(message)
    return {number: "; ".join(messages) for number, messages in errors.items()}


def main() -> None:
    """Judges the texts on stdin, each a line of JSON: a line of JSON for each."""
    for line in sys.stdin:
        verdict = theirs([json.loads(line)])[0]
        print(json.dumps([verdict.text, verdict.error]), flush=True)


if __name__ == "__main__":
    main()

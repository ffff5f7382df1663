"""Python programs in processes of their own that need not import torch first: copies of one that has.

To import torch and what its first export imports takes more than four seconds, which is most of many tests.
A server does it once for each process that runs tests, and then forks for each program: torchere and all
else are still imported by the program itself, in its own environment.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import subprocess
import sys
import tempfile
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def run_python(
    *arguments: Any, env: Mapping[str, str] | None = None, cwd: Any = None
) -> subprocess.CompletedProcess[str]:
    """As subprocess.run([sys.executable, *arguments], capture_output=True, text=True): `-c SOURCE` or a file,
    and its arguments."""
    server = _server()
    with tempfile.TemporaryDirectory() as folder:
        request = {
            "arguments": [str(argument) for argument in arguments],
            "environment": dict(os.environ if env is None else env),
            "folder": str(cwd or Path.cwd()),
            "outputs": [f"{folder}/stdout", f"{folder}/stderr"],
        }
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        answer = server.stdout.readline()
        assert answer, f"the server of warm processes ended: {server.wait()}"
        outputs = [Path(output).read_text() for output in request["outputs"]]
    return subprocess.CompletedProcess(request["arguments"], int(answer), *outputs)


@functools.cache
def _server() -> subprocess.Popen[str]:
    server = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(server.communicate)  # to the end of its input, which ends it
    return server


def _serve() -> dict[str, Any]:
    """Forks for each request of standard input, and says how the child ended. Returns in the child only, with
    its request."""
    import torch

    # With what an export imports. It starts no thread: a child would not have it.
    torch.export.export(torch.nn.ReLU(), (torch.ones(2),))
    threads = len(os.listdir("/proc/self/task"))
    assert threads == 1, f"{threads} threads: expected 1"
    answers = os.fdopen(os.dup(1), "w")
    while line := sys.stdin.readline():
        child = os.fork()
        if child == 0:
            answers.close()
            return json.loads(line)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), file=answers, flush=True)
    sys.exit()


def _become(request: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Makes this process as Python starts it for the arguments: the code to execute, and what in."""
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    for descriptor, path in enumerate(request["outputs"], start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), descriptor)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    first, *others = request["arguments"]
    module = types.ModuleType("__main__")
    if first == "-c":
        sys.path[0], name, source = "", "<string>", others.pop(0)
    else:
        sys.path[0], name, source = str(Path(first).resolve().parent), first, Path(first).read_text()
        module.__file__ = first
    sys.path[1:1] = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.argv = [first, *others]
    sys.modules["__main__"] = module
    return compile(source, name, "exec"), vars(module)


if __name__ == "__main__":
    exec(*_become(_serve()))

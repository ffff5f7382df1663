"""Loads and calls damaged copies of saved programs, a line of JSON for each, for mutation_test.py: the end of
the process is a finding. Arguments: the folder of programs, the seed, how many changes at random, how many of
meaning, and the first to be tried; with the folder alone, the programs are saved there."""

from __future__ import annotations

import collections
import faulthandler
import json
import random
import shutil
import sys
import tempfile
import traceback
from pathlib import Path

import torch
import torch.utils._pytree as pytree
from damage import damage, damage_meaning

import torchere

Out = collections.namedtuple("Out", ["mean", "total"], module="mutation_child")
pytree._register_namedtuple(Out, serialized_type_name="mutation_child.Out")
FORBIDDEN = ("import", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.spawn", "exec")
FORBIDDEN += ("pickle.", "marshal.", "socket.", "ctypes.dlopen", "os.remove", "os.rename")
ARCHIVE = "program.torchere"
SECONDS = 100  # for one program, which takes milliseconds


class Model(torch.nn.Module):
    """A dynamic batch, a keyword, constants of the call, a state, a large constant, results of every kind."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.table = torch.arange(100.0)

    def forward(self, x, mode, *, pair):
        self.calls += 1
        y = self.linear(x) + pair.mean * self.table.sum()
        out = Out(y.mean(), pair.total + y)
        return {"out": out, "list": [x.shape[0], None], "mode": mode, 3: (self.calls + 0,)}


class Stateless(torch.nn.Module):
    """What PyTorch/XLA's files can say: no state, no constants among the results."""

    def forward(self, x, mode, *, pair):
        out = Out(x.mean(), pair.total * 2)
        return {"out": out, "list": [x + pair.mean], 3: (x - 1,)}


def arguments():
    return (torch.ones(3, 4), "up"), {"pair": Out(torch.ones(()), torch.ones(3, 3))}


def save_programs(folder: Path) -> None:
    """Four folders: a program as we save it, the same with text alone, one as PyTorch/XLA writes it, and one
    in one file."""
    torch.manual_seed(0)
    args, kwargs = arguments()
    batch = torch.export.Dim("batch", min=2, max=64)
    shapes = {"x": {0: batch}, "mode": None, "pair": Out(None, {0: batch})}
    ours = ["manifest.json", "functions/forward.signature.json", "functions/forward.mlir"]
    for name, module, left_out in [
        ("whole", Model(), []),
        ("text", Model(), ["functions/forward.bytecode"]),
        ("foreign", Stateless(), ours),
    ]:
        torchere.export(module, args, kwargs, dynamic_shapes=shapes).save(folder / name)
        for file in left_out:
            (folder / name / file).unlink()
    torchere.export(Model(), args, kwargs, dynamic_shapes=shapes).save(folder / "file" / ARCHIVE)


class Watch:
    """Python's audit events of a `with` block that no artifact may cause."""

    def __init__(self):
        self.is_on = False
        self.events: list[tuple[str, str]] = []
        sys.addaudithook(self.audit)

    def audit(self, event: str, args: tuple) -> None:
        if self.is_on and event.startswith(FORBIDDEN):
            self.events.append((event, str(args[:1])))

    def __enter__(self) -> None:
        self.events.clear()
        self.is_on = True

    def __exit__(self, *_) -> None:
        self.is_on = False


def use(path: Path, classes: list[type]) -> None:
    """All that one does with a program that somebody sent."""
    program = torchere.load(path / ARCHIVE if (path / ARCHIVE).exists() else path, classes=classes)
    args, kwargs = arguments()
    program.state_dict()
    program.get_stablehlo_text()
    repr(program)
    program(*args, **kwargs)


def try_one(folder: Path, work: Path, seed: int, index: int, has_meaning: bool, watch: Watch) -> dict:
    rng = random.Random(f"{seed} {index}")
    source = rng.choice(sorted(folder.iterdir()))
    shutil.copytree(source, work)
    files = sorted(file for file in work.rglob("*") if file.is_file())
    told = {"index": index, "program": source.name}
    file = rng.choice(files)
    if has_meaning:  # most of what a file can mean is in JSON
        file = rng.choice([file, *(file for file in files if file.suffix in (".json", ".meta"))])
    told["file"] = str(file.relative_to(work))
    told["change"] = (damage_meaning if has_meaning else damage)(file, rng)
    classes = rng.choice([[], [Out]])
    try:
        with watch:
            use(work, classes)
        told["outcome"] = "works"
    except torchere.Error as error:
        told["outcome"] = f"{type(error).__name__}: {error}"
    except BaseException:
        told["outcome"] = told["finding"] = traceback.format_exc()
    if watch.events:
        told["finding"] = f"{told['outcome']}; audited: {watch.events}"
    return told


def main() -> None:
    folder, seed, at_random, with_meaning, first = Path(sys.argv[1]), *map(int, sys.argv[2:])
    for source in sorted(folder.iterdir()):  # what is imported lazily is imported now
        use(source, [Out])
    watch = Watch()
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary) / "program"
        for index in range(first, at_random + with_meaning):
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            shutil.rmtree(work, ignore_errors=True)
            told = try_one(folder, work, seed, index, index >= at_random, watch)
            print(json.dumps(told), flush=True)


if __name__ == "__main__":
    faulthandler.enable()
    main() if sys.argv[2:] else save_programs(Path(sys.argv[1]))

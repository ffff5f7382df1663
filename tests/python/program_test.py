"""StableHLOProgram: calls give what eager gives, with the program's structure, state and errors."""

from __future__ import annotations

import copy
import enum
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from models import Pair
from torch import nn
from torch.export import Dim, export

import torchere
from torchere.errors import InvalidArgumentError, NotFoundError


def check(got, expected):
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)


class Structured(nn.Module):
    """Nested arguments, keywords, constants; results of every kind."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 4)

    def forward(self, x, pair, mode="sum", *, mask=None, options):
        y = self.layer(x) * options["scale"] + pair[0]
        if mask is not None:
            y = y * mask
        return {"y": y, "pair": Pair(pair[1] - 1, [y.sum(), None]), "mode": mode, "rows": x.shape[0] * 2}


ARGS = (torch.randn(2, 3), (torch.randn(4), torch.randn(2)))
KWARGS = {"mask": torch.rand(2, 4), "options": {"scale": torch.tensor(2.0), "name": "n"}}


@pytest.fixture(scope="module")
def structured():
    module = Structured()
    shapes = {
        "x": {0: Dim("rows", max=64)},
        "pair": (None, None),
        "mode": None,
        "mask": {0: Dim("rows", max=64)},
        "options": {"scale": None, "name": None},
    }
    return module, torchere.export(module, (*ARGS, "mean"), KWARGS, dynamic_shapes=shapes)


def test_structure_and_constants(structured):
    module, program = structured
    got, expected = program(*ARGS, "mean", **KWARGS), module(*ARGS, "mean", **KWARGS)
    assert list(got) == list(expected)
    assert type(got["pair"]) is Pair and type(got["pair"].second) is list
    assert (got["mode"], got["rows"], got["pair"].second[1]) == ("mean", 4, None)
    check(got["y"], expected["y"])
    check(got["pair"].first, expected["pair"].first)
    check(got["pair"].second[0], expected["pair"].second[0])


def test_arguments_by_keyword(structured):
    module, program = structured
    got = program(ARGS[0], mode="mean", pair=ARGS[1], **KWARGS)
    check(got["y"], module(*ARGS, "mean", **KWARGS)["y"])
    check(program.evaluate("forward", (*ARGS, "mean"), KWARGS)["y"], got["y"])


class Constants(nn.Module):
    def forward(self, x, n=1, y=None, *, mode, flags, scale=None):
        x = x * n if mode == "times" else x + n
        return x * flags["factors"][0], n, y


def test_constants_need_not_be_given_again(structured, tmp_path):
    module, program = structured
    check(program(*ARGS, **KWARGS)["y"], module(*ARGS, "mean", **KWARGS)["y"])
    x, flags = torch.randn(3), {"factors": (2, 0.5), "exact": False}
    program = torchere.export(Constants(), (x, 3, None), {"mode": "times", "flags": flags, "scale": None})
    program.save(tmp_path / "constants")
    expected = Constants()(x, 3, None, mode="times", flags=flags)
    for called in (program, torchere.load(tmp_path / "constants")):
        for result in (
            called(x),
            called(x=x),
            called(x, 3),
            called(x, y=None, mode="times"),
            called(x, flags=flags, n=3),
            called.call_on_device(x),
        ):
            got, *constants = result
            check(torch.tensor(np.asarray(got)), expected[0])
            assert constants == [3, None]
        with pytest.raises(InvalidArgumentError) as error:
            called(x, mode="plus")
        assert str(error.value) == (
            "[mode] wrong constant: got 'plus', expected 'times', with which the program was captured"
        )
        with pytest.raises(InvalidArgumentError) as error:
            called()
        assert str(error.value) == "[forward] arguments are missing: got 0, expected also x"


def test_an_int_that_changes_has_to_be_given():
    program = torchere.export(
        lambda x, n: x * n, (torch.ones(2), 3), dynamic_shapes=(None, torch.export.Dim.DYNAMIC)
    )
    check(program(torch.ones(2), 4), torch.full((2,), 4.0))
    with pytest.raises(InvalidArgumentError) as error:
        program(torch.ones(2))
    assert str(error.value) == "[forward] arguments are missing: got 1, expected also n"


def test_numpy_arrays_in_torch_tensors_out(structured):
    module, program = structured
    got = program(ARGS[0].numpy(), ARGS[1], "mean", **KWARGS)
    assert isinstance(got["y"], torch.Tensor)
    check(got["y"], module(*ARGS, "mean", **KWARGS)["y"])


def test_other_sizes(structured):
    module, program = structured
    for rows in (1, 5, 64):
        x, mask = torch.randn(rows, 3), torch.rand(rows, 4)
        kwargs = KWARGS | {"mask": mask}
        got, expected = program(x, ARGS[1], "mean", **kwargs), module(x, ARGS[1], "mean", **kwargs)
        check(got["y"], expected["y"])
        assert got["rows"] == expected["rows"]


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        (
            (*ARGS, "mean", 1),
            KWARGS,
            "[forward] too many arguments: got 4, expected 3",
        ),
        (
            ARGS[:1],
            {"mode": "mean", "options": KWARGS["options"]},
            "[forward] arguments are missing: got 3, expected also pair, mask",
        ),
        (
            (*ARGS, "mean"),
            KWARGS | {"bias": 1},
            "[forward] unknown arguments: got bias, expected x, pair, mode, mask, options",
        ),
        (
            ARGS[:1],
            {"pears": 1, **KWARGS},
            "[forward] arguments are missing: got 3 and unknown pears, expected also pair",
        ),
        (
            (*ARGS, "mean"),
            KWARGS | {"x": ARGS[0], "mode": "mean"},
            "[forward] arguments are given twice: got x, mode by position and by keyword, expected each once",
        ),
        (
            (ARGS[0], ARGS[1][:1], "mean"),
            KWARGS,
            "[pair] another structure than the program's: got 1 items, expected 2",
        ),
        (
            (*ARGS, "mean"),
            KWARGS | {"options": {"scale": torch.tensor(1.0)}},
            "[options] another structure than the program's: got [\"'scale'\"], expected the keys "
            "['scale', 'name']",
        ),
    ],
    ids=["too many", "missing", "unknown", "unknown and missing", "twice", "structure", "keys"],
)
def test_wrong_arguments_are_named(structured, args, kwargs, message):
    with pytest.raises(InvalidArgumentError) as error:
        structured[1](*args, **kwargs)
    assert str(error.value) == message


def message_of(call, *args, **kwargs):
    with pytest.raises(InvalidArgumentError) as error:
        call(*args, **kwargs)
    return str(error.value)


def test_arguments_of_evaluate_are_one_tuple():
    program = torchere.export(nn.Linear(3, 2), (torch.ones(4, 3),))
    for call in (program.evaluate, program.evaluate_on_device):
        assert message_of(call, "forward", torch.ones(4, 3)) == (
            "[forward] wrong kind of args: got a Tensor, expected a tuple, such as (x,)"
        )
        call("forward", [torch.ones(4, 3)])


def test_paths_with_a_nul_byte_are_refused(structured):
    expected = r"a NUL byte in the path: got 'a\x00b', expected none"
    assert message_of(structured[1].save, "a\0b") == f"[save] {expected}"
    assert message_of(torchere.load, Path("a\0b")) == f"[load] {expected}"
    assert message_of(torchere.load, b"a\0b") == f"[load] {expected}"
    assert message_of(structured[1].with_weights, "a\0b") == f"[with_weights] {expected}"


def test_values_are_cut_in_messages(structured, tmp_path):
    message = message_of(structured[1].save, tmp_path / "p", state="x" * 1000)
    assert message == f"[state] unknown: got '{'x' * 96}..., expected 'initial' or 'present'"


def test_a_string_is_no_set_of_composites():
    message = "[export] composites: got the string 'sdpa', expected a set of names, such as {\"sdpa\"}"
    assert message_of(torchere.export, nn.Linear(3, 2), (torch.ones(3),), composites="sdpa") == message
    entry = {"target": nn.Linear(3, 2), "args": (torch.ones(3),), "composites": "sdpa"}
    assert message_of(torchere.export, {"forward": entry}) == message


def test_an_unknown_function_is_named(structured):
    with pytest.raises(NotFoundError) as error:
        structured[1].evaluate("backward", ARGS)
    assert str(error.value) == "[backward] no such function: expected one of forward"


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(3))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.total += x
        self.calls += 1
        return self.total / self.calls


def test_state_is_carried_from_call_to_call():
    module = Counter()
    eager, program = copy.deepcopy(module), torchere.export(module, torch.ones(3))
    for _ in range(3):
        x = torch.randn(3)
        check(program(x), eager(x))
    check(program.state_dict(), dict(eager.state_dict()))
    assert module.calls == 0, "the module that was exported keeps its own state"
    check(torchere.export(module, torch.ones(3)).state_dict()["total"], torch.zeros(3))


def test_state_survives_saving_as_it_was_exported(tmp_path):
    program = torchere.export(Counter(), torch.ones(3))
    program.save(tmp_path / "counter")
    loaded = torchere.load(tmp_path / "counter")
    check(loaded(torch.ones(3)), torch.ones(3))
    check(loaded(torch.ones(3)), torch.ones(3))
    assert loaded.state_dict()["calls"] == 2


def test_mutated_inputs_are_written():
    class Scale(nn.Module):
        def forward(self, x, y):
            x.mul_(2)
            return x + y

    program = torchere.export(Scale(), (torch.ones(3), torch.ones(3)))
    x, y = torch.arange(3.0), torch.ones(3)
    check(program(x, y), torch.arange(3.0) * 2 + 1)
    check(x, torch.arange(3.0) * 2)
    array = np.arange(3, dtype=np.float32)
    program(array, y)
    assert array.tolist() == [0, 2, 4]


def test_one_example_given_twice():
    program = torchere.export(lambda x, y: x - 2 * y, (torch.ones(3),) * 2)
    check(program(torch.full((3,), 5.0), torch.ones(3)), torch.full((3,), 3.0))


def test_inputs_of_every_layout():
    program = torchere.export(lambda x: x * 2, torch.ones(3, 4))
    base = torch.randn(4, 6)
    for view in (base.t()[:3], base[::2, :4].repeat(2, 1)[:3], torch.ones(1).expand(3, 4)):
        check(program(view), view * 2)
    grad = torch.randn(3, 4, requires_grad=True)
    check(program(grad), grad.detach() * 2)


def test_an_exported_program_has_its_arguments_already():
    exported = export(nn.Linear(2, 2), (torch.ones(1, 2),))
    with pytest.raises(InvalidArgumentError) as error:
        torchere.export(exported, torch.ones(1, 2))
    assert str(error.value) == (
        "[export] an ExportedProgram has its arguments already: got others, expected none"
    )
    check(torchere.export(exported)(torch.ones(1, 2)), exported.module()(torch.ones(1, 2)))


class Two(nn.Module):
    def forward(self, x, y):
        return x - 2 * y


def test_merged_inputs_are_warned_of():
    x, other = torch.ones(3), torch.arange(3.0)
    exported = export(Two(), (x, x))
    with pytest.warns(UserWarning) as warned:
        program = torchere.export(exported)
    assert [str(each.message) for each in warned] == [
        "[export] torch.export got one tensor for args[0] and args[1] and took them for one input: the "
        "program reads args[1] alone (for two, call torchere.export on the module, or clone the tensor)"
    ]
    check(program(x, x), Two()(x, x))
    check(program(x, other), exported.module()(x, other))
    check(torchere.export(Two(), (x, x))(x, other), Two()(x, other))


def test_inputs_that_no_one_reads_are_not_merged():
    x = torch.ones(3)

    class First(nn.Module):
        def forward(self, x, y, *, z):
            return x * 2

    exported = export(First(), (torch.ones(3), x), {"z": x})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(torchere.export(exported)(x, x, z=x), x * 2)


def test_functions_and_methods():
    layer = nn.Linear(3, 3)
    x = torch.randn(2, 3)
    check(torchere.export(lambda a: layer(a).relu(), x)(x), layer(x).relu().detach())

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = layer

        def encode(self, tokens):
            return self.layer(tokens) * 2

    program = torchere.export(Encoder().encode, x)
    check(program(tokens=x), layer(x).detach() * 2)
    assert set(program.state_dict()) == {"layer.weight", "layer.bias"}


def test_several_threads_call_one_program(structured):
    module, program = structured
    failures = []

    def work(rows):
        x, kwargs = torch.randn(rows, 3), KWARGS | {"mask": torch.rand(rows, 4)}
        try:
            for _ in range(10):
                check(program(x, ARGS[1], "mean", **kwargs)["y"], module(x, ARGS[1], "mean", **kwargs)["y"])
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(rows,)) for rows in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


WITHOUT_TORCH = """
import sys, importlib.util
assert importlib.util.find_spec("torch") is None
import numpy, torchere
program = torchere.load(sys.argv[1])
result = program(numpy.ones((2, 3), numpy.float32))
assert type(result["y"]) is numpy.ndarray and type(program.state_dict()["weight"]) is numpy.ndarray
print(result["y"].tolist(), result["name"])
"""


def test_a_saved_program_needs_no_torch(tmp_path):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.full((3,), 2.0))

        def forward(self, x):
            return {"y": x * self.weight, "name": "net"}

    torchere.export(Net(), torch.ones(2, 3)).save(tmp_path / "net")
    packages = tmp_path / "packages"  # an environment that holds numpy and torchere alone
    packages.mkdir()
    numpy_home = Path(np.__file__).parent
    for home in (numpy_home, numpy_home.with_name("numpy.libs"), Path(torchere.__file__).parent):
        if home.exists():
            (packages / home.name).symlink_to(home)
    command = [sys.executable, "-S", "-c", WITHOUT_TORCH, str(tmp_path / "net")]
    environment = os.environ | {"PYTHONPATH": str(packages)}
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert result.stdout.strip() == "[[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]] net", result.stderr


class Mode(enum.Enum):
    PLUS = 1
    MINUS = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class ByMode(nn.Module):
    def forward(self, x, mode, *, level):
        return (x + 1 if mode is Mode.PLUS else x - 1) * level


def test_members_of_an_enum_are_constants(tmp_path):
    x = torch.randn(3)
    exported = torchere.export(ByMode(), (x, Mode.MINUS), {"level": Level.HIGH})
    exported.save(tmp_path / "program")
    for program in (exported, torchere.load(tmp_path / "program")):
        assert "    mode = 'Mode.MINUS'\n    level = 2\n" in str(program.signature())
        check(program(x, Mode.MINUS, level=Level.HIGH), (x - 1) * 2)
        check(program(x), (x - 1) * 2)
        with pytest.raises(
            InvalidArgumentError, match=r"^\[mode\] wrong constant: got 'Mode.PLUS', expected"
        ):
            program(x, Mode.PLUS, level=Level.HIGH)
        with pytest.raises(InvalidArgumentError, match=r"^\[level\] wrong constant: got 1, expected 2"):
            program(x, Mode.MINUS, level=Level.LOW)

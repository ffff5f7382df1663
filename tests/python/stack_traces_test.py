"""Errors name the user's line, of whatever function: forward, a helper, an exported function or method."""

from __future__ import annotations

import functools
import threading

import pytest
import torch
from torch.fx.proxy import TracerBase

import torchere
from torchere.stack_traces import user_stack_traces


def helper(x):
    return torch.special.airy_ai(x)  # the helper's line: the op has no lowering


class Model(torch.nn.Module):
    def forward(self, x):
        return helper(x + 1)

    def counted(self, x):
        return torch.special.airy_ai(x)  # the method's line


def function(x):
    return helper(x + 1)


def line_of(text):
    with open(__file__) as source:
        return next(number for number, line in enumerate(source, 1) if text in line)


HELPER, METHOD = line_of("the helper's line:"), line_of("# the method's line")


def message(target, strict):
    with pytest.raises(torchere.errors.UnimplementedError) as error:
        torchere.export(target, torch.ones(3, 3), strict=strict)
    return str(error.value).splitlines()[1]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("target", "line"),
    [
        (Model(), HELPER),
        (Model().counted, METHOD),
        (function, HELPER),
        (functools.partial(helper), HELPER),
    ],
    ids=["module", "method", "function", "partial"],
)
def test_the_users_line_is_named(target, line, strict):
    assert (
        message(target, strict)
        == f"  aten.special_airy_ai.default: 1 use, first at stack_traces_test.py:{line}"
    )


@pytest.mark.parametrize("strict", [False, True])
def test_where_no_line_is_the_users_none_is_named(strict):
    assert message(torch.special.airy_ai, strict) == "  aten.special_airy_ai.default: 1 use"


def test_a_line_is_named_where_the_source_is_not_to_be_read():
    names = {}
    exec(
        compile("import torch\ndef airy(x):\n    return torch.special.airy_ai(x)\n", "lost.py", "exec"),
        names,
    )
    assert message(names["airy"], False) == "  aten.special_airy_ai.default: 1 use, first at lost.py:3"


def refuse(x):
    return x if x.sum() > 0 else -x  # the refused line


class Refused(torch.nn.Module):
    def forward(self, x):
        return refuse(x * 2)


class Layers(torch.nn.Module):
    def __init__(self, count):
        super().__init__()
        self.layers = torch.nn.ModuleList(Refused() for _ in range(count))

    def forward(self, x):
        for layer in self.layers[1:]:
            x = layer(x)
        return x


@pytest.mark.parametrize("strict", [False, True])
def test_what_torch_refuses_is_placed_in_the_model(strict):
    with pytest.raises(torchere.errors.CaptureError) as error:
        torchere.export(torch.nn.Sequential(torch.nn.ReLU(), Refused()), torch.ones(3), strict=strict)
    assert error.value.where == f"stack_traces_test.py:{line_of('# the refused line')} in 1"


def test_the_module_is_the_one_that_ran():
    with pytest.raises(torchere.errors.CaptureError) as error:
        torchere.export(Layers(3), torch.ones(3))
    assert error.value.where.endswith(" in layers.1")


def test_of_several_modules_none_is_named_where_torch_does_not_tell():
    with pytest.raises(torchere.errors.CaptureError) as error:
        torchere.export(Layers(3), torch.ones(3), strict=True)
    assert error.value.where == f"stack_traces_test.py:{line_of('# the refused line')}"


def test_torchs_filter_is_back_once_the_last_capture_ends():
    original = TracerBase._filter_traceback_frames
    inside, leave = threading.Event(), threading.Event()

    def capture():
        with user_stack_traces():
            inside.set()
            leave.wait()

    thread = threading.Thread(target=capture)
    thread.start()
    inside.wait()
    with user_stack_traces():
        assert TracerBase._filter_traceback_frames is not original
    assert TracerBase._filter_traceback_frames is not original
    leave.set()
    thread.join()
    assert TracerBase._filter_traceback_frames is original

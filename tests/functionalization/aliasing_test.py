"""Programs that write through aliases, functional by the core, against eager: results, inputs and state."""

import re

import conditional_alias_programs  # noqa: F401  which adds to PROGRAMS
import pytest
import torch
import view_programs  # noqa: F401
import write_programs  # noqa: F401
from aliasing_programs import PROGRAMS, matrix
from raw_programs import as_module, captured, check, functional, interpreted, separate
from torch.export import Dim

from torchere import _core
from torchere.capture import capture
from torchere.errors import InvalidArgumentError, UnimplementedError


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_program(name):
    function, inputs = PROGRAMS[name]
    check(function, *inputs, calls=1)


DYNAMIC = [
    "alias_taken_before_shows_the_write",
    "chunks",
    "columns_of_open_length",
    "flatten_that_is_a_view",
    "input_is_written_through_a_view",
    "outputs_share_memory",
    "reshape_that_copies",
    "slices_of_slices",
    "strided_rows_of_open_number",
    "through_diagonal",
    "through_transpose",
    "through_view",
    "to_that_is_itself",
    "unbound_columns_joined",
    "unflatten",
]


def strided_rows_of_open_number(x):
    y = x + 0
    y.as_strided((x.shape[0], 4), (4, 1)).add_(1)
    y.as_strided((x.shape[0],), (4,), 1).mul_(2)
    return y


def columns_of_open_length(x):
    y = x + 0
    a, b = y.chunk(2)
    a.mul_(2)
    y.t()[1].add_(1)
    b.sub_(a.sum())
    return y, a, b


@pytest.mark.parametrize("name", DYNAMIC)
def test_program_of_open_size(name):
    """The first dimension is known only when the program is called."""
    function, inputs = PROGRAMS.get(name) or (globals()[name], (matrix(6, 4),))
    x = inputs[0]
    if name == "through_diagonal":
        x = matrix(7, 5)
    larger = matrix(x.shape[0] + 2, *x.shape[1:])
    check(function, x, calls=1, others=(larger,), dynamic_shapes=(({0: Dim.AUTO},),))


class Counter(torch.nn.Module):
    """Buffers that are written, read, and written again."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("mean", matrix(6))
        self.register_buffer("cache", torch.zeros(4, 6), persistent=False)

    def forward(self, x):
        self.count += 1
        self.mean.mul_(0.9)
        first = self.mean.sum()
        self.mean.add_(x.mean(0))
        self.cache[1:3, :2] = x[:2, :2]
        self.cache.t()[0].add_(self.count)
        return first + self.mean, self.cache[1], self.count


class BatchNorm(torch.nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(6, **options)

    def forward(self, x):
        return self.norm(x).mul_(2), self.norm.num_batches_tracked


class WrittenParameter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(matrix(6))

    def forward(self, x):
        self.weight.detach()[1:].mul_(0.5)
        return x * self.weight


class PlainTensor(torch.nn.Module):
    """A tensor that is no buffer: torch takes it for a constant."""

    def __init__(self):
        super().__init__()
        self.memory = matrix(6)

    def forward(self, x):
        self.memory.add_(1)
        return x + self.memory


class TwoNames(torch.nn.Module):
    """A buffer under two names, read by both."""

    def __init__(self):
        super().__init__()
        self.register_buffer("first", matrix(6))
        self.register_buffer("second", self.first)

    def forward(self, x):
        self.first.add_(1)
        seen = self.second * 2
        self.second.mul_(0.5)
        return x + seen, self.first + 0


class ReturnedBuffer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", matrix(4, 6))

    def forward(self, x):
        row = self.state[0]
        self.state.copy_(x)
        return self.state, row, self.state.t()


class Holder:
    """A plain object, in which torch finds no buffers."""


class StaticCache(torch.nn.Module):
    """A buffer that a plain object holds as well: torch captures it twice, as a constant too."""

    def __init__(self):
        super().__init__()
        self.holder = Holder()
        self.holder.memory = torch.zeros(6)
        self.register_buffer("kept", self.holder.memory)

    def forward(self, x):
        self.holder.memory[1:].add_(x[0, 1:])
        return self.kept + x


MODULES = [Counter, BatchNorm, WrittenParameter, ReturnedBuffer, StaticCache]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_state(module):
    check(module().train(), matrix(4, 6), calls=3)


def test_a_buffer_under_two_names_is_one_memory():
    check(TwoNames(), matrix(6), calls=3)


@pytest.mark.parametrize("options", [{}, {"momentum": 0.3, "affine": False}, {"track_running_stats": False}])
@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(options, training):
    check(BatchNormOnly(options).train(training), matrix(5, 3, 4) / 7)


class BatchNormOnly(torch.nn.Module):
    def __init__(self, options):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3, **options)

    def forward(self, x):
        return self.norm(x)


def specs(text):
    """The output specs that the text of a program ends with: (kind, target)."""
    lines = text.split("# outputs")[1].split("Range constraints")[0].split("\n")
    return [line.split(": ", 1)[1] for line in lines if ": " in line]


@pytest.mark.parametrize("target", [Counter(), "two_inputs_are_written", "input_is_returned"], ids=str)
def test_outputs_are_those_of_torch(target):
    """Mutations first, in the order of the inputs, as run_decompositions gives them."""
    function, inputs = PROGRAMS[target] if isinstance(target, str) else (target, (matrix(4, 6),))
    exported = captured(function, inputs)
    theirs = capture(exported.run_decompositions({}))
    assert specs(str(functional(exported))) == specs(str(theirs))


def test_a_constant_that_is_written_is_a_buffer():
    exported = captured(PlainTensor(), (matrix(6),))
    text = str(functional(exported))
    assert "c_memory: BUFFER target='memory' persistent=False" in text
    assert "BUFFER_MUTATION target='memory'" in text
    # torch has already run the write once, on the tensor itself, to capture it.
    memory, program = exported.constants["memory"].clone(), interpreted(exported)
    for calls in (1, 2, 3):
        assert torch.equal(program(matrix(6)), matrix(6) + memory + calls)
    assert torch.equal(program.state_dict()["memory"], memory + 3)


def test_without_writes_the_program_stays():
    exported = captured(lambda x: x.t()[1:].unsqueeze(0) + 1, (matrix(4, 6),))
    program = capture(exported)
    before = str(program)
    _core.functionalize(program)
    assert str(program) == before


def refusal(function, *inputs):
    program = capture(captured(function, inputs))
    before = str(program)
    with pytest.raises((InvalidArgumentError, UnimplementedError)) as caught:
        _core.functionalize(program)
    assert str(program) == before  # an error leaves the program as it was
    return str(caught.value)


class SharedPart(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("whole", matrix(6))
        self.register_buffer("part", self.whole[2:])

    def forward(self, x):
        self.part.add_(1)
        return x + self.whole


def test_refusals_name_the_op_and_the_place():
    text = refusal(lambda x: x[0].expand(3, 6).index_put_((torch.tensor([0]),), x[1]), matrix(4, 6))
    assert text.startswith(
        "[aten.index_put_.default] writes to a tensor of which several elements lie in one place: got sizes "
        "[3, 6] with strides [0, 1], expected a place for each (clone it first); at "
    )
    assert re.fullmatch(
        r"\[part\] is written and shares memory with 'whole': expected weights of their own memory, or of "
        r"all of one in its order; at aliasing_test.py:\d+",
        refusal(SharedPart(), matrix(6)),
    )
    text = refusal(lambda x: (x + 0).resize_(2, 3), matrix(4, 6))
    assert text.startswith(
        "[aten.resize_.default] writes to an argument in a way that has no functional form:"
    )
    text = refusal(lambda x: x.t_(), matrix(4, 6))
    assert text.startswith(
        "[aten.t_.default] changes the sizes of an input in place: expected that of a tensor"
    )


FORMS = {
    "add_.Tensor": ("functional", "aten.add.Tensor"),
    "copy_.default": ("functional", "aten.copy.default"),
    "__iand__.Tensor": ("functional", "aten.bitwise_and.Tensor"),
    "normal_.default": ("functional", "aten.normal_functional.default"),
    "add.Tensor": ("kept", ""),
    "slice.Tensor": ("kept", ""),
    "reshape.default": ("rewritten", ""),
    "detach_.default": ("rewritten", ""),
    "squeeze_.dim": ("rewritten", ""),
    "native_batch_norm.default": ("rewritten", ""),
    "dropout.default": ("removed_in_eval", ""),
    "dropout_.default": ("removed_in_eval", "aten.dropout.default"),
    "resize_.default": ("refused", ""),
    "set_.source_Tensor": ("refused", ""),
    "add.out": ("refused", ""),
}


@pytest.mark.parametrize("op", FORMS)
def test_functional_form(op):
    packet, overload = op.split(".")
    schema = str(getattr(getattr(torch.ops.aten, packet), overload)._schema)
    assert _core.functional_form(f"aten.{op}", schema) == FORMS[op]


def signature(op):
    return [(a.name, str(a.type)) for a in op._schema.arguments]


def test_in_place_ops_become_ops_of_the_same_arguments():
    """Of every in-place op of torch the functional form is an op of torch, and takes what the other takes."""
    seen = 0
    for name in sorted(torch._C._dispatch_get_all_op_names()):
        namespace, _, rest = name.partition("::")
        if namespace != "aten" or not rest.partition(".")[0].endswith("_"):
            continue
        packet, _, overload = rest.partition(".")
        op = getattr(getattr(torch.ops.aten, packet), overload or "default", None)
        if op is None:
            continue
        kind, functional = _core.functional_form(str(op), str(op._schema))
        if kind != "functional":
            continue
        _, packet, overload = functional.split(".")
        form = getattr(getattr(torch.ops.aten, packet, None), overload, None)
        if form is None:
            continue  # reported as an op without a row
        seen += 1
        if packet != "polygamma":  # whose arguments are in another order
            assert signature(form) == signature(op), str(op)
        assert not form._schema.is_mutable
    assert seen > 200


def test_separate_inputs_keep_their_strides():
    assert separate(matrix(4, 6).t()).stride() == (1, 6)
    assert isinstance(as_module(torch.nn.ReLU()), torch.nn.ReLU)

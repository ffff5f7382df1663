"""What rows refuse, with errors that say so."""

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch
from rows import schemas

import torchere
from torchere.decompositions import decompose

_ATEN = torch.ops.aten
_IMAGE = torch.ones(1, 2, 4, 4)
_GRID = torch.zeros(1, 3, 3, 2)
_TABLE, _INDICES, _OFFSETS = torch.ones(5, 3), torch.tensor([0, 1, 2]), torch.tensor([0, 2])


class _Call(torch.nn.Module):
    def __init__(self, op: Any, arguments: tuple):
        super().__init__()
        self.op, self.arguments = op, arguments

    def forward(self, *tensors: torch.Tensor) -> Any:
        given = iter(tensors)
        return self.op(*[next(given) if isinstance(a, torch.Tensor) else a for a in self.arguments])


def refusal(op: Any, *arguments: Any, changes: dict[int, Any] | None = None, **options: Any) -> str:
    """The error of exporting the call; `changes` are arguments that torch itself would refuse: they are put
    into the program that it captures."""
    inputs = tuple(a for a in arguments if isinstance(a, torch.Tensor))
    call = _Call(functools.partial(op, **options), arguments)
    program = decompose(torch.export.export(call, inputs), schemas().keys())
    for node in program.graph.nodes:
        if node.target is op:
            node.args = tuple((changes or {}).get(i, a) for i, a in enumerate(node.args))
    with pytest.raises(torchere.errors.Error) as caught:
        torchere.export(program)
    return str(caught.value)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            (_ATEN._upsample_bilinear2d_aa.default, _IMAGE.to(torch.uint8), [2, 2], False),
            "[aten._upsample_bilinear2d_aa.default] integers are not supported: got uint8",
        ),
        (
            (
                _ATEN._grouped_mm.default,
                torch.ones(8, 8, dtype=torch.bfloat16),
                torch.zeros(8, 8, dtype=torch.bfloat16),
                torch.tensor([8]).int(),
            ),
            "[aten._grouped_mm.default] only rows in groups are supported: got tensors of 2 and 2 dimensions",
        ),
    ],
    ids=lambda value: str(value[0]) if isinstance(value, tuple) else "",
)
def test_calls_that_are_refused(call, text):
    assert text in refusal(*call)


@pytest.mark.parametrize(
    ("call", "changes", "text"),
    [
        (
            (_ATEN.grid_sampler_2d.default, _IMAGE, _GRID, 0, 0, False),
            {2: 3},
            "[aten.grid_sampler_2d.default] unknown interpolation_mode: got 3, expected 0 to 2",
        ),
        (
            (
                _ATEN.grid_sampler_3d.default,
                torch.ones(1, 2, 4, 4, 4),
                torch.zeros(1, 3, 3, 3, 3),
                0,
                0,
                False,
            ),
            {2: 2},
            "[aten.grid_sampler_3d.default] unknown interpolation_mode: got 2, expected 0 to 1",
        ),
        (
            (_ATEN.grid_sampler_2d.default, _IMAGE, _GRID, 0, 0, False),
            {3: 7},
            "[aten.grid_sampler_2d.default] unknown padding_mode: got 7, expected 0 to 2",
        ),
        (
            (_ATEN._embedding_bag.default, _TABLE, _INDICES, _OFFSETS, False, 1),
            {4: 9},
            "[aten._embedding_bag.default] unknown mode: got 9, expected 0 (sum), 1 (mean) or 2 (max)",
        ),
        (
            (_ATEN.conv2d.padding, _IMAGE, torch.ones(3, 2, 3, 3), None, [1, 1], "same"),
            {4: "reflect"},
            "[aten.conv2d.padding] unknown padding: got 'reflect', expected 'same' or 'valid'",
        ),
    ],
    ids=lambda value: str(value[0]) if isinstance(value, tuple) else "",
)
def test_programs_that_torch_would_not_make(call, changes, text):
    assert text in refusal(*call, changes=changes)


def test_complex_numbers_of_half_precision():
    text = refusal(_ATEN.complex.default, _INDICES.half(), _INDICES.half())
    lacks = "complex numbers of half precision are not supported: got"
    expected = "expected complex64 or complex128"
    assert f"[aten.complex.default] {lacks} a result of complex32, {expected}" in text
    numbers = torch.view_as_complex(_TABLE[:, :2].half().contiguous())
    with pytest.raises(torchere.errors.UnimplementedError) as caught:
        torchere.export(_Call(_ATEN.view_as_real.default, (numbers,)), (numbers,))
    assert f"[export] {lacks} complex32 for input 'tensors_0', {expected}" in str(caught.value)


class _HalfComplex(torch.nn.Module):
    """A weight, and a tensor that the program is made with, of complex numbers of half precision."""

    def __init__(self, reads: str):
        super().__init__()
        self.reads = reads
        self.register_buffer("weight", torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex32))
        self.constant = torch.tensor([0.5j, 1.0], dtype=torch.complex32)

    def forward(self, x: torch.Tensor) -> Any:
        match self.reads:
            case "nothing":
                return x + 1
            case "output":
                return x + 1, self.weight
            case "a list":
                return x + torch.view_as_real(torch.cat([self.weight[:1], self.weight]))[0, 0]
            case "constant":
                return x + torch.view_as_real(self.constant)[0]
        return x + torch.view_as_real(self.weight)[0]


@pytest.mark.parametrize(
    ("reads", "op", "name"),
    [
        ("weight", "aten.view_as_real.default", "weight 'weight'"),
        ("constant", "aten.view_as_real.default", "weight 'constant'"),
        ("a list", "aten.slice.Tensor", "weight 'weight'"),
        ("output", "export", "output 'b_weight'"),
    ],
)
def test_weights_of_complex_numbers_of_half_precision(reads, op, name):
    with pytest.raises(torchere.errors.UnimplementedError) as caught:
        torchere.export(_HalfComplex(reads), (torch.ones(2),))
    refused = (
        f"[{op}] complex numbers of half precision are not supported: got complex32 for {name}, expected"
    )
    assert f"{refused} complex64 or complex128" in str(caught.value)
    assert op == "export" or "refusals_test.py:" in str(caught.value)


def test_weights_of_complex_numbers_of_half_precision_that_nothing_reads():
    program = torchere.export(_HalfComplex("nothing"), (torch.ones(2),))
    torch.testing.assert_close(program(torch.ones(2)), torch.full((2,), 2.0))


def test_scatters_of_an_unknown_reduction():
    call = (_ATEN.scatter_reduce.two, _TABLE, 0, torch.tensor([[0, 1, 2]]), torch.ones(1, 3), "sum")
    expected = "unknown reduction: got 'max', expected sum, prod, mean, amax or amin"
    assert f"[aten.scatter_reduce.two] {expected}" in refusal(*call, changes={4: "max"})


def test_segments_of_an_unknown_reduction():
    text = refusal(
        _ATEN.segment_reduce.default, _TABLE, "sum", changes={1: "median"}, lengths=torch.tensor([2, 3])
    )
    expected = "unknown reduction: got 'median', expected sum, mean, max, min or prod"
    assert f"[aten.segment_reduce.default] {expected}" in text


@pytest.mark.parametrize("bins", [[4], [4, 4, 4, 4]])
def test_bins_of_other_coordinates(bins):
    text = refusal(_ATEN._histogramdd_from_bin_cts.default, _TABLE, [2, 3, 4], changes={1: bins})
    expected = f"got {len(bins)} numbers of bins, expected one for each coordinate in the last dimension"
    assert f"[aten._histogramdd_from_bin_cts.default] {expected}" in text


def test_ranges_of_other_coordinates():
    call = functools.partial(_ATEN._histogramdd_from_bin_cts.default, bins=[2, 3, 4])
    program = torch.export.export(_Call(call, (_TABLE,)), (_TABLE,))
    [node] = program.graph.find_nodes(op="call_function", target=call.func)
    node.kwargs = node.kwargs | {"range": [0.0, 1.0]}
    with pytest.raises(torchere.errors.InvalidArgumentError) as caught:
        torchere.export(program)
    assert f"[{call.func}] got 2 numbers as range, expected 6" in str(caught.value)


def test_edges_in_a_matrix():
    call, inputs = _Call(_ATEN.histogram.bins_tensor, (_TABLE, _TABLE[0])), (_TABLE, torch.arange(3.0))
    program = torch.export.export(call, inputs)
    [node] = program.graph.find_nodes(op="call_function", target=_ATEN.histogram.bins_tensor)
    node.args = (node.args[0], node.args[0])
    with pytest.raises(torchere.errors.InvalidArgumentError) as caught:
        torchere.export(program)
    assert "[aten.histogram.bins_tensor] got edges of 2 dimensions, expected 1" in str(caught.value)


def test_sparse_gradients():
    gradient, bags = torch.ones(2, 3), torch.tensor([0, 0, 1])
    sizes, maxima = torch.tensor([2, 1]), torch.tensor([0, 0])
    rest = (5, False, 0, False, None, -1)
    text = refusal(
        _ATEN._embedding_bag_backward.default,
        *(gradient, _INDICES, _OFFSETS, bags, sizes, maxima, *rest),
        changes={9: True},
    )
    assert "sparse gradients are not supported: got sparse=True, expected False" in text


def test_a_scale_of_the_product():
    def call(left: torch.Tensor, right: torch.Tensor, one: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        narrow = torch.float8_e4m3fn
        operands = left.to(narrow), right.to(narrow).t(), one, one
        return _ATEN._scaled_mm.default(*operands, None, scale, torch.float32)

    matrices = torch.ones(16, 16), torch.zeros(16, 16)
    text = refusal(call, *matrices, torch.tensor(1.0), torch.tensor(2.0))
    assert "[aten._scaled_mm.default] scale_result is not supported: expected none" in text

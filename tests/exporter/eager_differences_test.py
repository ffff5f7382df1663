"""docs/differences.md: what a program does where it differs from eager, and that eager does differ."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import nn

import torchere
from torchere.errors import Error, InvalidArgumentError

X = torch.arange(6.0).reshape(3, 2)


def run(function, *args):
    return torchere.export(function, args)(*args)


READS = {
    "index": lambda x, i: x[i],
    "index_select": lambda x, i: torch.index_select(x, 0, i),
    "embedding": lambda x, i: nn.functional.embedding(i, x),
    "gather": lambda x, i: torch.gather(x, 0, i[:, None].expand(-1, 2)),
}
WRITES = {
    "index_put": lambda x, i: x.index_put((i,), torch.tensor(9.0)),
    "index_add": lambda x, i: x.index_add(0, i, torch.full((2, 2), 9.0)),
    "scatter": lambda x, i: x.scatter(0, i[:, None].expand(-1, 2), 9.0),
}


@pytest.mark.parametrize("function", READS.values(), ids=READS.keys())
def test_reads_out_of_range_give_the_nearest_element(function):
    indices = torch.tensor([0, 7])
    with pytest.raises((IndexError, RuntimeError), match="out of"):
        function(X, indices)
    assert torch.equal(run(function, X, indices), X[[0, 2]])


@pytest.mark.parametrize("function", WRITES.values(), ids=WRITES.keys())
def test_writes_out_of_range_write_nothing(function):
    with pytest.raises((IndexError, RuntimeError), match="out of"):
        function(X, torch.tensor([1, 7]))
    result = run(function, X, torch.tensor([1, 7]))
    assert torch.equal(result[[0, 2]], X[[0, 2]])
    assert not torch.equal(result[1], X[1])


@pytest.mark.parametrize(("values", "written"), [([7.0, 8], [7, 8, 8]), ([7.0, 8, 9, 10], [7, 8, 9])])
def test_another_number_of_values_than_a_mask_sets(values, written):
    def write(x, values):
        return x.index_put((x > 2,), values)

    with pytest.raises((IndexError, RuntimeError), match="shape mismatch"):
        write(X, torch.tensor(values))
    assert run(write, X, torch.tensor(values)).flatten().tolist() == [0, 1, 2, *written]


def test_a_class_out_of_range_is_no_error():
    classes = torch.tensor([0, 1, 5])
    with pytest.raises(IndexError, match="out of bounds"):
        nn.functional.cross_entropy(X, classes)
    assert run(nn.functional.cross_entropy, X, classes).isfinite()


def test_integers_divided_by_zero():
    def quotient(x, y):
        return torch.div(x, y, rounding_mode="trunc")

    x = torch.tensor([5, -5, 0])
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        quotient(x, x * 0)
    assert run(quotient, x, x * 0).tolist() == [-1, -1, -1]


def test_the_least_integer_divided_by_minus_one():
    """Eager is not run: the processor's division ends the process."""
    least = torch.iinfo(torch.int32).min
    x = torch.tensor([least], dtype=torch.int32)
    assert run(lambda x: torch.div(x, -1, rounding_mode="trunc"), x).item() == least


def test_a_negative_power_of_integers():
    x = torch.tensor([1, -1, 2, -5])
    with pytest.raises(RuntimeError, match="negative integer powers"):
        _ = x**-1
    assert run(lambda x: x**-1, x).tolist() == [1, -1, 0, 0]


def test_checks_are_left_out_on_request():
    def asserted(x):
        torch._assert_async((x > 100).all())
        return x + 1, torch.linalg.inv(x[:2] * 0)

    with pytest.raises(RuntimeError, match="nonzero"):
        asserted(X)
    with pytest.raises(RuntimeError, match="nonzero"):
        run(asserted, X)
    shifted, inverse = torchere.export(asserted, (X,), checks=False)(X)
    assert torch.equal(shifted, X + 1)
    assert inverse.isnan().all()


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int32, torch.int64])
def test_floats_out_of_range_become_the_nearest_integer(dtype):
    limits = torch.iinfo(dtype)
    x = torch.tensor([1e20, -1e20, float("inf"), float("-inf"), float("nan"), -1.5 if limits.min else 1.5])
    expected = [limits.max, limits.min, limits.max, limits.min, 0, -1 if limits.min else 1]
    assert run(lambda x: x.to(dtype), x).tolist() == expected


def test_nan_is_as_in_eager():
    def each(x):
        values, indices = x.sort()
        return x.max(), x.amin(0), x.argmax(), torch.maximum(x, x * 0), x.clamp(0, 2), values, indices

    x = torch.tensor([1.0, float("nan"), 3.0])
    torch.testing.assert_close(run(each, x), each(x), equal_nan=True, rtol=0, atol=0)


def test_equals_keep_their_order():
    x = torch.tensor([2, 1, 2, 1, 2] * 40)
    expected = torch.sort(x, stable=True)
    assert torch.equal(run(lambda x: torch.sort(x)[1], x), expected[1])
    assert run(lambda x: torch.topk(x, 3)[1], x).tolist() == [0, 2, 4]


def test_python_runs_once(capsys):
    def telling(x):
        print("running")
        return x + 1

    program = torchere.export(telling, X)
    program(X)
    program(X)
    assert capsys.readouterr().out == "running\n"


def test_an_attribute_that_is_no_buffer_is_not_written():
    class Keeper(nn.Module):
        def forward(self, x):
            self.last = x * 2
            return x + 1

    module = Keeper()
    with pytest.warns(UserWarning, match="assigned during export"):
        program = torchere.export(module, X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        program(X)
    assert "last" not in program.state_dict()


def test_arguments_that_are_no_tensors_are_those_of_the_example():
    program = torchere.export(lambda x, scale, mode: x * scale, (X, 2.0, "up"))
    with pytest.raises(InvalidArgumentError, match=r"\[scale\] .*got 3\.0, expected 2\.0"):
        program(X, 3.0, "up")
    with pytest.raises(InvalidArgumentError, match=r"\[mode\] .*got 'down', expected 'up'"):
        program(X, 2.0, "down")


def test_training_is_read_at_the_export():
    module = nn.BatchNorm1d(2).eval()
    program = torchere.export(module, X)
    expected = module(X)
    module.train()
    torch.testing.assert_close(program(X), expected)


def test_results_share_no_memory():
    x = X.clone()
    flat, first, second = run(lambda x: (x.view(-1), x, x), x)
    x[0, 0] = 100.0
    assert flat[0] == first[0, 0] == 0.0
    first[0, 0] = 50.0
    assert second[0, 0] == 0.0


@pytest.mark.parametrize(
    "view", [lambda x: x.as_strided((3, 2), (1, 1)), lambda x: x.unfold(0, 2, 1)], ids=["strided", "unfold"]
)
def test_scatters_into_shared_places_give_those_of_a_copy(view):
    def scattered(x):
        nines = torch.full((2,), 9.0)
        return (
            view(x).slice_scatter(nines[None], 0, 0, 1),
            view(x).select_scatter(nines, 0, 0),
            view(x).diagonal_scatter(nines),
        )

    x = torch.arange(1.0, 5.0)
    assert torch.equal(scattered(x)[0], torch.tensor([[9.0, 9.0], [9.0, 3.0], [3.0, 4.0]]))
    sliced, selected, diagonal = run(scattered, x)
    assert torch.equal(sliced, torch.tensor([[9.0, 9.0], [2.0, 3.0], [3.0, 4.0]]))
    assert torch.equal(selected, sliced)
    assert torch.equal(diagonal, torch.tensor([[9.0, 2.0], [2.0, 9.0], [3.0, 4.0]]))


def test_writes_to_shared_places_are_refused():
    with pytest.raises(InvalidArgumentError, match="of which several elements lie in one place"):
        run(lambda x: x.clone().as_strided((3, 2), (1, 1)).add_(1), torch.arange(4.0))


def test_results_need_no_gradient():
    assert not torchere.export(nn.Linear(2, 1), X)(X.clone().requires_grad_()).requires_grad


def test_what_is_refused():
    with pytest.raises(Error, match=r"aten\.special_airy_ai\.default"):
        torchere.export(lambda x: torch.special.airy_ai(x[:2, :2]), X)

"""Results whose size depends on elements: the size alone is read, and nothing is computed on the CPU."""

import pytest
import torch

from torchere import lazy

A = torch.tensor([[3.0, 0.0, -1.0], [0.0, 2.0, 3.0]])
MASK = torch.tensor([[True, False, True], [False, True, True]])
NUMBERS = torch.tensor([4, 1, 1, 0, 4, 4, 2])
NONE = torch.empty(0, 3)


def assigned(x, index, value, accumulate=False):
    x = x.clone()
    x.index_put_(index, value.to(x.device) if isinstance(value, torch.Tensor) else value, accumulate)
    return x


def set_item(x, index, value):
    x = x.clone()
    x[index] = value
    return x


CASES = {
    "nonzero": lambda x, m, n: torch.nonzero(x),
    "nonzero of none": lambda x, m, n: torch.nonzero(x[:0]),
    "nonzero of zeros": lambda x, m, n: torch.nonzero(x * 0),
    "nonzero of a number": lambda x, m, n: torch.nonzero(x[0, 0]),
    "nonzero as a tuple": lambda x, m, n: torch.nonzero(x, as_tuple=True),
    "where": lambda x, m, n: torch.where(m),
    "argwhere": lambda x, m, n: torch.argwhere(x),
    "masked_select": lambda x, m, n: torch.masked_select(x, m),
    "masked_select, broadcast": lambda x, m, n: torch.masked_select(x, m[0]),
    "a mask": lambda x, m, n: x[m],
    "a mask of rows": lambda x, m, n: x[m[:, 0]],
    "a mask of columns": lambda x, m, n: x[:, m[0]],
    "a mask and integers": lambda x, m, n: x[m[:, 0], n[1:2]],
    "integers": lambda x, m, n: x[:, n[1:4]],
    "integers twice": lambda x, m, n: x[n[1:4], n[1:4]],
    "negative integers": lambda x, m, n: x[-n[1:3]],
    "a mask of none": lambda x, m, n: x[m & ~m],
    "assign by a mask": lambda x, m, n: set_item(x, m, 7.0),
    "assign to a row by a mask": lambda x, m, n: set_item(x, (0, m[0]), 7.0),
    "assign rows by a mask": lambda x, m, n: set_item(x, m[:, 0], 7.0),
    "assign columns by a mask": lambda x, m, n: set_item(x, (slice(None), m[0]), 7.0),
    "assign values by a mask": lambda x, m, n: set_item(x, m, x[m] * 2),
    "assign values by a mask of none": lambda x, m, n: set_item(x, m & ~m, x[m & ~m] * 2),
    "add a row by a mask of none": lambda x, m, n: assigned(
        x, ((m & ~m)[:, 0],), torch.ones(3), accumulate=True
    ),
    "assign by integers": lambda x, m, n: set_item(x, n[1:3], 5.0),
    "add by integers": lambda x, m, n: assigned(x, (n[1:3],), torch.ones(2, 3), accumulate=True),
    "unique": lambda x, m, n: torch.unique(n),
    "unique with all": lambda x, m, n: torch.unique(n, return_inverse=True, return_counts=True),
    "unique of a matrix": lambda x, m, n: torch.unique(x, return_inverse=True, return_counts=True),
    "unique of none": lambda x, m, n: torch.unique(n[:0], return_inverse=True, return_counts=True),
    "unique of bools": lambda x, m, n: torch.unique(m, return_counts=True),
    "unique of NaN": lambda x, m, n: torch.unique(x / 0, return_counts=True),
    "runs": lambda x, m, n: torch.unique_consecutive(n, return_inverse=True, return_counts=True),
    "runs of rows": lambda x, m, n: torch.unique_consecutive(
        x[n.clamp(max=1)], dim=0, return_inverse=True, return_counts=True
    ),
    "runs of columns": lambda x, m, n: torch.unique_consecutive(
        x[:, n.clamp(max=2)], dim=1, return_counts=True
    ),
    "bincount": lambda x, m, n: torch.bincount(n),
    "bincount to a length": lambda x, m, n: torch.bincount(n, minlength=9),
    "bincount of weights": lambda x, m, n: torch.bincount(n, n.float() / 2),
    "bincount of none": lambda x, m, n: torch.bincount(n[:0], minlength=2),
    "repeat_interleave": lambda x, m, n: torch.repeat_interleave(n),
    "repeat_interleave of rows": lambda x, m, n: torch.repeat_interleave(x, n[:2], dim=0),
    "repeat_interleave to a length": lambda x, m, n: x.repeat_interleave(n[:2], dim=0, output_size=5),
}


def results(function, device):
    found = function(A.to(device), MASK.to(device), NUMBERS.to(device))
    return list(found) if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_the_cpu(name):
    lazy.reset_counters()
    got = results(CASES[name], "xla")
    assert not [counter for counter in lazy.counters() if counter.startswith("aten::")]
    for ours, expected in zip(got, results(CASES[name], "cpu"), strict=True):
        assert ours.device.type == "xla" and ours.dtype == expected.dtype
        torch.testing.assert_close(ours.cpu(), expected, rtol=0, atol=0, equal_nan=True)


def test_only_the_size_is_read():
    x, mask = A.to("xla"), MASK.to("xla")
    lazy.reset_counters()
    chosen = x[mask]
    assert lazy.counters()["SizeRead"] == 1 and lazy.counters()["DeviceToHost"] == 1
    assert chosen.shape == (4,)
    lazy.reset_counters()
    x[mask] = 0.0
    assert "SizeRead" not in lazy.counters() and "DeviceToHost" not in lazy.counters()


def test_gradients_go_through_indices():
    def gradient(device):
        x = A.to(device).requires_grad_()
        (x[MASK.to(device)].square().sum() + x[:, NUMBERS[1:4].to(device)].sum()).backward()
        return x.grad.cpu()

    lazy.reset_counters()
    ours = gradient("xla")
    assert not [name for name in lazy.counters() if name.startswith("aten::")]
    assert torch.equal(ours, gradient("cpu"))


def test_slices_that_are_unique_are_found_on_the_cpu_and_counted():
    rows = A[NUMBERS.clamp(max=1)]
    expected = torch.unique(rows, dim=0, return_counts=True)
    ours = torch.unique(rows.to("xla"), dim=0, return_counts=True)
    assert all(torch.equal(a.cpu(), b) for a, b in zip(ours, expected, strict=True))
    assert lazy.counters()["aten::unique_dim"] == 1


def test_wrong_arguments_are_errors():
    x, mask = A.to("xla"), MASK.to("xla")
    with pytest.raises(IndexError, match="the shape of a mask does not match"):
        x[mask[:, :2]]
    with pytest.raises(IndexError, match="must be long, int, byte or bool"):
        x[x]
    with pytest.raises(RuntimeError, match="expected BoolTensor for mask"):
        torch.masked_select(x, x)
    with pytest.raises(RuntimeError, match="1-d non-negative integral"):
        torch.bincount(torch.tensor([1, -1]).to("xla"))
    with pytest.raises(RuntimeError, match="repeats can not be negative"):
        torch.repeat_interleave(torch.tensor([1, -1]).to("xla"))

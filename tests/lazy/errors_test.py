"""What users do wrong is an error that says so, at its line or at its sync."""

import os
import subprocess
import sys

import pytest
import torch

from torchere import lazy

# Ops without a kernel that the device could use.
_LIBRARY = torch.library.Library("lazy_errors", "DEF")
_LIBRARY.define("only_cuda(Tensor x) -> Tensor")
_LIBRARY.impl("only_cuda", lambda x: x, "CUDA")


def on_device(*numbers: int) -> torch.Tensor:
    return torch.tensor(numbers).to("xla")


X = (1.0, 2.0, 3.0, 4.0, 5.0)


def x() -> torch.Tensor:
    return torch.tensor(X).to("xla")


@pytest.mark.parametrize(
    ("call", "op"),
    [
        (lambda: x() + torch.ones(5), "aten.add.Tensor"),
        (lambda: torch.ones(5) + x(), "aten.add.Tensor"),
        (lambda: torch.cat([x(), torch.ones(5)]), "aten.cat.default"),
        (lambda: x().add_(torch.ones(5)), "aten.add.Tensor"),
        (lambda: torch.nn.Linear(5, 2)(x()[None]), "aten.addmm.default"),
        (lambda: torch.add(x(), x(), out=torch.empty(5)), "aten.add.out"),
        (lambda: torch.ones(5).add_(x()), "aten.add_.Tensor"),
        (lambda: torch.logaddexp(x(), torch.ones(5)), "aten.logaddexp.default"),  # computed on the CPU
    ],
)
def test_mixed_devices(call, op):
    with pytest.raises(RuntimeError, match=r"\] tensors on two devices: got cpu, expected xla") as raised:
        call()
    assert str(raised.value).startswith(f"[{op}]")


def test_a_number_of_the_host_is_no_other_device():
    assert (x() + torch.tensor(1.0)).tolist() == [value + 1 for value in X]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: x()[9], "index 9 is out of bounds for dimension 0 with size 5"),
        (lambda: x()[on_device(1, 9)], "index 9 is out of bounds for dimension 0 with size 5"),
        (lambda: x().select(0, -6), "index -6 out of range for tensor of size [5] at dimension 0"),
        (
            lambda: torch.gather(x(), 0, on_device(1, 5)),
            "[aten.gather.default] an index is out of range: got 5, expected 0 to 4 for dimension 0",
        ),
        (
            lambda: torch.index_select(x(), -1, on_device(-1)),
            "[aten.index_select.default] an index is out of range: got -1, expected 0 to 4 for dimension 0",
        ),
        (
            lambda: torch.nn.functional.embedding(on_device(0, 7)[:, None], torch.ones(3, 2).to("xla")),
            "[aten.embedding.default] an index is out of range: got 7, expected 0 to 2 for dimension 0",
        ),
        (
            lambda: x().scatter(0, on_device(9), 1.0),
            "[aten.scatter.value] an index is out of range: got 9, expected 0 to 4 for dimension 0",
        ),
        (
            lambda: torch.nn.functional.cross_entropy(torch.ones(2, 3).to("xla"), on_device(0, 3)),
            "an index is out of range: got 3, expected 0 to 2 for dimension 1",
        ),
    ],
)
def test_a_bad_index_is_an_error_at_its_line(call, text):
    with pytest.raises(IndexError) as raised:
        call()
    assert text in str(raised.value)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: x()[on_device(0, 4) * 2 + 1],
            "[aten.index.Tensor] index 9 is out of bounds for dimension 0",
        ),
        (
            lambda: torch.gather(x(), 0, on_device(1, 2) + 3),
            "[aten.gather.default] an index is out of range: got 5, expected 0 to 4 for dimension 0",
        ),
    ],
)
def test_a_bad_index_that_was_computed_is_an_error_where_indices_are_checked(call, text):
    call().cpu()  # clamped, or dropped
    with lazy.checked_indices(), pytest.raises(IndexError) as raised:
        call()
    assert text in str(raised.value)


def test_computed_indices_that_are_right_pass_the_check():
    with lazy.checked_indices():
        got = x()[on_device(0, 2) * 2]
        ignored = torch.nn.functional.cross_entropy(torch.eye(3).to("xla"), on_device(0, -50, 1) * 2)
    assert got.tolist() == [X[0], X[4]]
    expected = torch.nn.functional.cross_entropy(torch.eye(3), torch.tensor([0, -100, 2]))
    torch.testing.assert_close(ignored.cpu(), expected)


def test_an_index_that_stands_for_none_is_no_error():
    target = on_device(0, -100, 2)
    logits = torch.arange(9.0).reshape(3, 3)
    got = torch.nn.functional.cross_entropy(logits.to("xla"), target)
    torch.testing.assert_close(got.cpu(), torch.nn.functional.cross_entropy(logits, target.cpu()))


def test_an_op_without_any_kernel():
    with pytest.raises(NotImplementedError) as raised:
        torch.ops.lazy_errors.only_cuda(x())
    text = "[lazy_errors.only_cuda.default] no kernel for xla, and none for the CPU, which would compute it"
    assert str(raised.value).startswith(text)
    assert lazy.counters().get("lazy_errors::only_cuda") is None


QUANTIZED = torch.fake_quantize_per_channel_affine
REFUSED = {
    "largest of nothing": lambda d: torch.ones(0, device=d).max(),
    "smallest of nothing": lambda d: torch.ones(0, 3, dtype=torch.int32, device=d).min(),
    "channels": lambda d: torch.nn.Conv2d(3, 5, 3, device=d)(torch.ones(2, 2, 5, 5, device=d)),
    "channels of groups": lambda d: torch.conv1d(
        torch.ones(1, 4, 5, device=d), torch.ones(4, 3, 2, device=d), None, 1, 0, 1, 2
    ),
    "scales": lambda d: QUANTIZED(
        torch.ones(4, 5, device=d), torch.ones(4, device=d), torch.ones(4, device=d), 1, 0, 7
    ),
    "zero points": lambda d: QUANTIZED(
        torch.ones(4, 5, device=d), torch.ones(4, device=d), torch.ones(3, device=d), 0, 0, 7
    ),
    "window": lambda d: torch.kaiser_window(-5, device=d),
    "vectors": lambda d: torch.dot(torch.ones(2, device=d), torch.ones(3, device=d)),
    "repeats": lambda d: torch.tensor([2, 2], device=d).repeat_interleave(
        torch.tensor([1, 1], device=d), output_size=3
    ),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_what_is_refused_with_the_words_of_the_cpu(call):
    with pytest.raises(RuntimeError) as expected:
        call("cpu")
    with pytest.raises(RuntimeError) as got:
        call("xla")
    assert str(got.value).splitlines()[0] == str(expected.value).splitlines()[0]


def test_a_wrong_output_size_is_an_error_where_indices_are_checked():
    repeats = on_device(1, 2) * 1
    assert repeats.repeat_interleave(repeats, output_size=3).tolist() == [1, 2, 2]
    with lazy.checked_indices(), pytest.raises(RuntimeError, match="size does not match required size"):
        repeats.repeat_interleave(repeats, output_size=4)


def output_of(code: str, **variables: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **variables}, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_plugin_that_is_not_there():
    code = """
import torch, torchere.lazy
try:
    torch.ones(2).to("xla")
except RuntimeError as error:
    print(error)
"""
    assert "nowhere" in output_of(code, PJRT_DEVICE="nowhere")


def test_a_fork_after_use():
    code = """
import os, torch, torchere.lazy
x = torch.ones(3).to("xla")
y = x + 1
y.cpu()

def attempt(name, use):
    try:
        print(name, use())
    except RuntimeError as error:
        print(name, "RuntimeError", str(error).splitlines()[0])

if os.fork() == 0:
    attempt("upload", lambda: torch.ones(2).to("xla"))
    attempt("read", lambda: y.cpu())
    attempt("known graph", lambda: (x + 1).cpu())
    attempt("sync", lambda: torchere.lazy.sync())
    import sys
    sys.stdout.flush()
    os._exit(0)
os.wait()
print("parent", (x + 1).tolist())
"""
    lines = output_of(code).splitlines()
    errors = [line for line in lines if " RuntimeError " in line]
    assert [line.split()[0] for line in errors] == ["upload", "read", "known", "sync"], lines
    assert all("fork" in line for line in errors), lines
    assert lines[-1] == "parent [2.0, 2.0, 2.0]"

"""What eager raises for while it computes: a program gives the same results or raises the same error, in
memory and loaded, on the plugins of the package and XLA's, and its state stays as it was."""

from __future__ import annotations

import json
import pickle
import subprocess
import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch._higher_order_ops import while_loop
from torch.export import Dim

import torchere
from torchere import plugins
from torchere.errors import Error
from torchere.stablehlo import StableHLOExportOptions, exported_program_to_stablehlo

GOOD = torch.tensor([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]])
ZERO = torch.zeros(3, 3)
SECOND = torch.diag(torch.tensor([1.0, -1.0, 1.0]))
NAN = GOOD / 0 * 0


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def program_of(function, *args, **options):
    return torchere.export(Function(function), args, **options)


def assert_same(got, expected):
    got, expected = (value if isinstance(value, tuple) else (value,) for value in (got, expected))
    for mine, theirs in zip(got, expected, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)


def eager_error(function, *args):
    with pytest.raises(RuntimeError) as caught:
        function(*args)
    return str(caught.value).splitlines()[0].split(" If you still")[0]


FACTORIZATIONS = {
    "cholesky": (torch.linalg.cholesky, SECOND),
    "upper": (lambda x: torch.linalg.cholesky(x, upper=True), SECOND),
    "old_cholesky": (torch.cholesky, SECOND),
    "cholesky_ex": (lambda x: torch.linalg.cholesky_ex(x, check_errors=True)[0], SECOND),
    "cholesky_inverse": (torch.cholesky_inverse, torch.diag(torch.tensor([1.0, 1.0, 0.0]))),
    "inv": (torch.linalg.inv, ZERO),
    "inverse": (torch.inverse, ZERO),
    "inv_ex": (lambda x: torch.linalg.inv_ex(x, check_errors=True)[0], ZERO),
    "tensorinv": (lambda x: torch.linalg.tensorinv(x, ind=1), ZERO),
    "power": (lambda x: torch.linalg.matrix_power(x, -2), ZERO),
    "solve": (lambda x: torch.linalg.solve(x, torch.ones(3)), ZERO),
    "solve_ex": (lambda x: torch.linalg.solve_ex(x, torch.ones(3), check_errors=True)[0], ZERO),
    "lu_factor": (lambda x: tuple(torch.linalg.lu_factor(x)), ZERO),
    "svd": (torch.linalg.svdvals, NAN),
    "unused": (lambda x: (torch.linalg.inv(x), x + 1)[1], ZERO),
    "dtype": (lambda x: torch.linalg.inv(x.double()), ZERO),
    "complex": (lambda x: torch.linalg.inv(torch.complex(x, x)).real, ZERO),
}


@pytest.mark.usefixtures("on_ours")
@pytest.mark.parametrize("name", FACTORIZATIONS)
@pytest.mark.filterwarnings("ignore:torch.cholesky is deprecated")
def test_factorizations(name):
    check_factorization(name)


@pytest.mark.usefixtures("on_xla")
@pytest.mark.parametrize("name", ["cholesky", "solve"])
def test_factorizations_on_xla(name):
    check_factorization(name)


def check_factorization(name):
    function, bad = FACTORIZATIONS[name]
    program = program_of(function, GOOD)
    assert_same(program(GOOD), function(GOOD))
    message = eager_error(function, bad)
    with pytest.raises(torch.linalg.LinAlgError) as caught:
        program(bad)
    assert message in str(caught.value) and "run_time_checks_test.py:" in str(caught.value)
    assert isinstance(caught.value, Error) and caught.value.code == "ABORTED"
    assert_same(program(GOOD), function(GOOD))  # a failed call leaves nothing behind


def test_the_element_of_a_batch_of_any_size(tmp_path):
    def root(x):
        return torch.linalg.cholesky(x)

    batch = GOOD.repeat(4, 1, 1)
    program = program_of(root, batch, dynamic_shapes=(({0: Dim("batch")},),))
    program.save(tmp_path / "p")
    loaded = torchere.load(tmp_path / "p")
    for size in (1, 4, 7):
        good = GOOD.repeat(size, 1, 1)
        assert_same(program(good), root(good))
        bad = good.clone()
        bad[-1] = SECOND
        message = eager_error(root, bad)
        assert f"(Batch element {size - 1})" in message and "order 2" in message
        for each in (program, loaded):
            with pytest.raises(torch.linalg.LinAlgError) as caught:
                each(bad)
            assert message in str(caught.value) and "run_time_checks_test.py:" in str(caught.value)
    assert_same(program(batch[:0]), batch[:0])


def asserted(x):
    torch._assert_async(x.sum() > 0, "the sum is positive: {code}")
    y = x * 2
    torch._assert_async((x < 100).all())
    return y


def test_assertions():
    program = program_of(asserted, GOOD)
    assert_same(program(GOOD), GOOD * 2)
    with pytest.raises(Error, match=r"the sum is positive: \{code\}.*run_time_checks_test.py:") as caught:
        program(-GOOD)
    assert caught.value.code == "FAILED_PRECONDITION" and not isinstance(caught.value, ValueError)
    with pytest.raises(RuntimeError, match="Expected Tensor with single nonzero value, but got zero"):
        program(GOOD * 1000)


def test_numbers():
    def part(x, n):
        count = n.item()
        torch._check(count > 1)
        torch._check(count <= 3)
        scale = x.sum().item()
        torch._check(scale > 0.5)
        return x * count * scale

    program = program_of(part, GOOD, torch.tensor(2))
    module = torch.export.export(Function(part), (GOOD, torch.tensor(2))).module()
    assert_same(program(GOOD, torch.tensor(3)), part(GOOD, torch.tensor(3)))
    for args in ((GOOD, torch.tensor(1)), (GOOD, torch.tensor(4)), (-GOOD, torch.tensor(2))):
        message = eager_error(module, *args)
        with pytest.raises(RuntimeError) as caught:
            program(*args)
        assert message in str(caught.value)


@pytest.mark.usefixtures("on_ours")
def test_sizes_that_a_call_gives():
    def part(x, n):
        count = n.item()
        torch._check(count > 0)
        torch._check(count <= x.shape[0])
        return x[:count] * 2, torch.arange(count), torch.ones(count, 3) @ x[:3]

    def branched(x, n):
        return torch.cond(x.sum() > 0, lambda x, n: part(x, n)[2].sum(), lambda x, n: x.sum() * 2, (x, n))

    rows = {0: Dim("rows", min=3, max=9)}
    for function in (part, branched):
        program = program_of(function, torch.ones(4, 3), torch.tensor(2), dynamic_shapes=((rows, None),))
        for count in (1, 2, 5):
            assert_same(
                program(torch.ones(5, 3), torch.tensor(count)),
                function(torch.ones(5, 3), torch.tensor(count)),
            )
        for count, bound in ((0, ">= 1"), (-7, ">= 1"), (6, "<= s"), (2**40, "<= ")):
            with pytest.raises(Error, match=f"_assert_scalar.default. Runtime assertion failed .* {bound}"):
                program(torch.ones(5, 3), torch.tensor(count))
        assert_same(program(-torch.ones(5, 3), torch.tensor(1)), function(-torch.ones(5, 3), torch.tensor(1)))


def branches(x):
    def positive(x):
        torch._assert_async(x[0, 0] < 100, "in the branch")
        return x + 1

    return torch.cond(x.sum() > 0, positive, lambda x: x - 1, (x,))


def rounds(x):
    def body(i, x):
        torch._assert_async(x.sum() > 0, "in the loop")
        return i + 1, x - 1

    return while_loop(lambda i, x: i < 3, body, (torch.tensor(0), x))


def scanned(x):
    def step(total, row):
        torch._assert_async(row.sum() > 0, "in the scan")
        return total + row, total * row

    return torch._higher_order_ops.scan(step, torch.zeros(3), x)


def mapped(x):
    def each(row):
        torch._assert_async(row.sum() > 0, "in the map")
        return row + 1

    return torch._higher_order_ops.map(each, x)


def nested(x):
    def body(i, x):
        def positive(x):
            torch._assert_async(x.sum() < 40, "in both")
            return x + 1

        return i + 1, torch.cond(x.sum() > 0, positive, lambda x: x * 1, (x,))

    return while_loop(lambda i, x: i < 3, body, (torch.tensor(0), x))


REGIONS = {
    "branch": (branches, [GOOD, -GOOD * 200], GOOD * 200, "in the branch"),
    "loop": (rounds, [GOOD + 2, GOOD * 5], GOOD, "in the loop"),
    "scan": (scanned, [GOOD], SECOND, "in the scan"),
    "map": (mapped, [GOOD], SECOND, "in the map"),
    "nested": (nested, [GOOD, -GOOD], GOOD + 2, "in both"),
}


@pytest.mark.usefixtures("on_ours")
@pytest.mark.parametrize("name", REGIONS)
def test_control_flow(name):
    check_control_flow(name)


@pytest.mark.usefixtures("on_xla")
@pytest.mark.parametrize("name", ["branch", "scan"])
def test_control_flow_on_xla(name):
    check_control_flow(name)


def check_control_flow(name):
    function, passing, bad, message = REGIONS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        program = program_of(function, GOOD)
    for x in passing:
        assert_same(program(x), function(x))
    with pytest.raises(RuntimeError, match=message):
        program(bad)


def test_the_first_that_fails_is_told():
    def both(x):
        torch._assert_async(x[0, 0] > 0, "first")
        torch._assert_async(x[0, 1] > 0, "second")
        return torch.linalg.inv(x)

    program = program_of(both, GOOD)
    assert_same(program(GOOD), torch.linalg.inv(GOOD))
    for bad, message in ((-GOOD, "first"), (SECOND, "second"), (torch.ones(3, 3), "singular")):
        with pytest.raises(RuntimeError, match=message):
            program(bad)


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x, y):
        self.count += 1
        y += 1
        torch._assert_async(x.sum() > 0, "positive")
        return x + self.count


def test_nothing_is_written_by_a_call_that_fails(tmp_path):
    program = torchere.export(Counter(), (GOOD, torch.zeros(2)))
    program.save(tmp_path / "p")
    for each in (program, torchere.load(tmp_path / "p")):
        y = torch.zeros(2)
        for call in (1, 2):
            assert_same(each(GOOD, y), GOOD + call)
            with pytest.raises(RuntimeError, match="positive"):
                each(-GOOD, y)
            assert y.tolist() == [call, call] and each.state_dict()["count"].tolist() == [call] * 3


def test_results_on_the_device():
    program = program_of(torch.linalg.inv, GOOD)
    result = program.call_on_device(GOOD)
    assert_same(torch.from_numpy(np.array(result)), torch.linalg.inv(GOOD))
    with pytest.raises(torch.linalg.LinAlgError, match="singular"):
        program.call_on_device(ZERO)


def test_errors_pickle():
    program = program_of(torch.linalg.inv, GOOD)
    with pytest.raises(torch.linalg.LinAlgError) as caught:
        program(ZERO)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value) is torchere.errors.LinAlgError


# ---- what others see


def test_the_option_and_the_result(tmp_path):
    """The status is the last result; without checks there is none, and no program without any has one."""
    checked, plain = (program_of(torch.linalg.inv, GOOD, checks=checks) for checks in (True, False))
    assert "tensor<3xi32>) {" in checked.get_stablehlo_text()
    assert "tensor<3xi32>" not in program_of(torch.sin, GOOD).get_stablehlo_text()
    assert plain(ZERO).isnan().all()
    compatible = exported_program_to_stablehlo(torch.export.export(Function(torch.linalg.inv), (GOOD,)))
    assert compatible(ZERO).isnan().all()
    options = StableHLOExportOptions(checks=True)
    asked = exported_program_to_stablehlo(torch.export.export(Function(torch.linalg.inv), (GOOD,)), options)
    with pytest.raises(torch.linalg.LinAlgError):
        asked(ZERO)
    assert len(checked.outputs) == len(plain.outputs) == 1
    checked.save(tmp_path / "p", embed_weights=True)
    signature = json.loads((tmp_path / "p/functions/forward.signature.json").read_text())
    assert signature["checks"][0]["op"] == "aten.linalg_inv.default"
    assert "run_time_checks_test.py:" in signature["checks"][0]["where"] or signature["checks"][0]["where"]
    with pytest.raises(torch.linalg.LinAlgError):
        torchere.load(tmp_path / "p")(ZERO)


def test_what_cannot_be_checked_is_said():
    def marked(x):
        from torchere.experimental.mark_pattern_utils import StableHLOCompositeBuilder

        builder = StableHLOCompositeBuilder("test.inverse")
        return builder.mark_outputs(torch.linalg.inv(builder.mark_inputs(x)))

    with pytest.warns(UserWarning, match=r"linalg_inv.default\] is not checked: it is in a composite"):
        program = program_of(marked, GOOD)
    assert_same(program(GOOD), torch.linalg.inv(GOOD))
    assert program(ZERO).isnan().all()


@pytest.mark.usefixtures("on_ours")
def test_sizes_that_are_sizes_are_no_checks():
    program = program_of(lambda x: x[x > 0], GOOD)
    assert "i32" not in program.get_stablehlo_text().split("{", 2)[1]
    at_least = program_of(lambda x: (lambda y: (torch._check(y.shape[0] >= 4), y)[1])(x[x > 0]), GOOD)
    assert_same(at_least(GOOD), GOOD[GOOD > 0])
    with pytest.raises(RuntimeError, match="u0 >= 4"):
        at_least(SECOND)


def test_the_command(tmp_path):
    program_of(torch.linalg.inv, GOOD).save(tmp_path / "p")
    binary = plugins.__file__.rsplit("/", 1)[0] + "/bin/torchere"
    for name, matrix in (("good", GOOD), ("bad", ZERO)):
        np.save(tmp_path / f"{name}.npy", matrix.numpy())
        command = [
            binary,
            "run",
            tmp_path / "p",
            "--input",
            tmp_path / f"{name}.npy",
            "--plugin",
            "interpreter",
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == (0 if name == "good" else 1)
        assert ("input matrix is singular" in done.stderr) == (name == "bad")


def test_a_function_of_jax(tmp_path):
    jax = pytest.importorskip("jax")
    program_of(torch.linalg.inv, GOOD).save(tmp_path / "p")
    import torchere.jax

    function = torchere.jax.load(tmp_path / "p")
    np.testing.assert_allclose(jax.jit(function)(GOOD.numpy()), torch.linalg.inv(GOOD), rtol=1e-4, atol=1e-5)
    assert np.isnan(function(ZERO.numpy())).all()

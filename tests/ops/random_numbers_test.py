"""The rows that draw random numbers: Threefry's stream on every plugin, from a state of the program."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import threefry
import torch
from deviations import RANDOM
from sample_programs import on_interpreter
from torch import nn
from torch.export import Dim
from torch.nn import functional

import torchere
from torchere import _core
from torchere.capture import capture
from torchere.errors import Error, InvalidArgumentError, NotFoundError, UnimplementedError
from torchere.interpreter import interpret

Result = torch.Tensor | tuple[torch.Tensor, ...]


class Calls(nn.Module):
    """Calls of several functions of one input, by name."""

    def __init__(self, functions: dict[str, Callable[[torch.Tensor], Any]]):
        super().__init__()
        self.functions = functions

    def forward(self, x: torch.Tensor) -> dict[str, Any]:
        return {name: function(x) for name, function in self.functions.items()}


def exported(function: Callable[..., Any], *args: torch.Tensor, **options: Any) -> torchere.StableHLOProgram:
    return torchere.export(function, args, **options)


X = torch.linspace(-1.0, 1.0, 15).reshape(3, 5)
WEIGHTS = torch.tensor([[0.1, 0.0, 0.6, 0.3, 0.0], [0.0, 1.0, 2.0, 3.0, 4.0]])
aten = torch.ops.aten

# Calls of all rows that are random, and of the layers in training, on a tensor [3, 5].
CALLS: dict[str, Callable[[torch.Tensor], Any]] = {
    "rand.default": lambda x: [torch.rand(3, 5, dtype=dtype) for dtype in (torch.float32, torch.complex64)],
    "rand.generator": lambda x: aten.rand.generator([7], generator=None, dtype=torch.float64),
    "rand_like.default": lambda x: [torch.rand_like(x, dtype=d) for d in (torch.float16, torch.bfloat16)],
    "rand_like.generator": lambda x: aten.rand_like.generator(x, generator=None),
    "randn.default": lambda x: [torch.randn(3, 5), torch.randn(2, 2, dtype=torch.complex128)],
    "randn.generator": lambda x: aten.randn.generator([5], generator=None, dtype=torch.float64),
    "randn_like.default": lambda x: [torch.randn_like(x, dtype=d) for d in (torch.float16, torch.bfloat16)],
    "randn_like.generator": lambda x: aten.randn_like.generator(x, generator=None),
    "randint.default": lambda x: torch.randint(10, (4, 2), dtype=torch.float32),
    "randint.generator": lambda x: aten.randint.generator(10, [5], generator=None),
    "randint.low": lambda x: torch.randint(-(2**63), 2**63 - 1, (6,)),
    "randint.low_generator": lambda x: aten.randint.low_generator(-5, 5, [5], generator=None),
    "randint_like.default": lambda x: torch.randint_like(x, 4),
    "randint_like.generator": lambda x: aten.randint_like.generator(x, 4, generator=None),
    "randint_like.low_dtype": lambda x: torch.randint_like(x, -3, 3, dtype=torch.int8),
    "randint_like.low_generator_dtype": lambda x: aten.randint_like.low_generator_dtype(
        x, -3, 3, generator=None
    ),
    "randperm.default": lambda x: torch.randperm(9, dtype=torch.int32),
    "randperm.generator": lambda x: aten.randperm.generator(9, generator=None),
    "uniform.default": lambda x: [
        aten.uniform(x, -2.0, 3.0),
        aten.uniform(x.double(), 0.0, 5.0),
        aten.uniform(x.bfloat16(), 1.0, 2.0),
    ],
    "normal_functional.default": lambda x: aten.normal_functional(x, 1.0, 2.0),
    "normal.Tensor_float": lambda x: torch.normal(x, 0.5),
    "normal.float_Tensor": lambda x: torch.normal(0.5, x.abs()),
    "normal.Tensor_Tensor": lambda x: torch.normal(x, x[0].abs()),
    "normal.float_float": lambda x: torch.normal(0.5, 2.0, (3, 4)),
    "log_normal.default": lambda x: aten.log_normal(x, 0.5, 0.25),
    "exponential.default": lambda x: [aten.exponential(x, 2.0), aten.exponential(x.double())],
    "cauchy.default": lambda x: aten.cauchy(x.double(), 1.0, 2.0),
    "random.default": lambda x: [
        aten.random(x.to(dtype)) for dtype in (torch.float32, torch.int64, torch.uint8, torch.bool)
    ],
    "random.to": lambda x: aten.random(x.int(), 2**31 - 1),
    "geometric.default": lambda x: [aten.geometric(x, 0.25), aten.geometric(x.long(), 0.01)],
    "bernoulli.default": lambda x: [torch.bernoulli(x.abs()), torch.bernoulli(x.double().abs())],
    "bernoulli.p": lambda x: [aten.bernoulli(x, 0.25), aten.bernoulli(x.int(), 0.75)],
    "bernoulli.Tensor": lambda x: aten.bernoulli(x.int(), x[0].abs()),
    "dropout.default": lambda x: [aten.dropout(x, 0.25, True), aten.dropout(x, 1.0, True)],
    "multinomial.default": lambda x: [
        torch.multinomial(WEIGHTS, 3, replacement=True),
        torch.multinomial(WEIGHTS, 2),
        torch.multinomial(WEIGHTS[1].double(), 1),
    ],
}
LAYERS: dict[str, Callable[[torch.Tensor], Any]] = {
    "native_dropout.default": lambda x: [torch.native_dropout(x.half(), 0.25, t) for t in (None, True)],
    "rrelu.default": lambda x: aten.rrelu(x, 0.1, 0.3, True),
    "rrelu_with_noise_functional.default": lambda x: aten.rrelu_with_noise_functional(x, x, 0.1, 0.3, True),
    "feature_dropout.default": lambda x: functional.dropout2d(x.reshape(1, 15, 1, 1), 0.5),
    "alpha_dropout.default": lambda x: functional.alpha_dropout(x, 0.5, training=True),
    "feature_alpha_dropout.default": lambda x: functional.feature_alpha_dropout(
        x.reshape(1, 3, 5), 0.5, training=True
    ),
    "in place": lambda x: [
        x.clone().uniform_(2, 3),
        x.clone().normal_(),
        x.clone().exponential_(),
        x.clone().bernoulli_(0.5),
        x.clone().random_(9),
        x.clone().geometric_(0.5),
        x.clone().log_normal_(),
        torch.zeros_like(x).cauchy_(),
    ],
}


def leaves(results: Any) -> list[torch.Tensor]:
    return torch.utils._pytree.tree_leaves(results)


@functools.cache
def every_row() -> torchere.StableHLOProgram:
    return exported(Calls(CALLS | LAYERS), X)


def test_every_random_row_is_called():
    assert {f"aten.{name}" for name in CALLS} == RANDOM
    text = str(every_row().program)
    assert [row for row in sorted(RANDOM) if f"torch.ops.{row}(" not in text] == []


def test_dropout_drops_by_the_stream():
    raw = torch.export.export(nn.Dropout(0.25).train(), (torch.ones(1000),))
    text = _core.export_program(capture(raw), "forward").text()
    state, dropped = interpret(text, np.array([0, 0]), np.ones(1000, np.float32))
    kept = threefry.halves(0, 0, 1000) < 3 * 2**30
    assert state.tolist() == [0, 500]
    assert np.array_equal(dropped, kept / np.float32(0.75))


# Numbers that go through logarithms and the like, which plugins compute each in its own way, or that are
# scaled, which some round once less: a * b + c as one operation.
INEXACT = (
    *("normal", "randn", "log_normal", "exponential", "cauchy", "uniform", "rrelu", "in place"),
    *("alpha_dropout", "feature_alpha_dropout"),
)


def check_nearly(got: torch.Tensor, expected: torch.Tensor) -> None:
    assert got.dtype == expected.dtype and got.shape == expected.shape
    precise = (got.is_floating_point() and got.dtype.itemsize > 2) or got.is_complex()
    torch.testing.assert_close(got, expected, **({"rtol": 2e-6, "atol": 1e-6} if precise else {}))


def test_the_stream_is_the_same_on_the_interpreter():
    """Integers and uniform numbers to the bit; what goes through transcendental functions, nearly."""
    program = every_row()
    other = on_interpreter(program)
    first = []
    for _ in range(2):
        results, others = program(X), other(X)
        for name, values in results.items():
            for got, expected in zip(leaves(values), leaves(others[name]), strict=True):
                if name.startswith(INEXACT):
                    check_nearly(got, expected)
                else:
                    assert torch.equal(got, expected), name
        assert torch.equal(program.get_rng_state(), other.get_rng_state())
        first.append(results)
    same = [
        name for name in first[0] if all(map(torch.equal, leaves(first[0][name]), leaves(first[1][name])))
    ]
    assert not same, "the second call draws other numbers"
    program.manual_seed(0)
    again = program(X)
    for name, values in first[0].items():
        assert all(map(torch.equal, leaves(values), leaves(again[name]))), name


# ---- the stream

# Of the authors' implementation: the key's and the counter's words, and what comes out, low words first.
KNOWN = [
    ((0x00000000, 0x00000000), (0x00000000, 0x00000000), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]


def signed(low: int, high: int) -> int:
    return int(np.array(low | high << 32, np.uint64).astype(np.int64))


@functools.cache
def all_bits(count: int) -> torchere.StableHLOProgram:
    """Draws integers of 64 bits, of which the lowest stands for 0. (The highest does not come.)"""
    return exported(lambda x: x + torch.randint(-(2**63), 2**63 - 1, (count,)), torch.tensor(0))


@pytest.mark.parametrize(("key", "counter", "expected"), KNOWN)
def test_known_answers_of_threefry(key, counter, expected):
    assert threefry.words(signed(*key), signed(*counter), 1) == expected
    program = all_bits(1)
    program.set_rng_state(torch.tensor([signed(*key), signed(*counter)]))
    (drawn,) = program(torch.tensor(0)).tolist()
    assert drawn + 2**63 == expected[0] | expected[1] << 32


@pytest.mark.parametrize("seed", [0, 1, -1, 2**32, 2**63 + 5, -(2**63)])
@pytest.mark.parametrize("first", [0, 2**32 - 2, -2])
def test_blocks_are_threefrys(seed, first):
    program = all_bits(5)
    program.manual_seed(seed)
    state = program.get_rng_state().clone()
    assert state.tolist() == [signed(seed % 2**32, seed % 2**64 >> 32), 0]
    state[1] = first
    program.set_rng_state(state)
    got = program(torch.tensor(0)).numpy().view(np.uint64)
    assert np.array_equal(got, threefry.blocks(seed, first, 5) + np.uint64(2**63))
    assert program.get_rng_state()[1] == first + 5


def test_what_each_kind_of_number_is_made_of():
    def numbers(x):
        return (
            torch.rand(7),
            torch.rand(2, 3, dtype=torch.float64),
            torch.rand(5, dtype=torch.float16),
            torch.rand(5, dtype=torch.bfloat16),
            torch.randint(-3, 7, (4,)),
            torch.randperm(6),
            aten.bernoulli(x, 0.3),
        )

    program = exported(numbers, torch.zeros(9))
    program.manual_seed(7)
    drawn = (tensor.double().numpy() for tensor in program(torch.zeros(9)))
    single, double, half, brain, integers, order, trials = drawn
    position = 0

    def words(count):
        nonlocal position
        taken = threefry.halves(7, position, count)
        position += (count + 1) // 2
        return taken

    def blocks(count):
        nonlocal position
        taken = threefry.blocks(7, position, count)
        position += count
        return taken

    assert np.array_equal(single, (words(7) >> 8) * 2.0**-24)
    assert np.array_equal(double, ((blocks(6) >> np.uint64(11)) * 2.0**-53).reshape(2, 3))
    assert np.array_equal(half, (words(5) >> 21) * 2.0**-11)
    assert np.array_equal(brain, (words(5) >> 24) * 2.0**-8)
    assert np.array_equal(integers, (blocks(4) % np.uint64(10)).astype(np.int64) - 3)
    assert np.array_equal(order, np.argsort(blocks(6), stable=True))
    assert np.array_equal(trials, words(9) < round(0.3 * 2**32))
    assert program.get_rng_state().tolist() == [7, position]


# ---- the state


def test_the_state_is_saved_as_the_seed_and_is_no_buffer(tmp_path):
    layer = nn.Sequential(nn.Linear(5, 4), nn.Dropout(0.5)).train()
    program = exported(layer, X)
    assert set(program.state_dict()) == set(layer.state_dict())
    assert repr(program).endswith("2 weights)")
    first, second = program(X), program(X)
    assert not torch.equal(first, second)
    assert set(program.state_dict()) == set(layer.state_dict())
    program.save(tmp_path / "dropout", digests=True)
    loaded = torchere.load(tmp_path / "dropout", verify=True)
    assert torch.equal(loaded(X), first) and torch.equal(loaded(X), second)
    layer.load_state_dict(loaded.state_dict())


def test_the_state_is_read_and_set():
    program = exported(lambda x: torch.rand_like(x), X)
    program.manual_seed(3)
    program(X)
    kept = program.get_rng_state()
    expected = program(X)
    assert kept.tolist() == [3, 8], "of 15 words"
    program.set_rng_state(kept)
    assert torch.equal(program(X), expected)
    other = exported(lambda x: torch.rand_like(x), X)
    other.set_rng_state(kept)
    assert torch.equal(other(X), expected)
    with pytest.raises(InvalidArgumentError, match="wrong shape"):
        program.set_rng_state(torch.zeros(3, dtype=torch.int64))
    for seed in (2**64, -(2**63) - 1):
        expected = r"\[manual_seed\] the seed does not fit 64 bits: got -?\d+, expected -92"
        with pytest.raises(InvalidArgumentError, match=expected):
            program.manual_seed(seed)
    for seed in (1.5, "a", None, torch.tensor(1.5), np.bool_(True)):
        with pytest.raises(InvalidArgumentError) as error:
            program.manual_seed(seed)
        assert str(error.value) == f"[manual_seed] wrong kind of seed: got {seed!r}, expected an integer"


def test_seeds_are_integers_of_any_kind():
    program = exported(lambda x: torch.rand_like(x), X)
    program.manual_seed(3)
    expected = program(X)
    for seed in (np.int64(3), np.int32(3), np.uint64(3), np.array(3), torch.tensor(3)):
        program.manual_seed(seed)
        assert torch.equal(program(X), expected)
    program.manual_seed(-3)
    expected = program(X)
    program.manual_seed(np.int8(-3))
    assert torch.equal(program(X), expected)


def test_a_program_without_random_numbers_has_no_state():
    program = exported(nn.Sequential(nn.Linear(5, 4), nn.Dropout(0.5)).eval(), X)
    program.manual_seed(1)
    assert "i64" not in program.get_stablehlo_text() and "ui32" not in program.get_stablehlo_text()
    with pytest.raises(NotFoundError, match=r"\[rng_state\] the program draws no random numbers"):
        program.get_rng_state()


def test_calls_that_do_not_wait_draw_on():
    program = exported(lambda x: torch.rand_like(x), X)
    expected = [program(X) for _ in range(3)]
    program.manual_seed(0)
    results = [program.call_on_device(X) for _ in range(3)]
    assert all(torch.equal(a.torch(), b) for a, b in zip(results, expected, strict=True))


def test_the_name_of_the_state_is_reserved():
    exported_program = torch.export.export(Doubled(), (X,))
    state = exported_program.state_dict
    for spec in exported_program.graph_signature.input_specs:
        if spec.target == "scale":
            spec.target = _core.GENERATOR_BUFFER
    state[_core.GENERATOR_BUFFER] = state.pop("scale")
    with pytest.raises(
        InvalidArgumentError, match="the name is reserved for the state of the random numbers"
    ):
        torchere.export(exported_program)


class Doubled(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.tensor([2.0]))

    def forward(self, x):
        return x * self.scale


def test_another_generator_is_refused():
    def draw(x):
        return torch.rand(3, generator=torch.Generator()) + x

    with pytest.raises(UnimplementedError) as caught:
        exported(draw, torch.zeros(3))
    text = str(caught.value)
    assert text.startswith(
        "[aten.rand.generator] a generator of the call's own is not supported: got 'obj_lifted"
    )
    assert "random_numbers_test.py" in text


# ---- shapes, control flow, layers


def test_sizes_of_the_call():
    def draw(x):
        return (
            torch.rand_like(x),
            torch.randint(5, (x.shape[0],)),
            torch.randn(x.shape[0], 2),
            torch.randperm(x.shape[0]),
        )

    program = exported(draw, torch.zeros(3, 5), dynamic_shapes=({0: Dim("rows", max=50)},))
    for rows in (3, 8, 1):
        program.manual_seed(rows)
        uniform, integers, normal, order = program(torch.zeros(rows, 5))
        assert np.array_equal(
            uniform.numpy().ravel(), (threefry.halves(rows, 0, rows * 5) >> 8) * np.float32(2**-24)
        )
        position = (rows * 5 + 1) // 2
        assert np.array_equal(integers.numpy(), threefry.blocks(rows, position, rows) % np.uint64(5))
        assert np.array_equal(order.numpy(), np.argsort(threefry.blocks(rows, position + 2 * rows, rows)))
        assert normal.shape == (rows, 2)
        assert program.get_rng_state().tolist() == [rows, position + 3 * rows]


def test_nothing_is_drawn_for_empty_tensors():
    program = exported(
        lambda x: (torch.rand(0, 3), torch.randn(2, 0), torch.randint(3, (0,)), torch.randperm(0)), X
    )
    assert [tuple(t.shape) for t in program(X)] == [(0, 3), (2, 0), (0,), (0,)]
    with pytest.raises(NotFoundError):
        program.get_rng_state()


class Branches(nn.Module):
    """Branches that draw different counts, a nested one that draws none, numbers after them."""

    def forward(self, x, flag):
        def much(x):
            return torch.rand(3, 5) + torch.cond(x.sum() > 100, lambda x: x + 1, lambda x: x * 0.0, (x,))

        def little(x):
            return torch.rand(5).expand(3, 5) + 0.0

        return torch.cond(flag, much, little, (x,)), torch.rand(4)


@pytest.mark.parametrize("flag", [True, False])
def test_branches_draw(flag):
    program = exported(Branches(), X, torch.tensor(True))
    for run in (program, on_interpreter(program)):
        run.manual_seed(5)
        drawn, after = run(X, torch.tensor(flag))
        taken = 15 if flag else 5
        expected = (threefry.halves(5, 0, taken) >> 8) * np.float32(2**-24)
        assert np.array_equal(drawn.numpy(), np.broadcast_to(expected.reshape(-1, 5), (3, 5)))
        position = run.get_rng_state()[1].item() - 2
        assert position == (taken + 1) // 2
        assert np.array_equal(after.numpy(), (threefry.halves(5, position, 4) >> 8) * np.float32(2**-24))


def reals(words: np.ndarray) -> np.ndarray:
    """Uniform numbers in float32."""
    return (words >> 8).astype(np.float32) * np.float32(2**-24)


class Walk(nn.Module):
    """A random walk of `steps` steps."""

    def forward(self, x, steps):
        def body(step, x):
            return step + 1, x + torch.rand_like(x)

        return torch.while_loop(lambda step, x: step < steps, body, (torch.tensor(0), x))[1], torch.rand(1)


def test_loops_draw_in_each_round():
    program = exported(Walk(), torch.zeros(6), torch.tensor(3))
    for run in (program, on_interpreter(program)):
        for steps in (3, 0, 5):
            run.manual_seed(steps)
            walked, after = run(torch.zeros(6), torch.tensor(steps))
            rounds = [reals(threefry.halves(steps, 3 * step, 6)) for step in range(steps)]
            assert np.array_equal(walked.numpy(), sum(rounds, np.zeros(6, np.float32)))
            assert after.item() == (threefry.halves(steps, 3 * steps, 1) >> 8)[0] * 2.0**-24
            assert run.get_rng_state().tolist() == [steps, 3 * steps + 1]


def test_a_loop_without_random_numbers_carries_no_generator():
    class Count(nn.Module):
        def forward(self, x):
            body = lambda step, x: (step + 1, x * 2)
            return torch.while_loop(lambda step, x: step < 3, body, (torch.tensor(0), x))[1], torch.rand(2)

    program = exported(Count(), X)
    (line,) = (line for line in program.get_stablehlo_text().splitlines() if "stablehlo.while" in line)
    assert line.count(" = %") == 2
    torch.testing.assert_close(program(X)[0], X * 8)


def test_the_condition_of_a_loop_draws_nothing():
    class Try(nn.Module):
        def forward(self, x):
            again = lambda x: torch.rand(()) < 0.5
            return torch.while_loop(again, lambda x: (x + 1,), (x,))[0]

    with pytest.raises(
        UnimplementedError, match=r"random numbers cannot be drawn in .* the condition of a loop"
    ):
        exported(Try(), X)


def test_a_step_of_training_uses_one_mask():
    """What dropout sets to 0 has the gradient 0; what it keeps has that of the scale."""
    from torch.fx.experimental.proxy_tensor import make_fx

    def step(x, weight):
        weight = weight.detach().requires_grad_()
        hidden = x @ weight
        hidden.retain_grad()
        dropped = functional.dropout(hidden, 0.4, training=True)
        (gradient,) = torch.autograd.grad(dropped.sum(), hidden)
        return dropped.detach(), gradient

    x, weight = torch.rand(16, 8) + 0.1, torch.rand(8, 32) + 0.1
    program = torchere.export(make_fx(step)(x, weight), (x, weight))
    for _ in range(2):
        dropped, gradient = program(x, weight)
        kept = dropped != 0
        assert 200 < kept.sum() < 400
        torch.testing.assert_close(gradient, kept / 0.6)
        torch.testing.assert_close(dropped, kept * (x @ weight) / 0.6)


def test_dropout_inside_attention():
    def attend(q, k, v):
        return functional.scaled_dot_product_attention(q, k, v, dropout_p=0.5)

    q, k, v = torch.randn(2, 3, 64, 8), torch.zeros(2, 3, 64, 8), torch.eye(64).expand(2, 3, 64, 64)
    weights = exported(attend, q, k, v)(q, k, v)  # each 1/64 before dropout
    kept = weights != 0
    assert 11800 < kept.sum() < 12800
    torch.testing.assert_close(weights, kept * (2 / 64))
    message = r"\[aten\.scaled_dot_product_attention\.default\] random numbers cannot be drawn in a composite"
    with pytest.raises(Error, match=message):
        exported(attend, q, k, v, composites={"sdpa"})


def test_what_is_out_of_range_is_refused():
    for draw, message in [
        (
            lambda x: aten.bernoulli(x, 1.5),
            r"\[aten\.bernoulli\.p\] p is no probability: got 1\.5, expected 0 to 1",
        ),
        (lambda x: aten.native_dropout(x, -0.5, True)[0], r"p is no probability: got -0\.5, expected 0 to 1"),
        (lambda x: aten.uniform(x, 2.0, 1.0), r"\[aten\.uniform\.default\] empty range: got 2 to 1"),
        (lambda x: aten.random(x, 0), r"\[aten\.random\.to\] empty range: got 0 to 0"),
    ]:
        with pytest.raises(Error, match=message):
            exported(draw, X)

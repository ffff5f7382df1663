"""Sizes that depend on data: nonzero, masks, unique, parts of a length that is an element. The plugins of the
package run them; those of fixed sizes refuse the call."""

import itertools

import pytest
import torch

import torchere
from torchere.stablehlo import StableHLOExportOptions, exported_program_to_stablehlo

X = torch.tensor([[1.0, -2.0, 0.0], [0.0, 5.0, 1.0], [-1.0, 0.0, 3.0], [1.0, -2.0, 0.0]])
#: Inputs of one shape of which none, some or all elements count.
COUNTS = {"none": torch.zeros(4, 3), "some": X, "all": torch.arange(1.0, 13.0).reshape(4, 3)}


class Function(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def program_of(function, *args, **kwargs):
    return torchere.export(Function(function), args, **kwargs)


def parts(x):
    first = (x[:, 0] > 0).sum().item()
    rest = x.shape[0] - first
    return torch.split(x, [first, rest])[1]


def listed(x):
    counts = (x > 0).sum(1).tolist()
    for count in counts:
        torch._check(count >= 0)
    return torch.zeros(sum(counts)), torch.arange(counts[0])


def written(x):
    y = x.clone()
    y[x > 0] = x[x > 0] * 2
    return y


def nested(x):
    rows = x[x[:, 0] > 0]
    return rows[rows[:, 1] > 0].sum(0), rows.shape[0]


def written_at_mask_and_index(x):
    y = x.clone()
    y[x[:, 0] > 0, 1] = 7.0
    return y


def routed(x):
    """Each row to one of three experts, as mixtures of experts do it."""
    result = torch.zeros_like(x)
    for expert in range(3):
        chosen = (x[:, 0].abs().long() % 3 == expert).nonzero(as_tuple=True)[0]
        result = result.index_add(0, chosen, x[chosen] * (expert + 1))
    return result


def derived(x):
    """What is made of a selection: joined, repeated, summed up, spread, normalized."""
    rows, row = x[x[:, 0] > 0], x[x > 0]
    joined = torch.cat([rows, x[x[:, 0] <= 0]])
    spread = row.view(-1, 1).expand(-1, 2), row.unsqueeze(0).repeat(2, 1)
    return joined, spread, row.cumsum(0), torch.nn.functional.layer_norm(rows, (3,)), x[x > -100].topk(2)[0]


FUNCTIONS = {
    "nonzero": torch.nonzero,
    "nonzero of a row": lambda x: x[0].nonzero(),
    "nonzero by dimension": lambda x: x.nonzero(as_tuple=True),
    "where": lambda x: torch.where(x > 0),
    "argwhere": lambda x: torch.argwhere(x > 0) + 1,
    "mask": lambda x: x[x > 0] * 2,
    "mask of the first dimensions": lambda x: torch.stack([x, -x], -1)[x > 0],
    "mask behind a kept dimension": lambda x: torch.stack([x, -x])[:, x > 0],
    "mask beside an index": lambda x: torch.stack([x, -x, 2 * x], -1)[x > 0, torch.tensor(1)],
    "mask apart from an index": lambda x: torch.stack([x, -x])[torch.tensor([1]), :, x[0] > 0],
    "mask of rows": lambda x: x[x[:, 0] > 0] + 1,
    "mask of columns": lambda x: x[:, x[0] > 0],
    "mask and index": lambda x: x[x[:, 0] > 0, torch.tensor([1])],
    "masked_select": lambda x: x.masked_select(x[0] > 0),
    "sum of a mask": lambda x: x[x > 0].sum(),
    "write of a selection": written,
    "two masks": nested,
    "write at a mask and an index": written_at_mask_and_index,
    "experts": routed,
    "derived": derived,
    "unique": torch.unique,
    "unique with counts": lambda x: torch.unique(x, return_inverse=True, return_counts=True),
    "unique rows": lambda x: torch.unique(x, dim=0, return_inverse=True, return_counts=True),
    "unique columns": lambda x: torch.unique(x, dim=1),
    "unique_consecutive": lambda x: torch.unique_consecutive(x, return_inverse=True, return_counts=True),
    "unique_consecutive rows": lambda x: torch.unique_consecutive(x, return_counts=True, dim=0),
    "repeat_interleave": lambda x: torch.repeat_interleave(x, x[:, 0].clamp(0, 5).long(), dim=0),
    "repeated indices": lambda x: torch.repeat_interleave(x[:, 0].clamp(0, 5).long()),
    "bincount": lambda x: torch.bincount(x.clamp(0, 20).long().flatten(), minlength=2),
    "bincount of weights": lambda x: torch.bincount(x.clamp(0, 20).long().flatten(), x.flatten()),
    "split": parts,
    "tolist": listed,
    "matmul of a selection": lambda x: x[x[:, 0] > 0] @ x.T,
    "softmax of a selection": lambda x: x[x > 0].softmax(0),
}


def assert_equal(got, expected):
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_equals_eager(name, on_ours):
    function = FUNCTIONS[name]
    program = program_of(function, X)
    for x in COUNTS.values():
        assert_equal(program(x), function(x))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.int32, torch.uint8, torch.bool])
def test_dtypes(dtype, on_ours):
    def selected(x):
        return x.nonzero(), x[x != 0], torch.unique(x)

    program = program_of(selected, X.to(dtype))
    for x in COUNTS.values():
        assert_equal(program(x.to(dtype)), selected(x.to(dtype)))


def test_nan_and_scalars(on_ours):
    x = torch.tensor([float("nan"), 0.0, float("inf"), -0.0, float("nan")])
    assert_equal(program_of(torch.nonzero, x)(x), x.nonzero())
    assert_equal(program_of(torch.unique, x)(x), torch.unique(x))
    for number in (3.0, 0.0):
        program = program_of(lambda x: (x.nonzero(), x.nonzero(as_tuple=True)), torch.tensor(3.0))
        got = program(torch.tensor(number))
        assert_equal(got, (torch.tensor(number).nonzero(), torch.tensor(number).nonzero(as_tuple=True)))


NUMBERS = [-20, -4, -2, 0, 1, 3, 4, 20]

#: Functions of X and two ints in tensors, whose own checks of them fail in eager mode where they do here.
PARTS = {
    "end": lambda x, n, m: x[: n.item()],
    "start": lambda x, n, m: x[n.item() :] * 2,
    "both": lambda x, n, m: x[n.item() : m.item()],
    "step": lambda x, n, m: x[n.item() : m.item() : 2],
    "of columns": lambda x, n, m: x[:, : n.item()].sum(1),
    "of two dimensions": lambda x, n, m: x[n.item() :, : m.item()],
    "of a part": lambda x, n, m: x[n.item() :][: m.item()],
    "length": lambda x, n, m: x[: n.item()].shape[0] + m,
    "narrow": lambda x, n, m: x.narrow(0, n.item(), m.item()),
    "argmax": lambda x, n, m: x[: x[:, 0].argmax()],
}


@pytest.mark.filterwarnings("error:.*is not checked")
@pytest.mark.parametrize("name", PARTS)
def test_parts_between_elements(name, on_ours):
    function = PARTS[name]
    program = program_of(function, X, torch.tensor(1), torch.tensor(2))
    for start, end in itertools.product(NUMBERS, NUMBERS):
        given = X, torch.tensor(start), torch.tensor(end)
        try:
            expected = function(*given)
        except (IndexError, RuntimeError):
            with pytest.raises(torchere.errors.Error, match="Runtime assertion failed"):
                program(*given)
        else:
            assert_equal(program(*given), expected)


def test_a_part_is_known_to_be_within_its_tensor():
    program = program_of(lambda x, n: x[:, n.item() :], X, torch.tensor(1))
    assert "-> tensor<4x?xf32> {" in program.get_stablehlo_text()  # no status


def test_what_a_program_asserts_of_a_part_is_checked(on_ours):
    def checked(x, n):
        y = x[: n.item()]
        torch._check(y.shape[0] <= 2)
        return y

    program = program_of(checked, X, torch.tensor(1))
    assert_equal(program(X, torch.tensor(2)), X[:2])
    with pytest.raises(torchere.errors.Error, match="u1 <= 2"):
        program(X, torch.tensor(3))


def counted_in_a_branch(x):
    return torch.cond(x.sum() > 3, lambda x: x * x[x > 0].numel(), lambda x: x * 1, (x,))


SIZES = {
    "mask": lambda x: x[x > 0].shape[0],
    "nonzero": lambda x: x.nonzero().size(0) * 2,
    "arange": lambda x: torch.arange(x[x > 0].shape[0]),
    "zeros": lambda x: x.new_zeros(x[x > 0].shape[0], 2),
    "unique": lambda x: torch.unique(x).numel(),
    "quotient": lambda x: x.sum() / (x[x > 0].shape[0] + 1),
    "branch": counted_in_a_branch,
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_alone(name, on_ours):
    function = SIZES[name]
    program = program_of(function, X)
    for x in COUNTS.values():
        assert_equal(program(x), function(x))


def test_dynamic_inputs(on_ours):
    def selected(x):
        y = x[x[:, 0] > 0]
        return y * 2, y.shape[0] + x.shape[0], x.nonzero()

    program = program_of(selected, X, dynamic_shapes=(({0: torch.export.Dim.AUTO},),))
    for x in (X, X[:2], torch.cat([X, X]), -X):
        assert_equal(program(x), selected(x))


def test_in_a_branch(on_ours):
    def chosen(x):
        return torch.cond(x.sum() > 3, lambda x: x[x > 0].sum(), lambda x: x.nonzero().sum() * 1.0, (x,))

    program = program_of(chosen, X)
    for x in COUNTS.values():
        assert_equal(program(x), chosen(x))


def test_branches_that_give_the_same_size(on_ours):
    def chosen(x):
        y = x[x > 0]
        return torch.cond(y.sum() > 3, lambda y: (y * 2, y.sum()), lambda y: (y - 1, y.prod()), (y,))

    program = program_of(chosen, X)
    for x in COUNTS.values():
        assert_equal(program(x), chosen(x))


def test_branches_of_other_sizes_are_refused():
    def chosen(x):
        return torch.cond(x.sum() > 3, lambda y: y[:3] * 1, lambda y: y * 2, (x[x > 0],))

    with pytest.raises(torchere.errors.UnimplementedError, match="expected the same sizes from every branch"):
        program_of(chosen, X)


def test_state_and_selection(on_ours):
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros((), dtype=torch.int64))

        def forward(self, x):
            chosen = x[x > 0]
            self.seen += chosen.shape[0]
            return chosen

    class OnlyCounter(Counter):
        def forward(self, x):
            self.seen += x[x > 0].shape[0]
            return self.seen + 0

    program = torchere.export(OnlyCounter(), (X,))
    assert [program(x).item() for x in COUNTS.values()] == [0, 5, 17]
    program = torchere.export(Counter(), (X,))
    for x in COUNTS.values():
        assert torch.equal(program(x), x[x > 0])
    assert program.state_dict()["seen"] == 0 + 5 + 12


def test_the_artifact(tmp_path, on_ours):
    program = program_of(lambda x: (x[x > 0], x), X)
    assert "where\n    u0: " in str(program.signature())
    assert [output.shape for output in program.outputs] == [("u0",), (4, 3)]
    program.save(tmp_path / "program")
    loaded = torchere.load(tmp_path / "program")
    for x in COUNTS.values():
        assert_equal(loaded(x), (x[x > 0], x))
    mlir = pytest.importorskip("jax._src.interpreters.mlir")
    from jaxlib.mlir import ir

    with mlir.make_ir_context():
        assert ir.Module.parse(program.get_stablehlo_text()).operation.verify()


def test_arrays_on_the_device(on_ours):
    program = program_of(lambda x: x[x > 0], X)
    doubled = program_of(lambda x: x * 2, torch.ones(5))
    selected = program.call_on_device(X)
    assert selected.shape == (5,)
    assert torch.equal(doubled.call_on_device(selected).torch(), X[X > 0] * 2)
    with pytest.raises(torchere.errors.InvalidArgumentError, match="wrong size of dimension 0: got 12"):
        doubled(program.call_on_device(COUNTS["all"]))


def first(x, n):
    count = n.item()
    torch._check(count >= 0)
    torch._check(count <= x.shape[0])
    return x[:count]


REFUSED = {
    "nonzero": (torch.nonzero, "aten.nonzero.default"),
    "mask": (lambda x: x[x > 0], "aten.index.Tensor"),
    "sum of a mask": (lambda x: x[x > 0].sum(), "aten.index.Tensor"),
    "unique": (torch.unique, "aten._unique2.default"),
    "element": (lambda x: first(x, x[0, 0].long()), "aten.slice.Tensor"),
}


@pytest.mark.usefixtures("on_xla")
@pytest.mark.parametrize(("function", "op"), REFUSED.values(), ids=REFUSED)
def test_plugins_of_fixed_sizes_refuse_the_call(function, op):
    with pytest.raises(torchere.errors.UnimplementedError) as refused:
        program_of(function, X)(X)
    message = str(refused.value)
    assert message.startswith(
        f"[{op}] a size depends on the data, and the plugin runs fixed sizes only: got "
    )
    assert '(to do: run it on the plugin "torchere_cpu"' in message and "data_sizes_test.py:" in message


def test_fixed_sizes_run_everywhere():
    """What keeps a fixed size needs no such plugin."""

    def fixed(x):
        counted = torch.repeat_interleave(
            torch.tensor([0, 1, 2, 3]), x[:, 0].clamp(0, 2).long(), output_size=2
        )
        return torch.nonzero_static(x, size=6), torch.nonzero_static(x, size=14, fill_value=7), counted

    program = program_of(fixed, X)
    assert "tensor<?" not in program.get_stablehlo_text()
    assert_equal(program(X), fixed(X))


@pytest.mark.usefixtures("on_xla")
def test_a_loaded_program_names_the_users_line_if_its_metadata_was_kept(tmp_path):
    class Chosen(torch.nn.Module):
        def forward(self, x):
            return torch.nonzero(x)

    x = torch.ones(3)
    exported = torch.export.export(torch.nn.Sequential(Chosen()), (x,))
    for kept in (True, False):
        options = StableHLOExportOptions(export_node_metadata=kept)
        exported_program_to_stablehlo(exported, options).save(tmp_path / str(kept))
        with pytest.raises(torchere.errors.UnimplementedError) as caught:
            torchere.load(tmp_path / str(kept))(x)
        text = str(caught.value)
        if kept:
            line = Chosen.forward.__code__.co_firstlineno + 1
            assert text.startswith("[aten.nonzero.default] a size depends on the data")
            assert text.endswith(f"; at data_sizes_test.py:{line} in 0")
        else:
            assert text.startswith("[stablehlo.real_dynamic_slice] a size depends") and "; at " not in text

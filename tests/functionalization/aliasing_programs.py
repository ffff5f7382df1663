"""Programs that write to memory of which they hold several tensors."""

from __future__ import annotations

import torch

PROGRAMS: dict[str, tuple] = {}


def matrix(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    count = int(torch.tensor(shape).prod()) if shape else 1
    values = torch.arange(count, dtype=torch.float64).reshape(shape) - count // 3
    return values.to(dtype)


def program(*inputs: torch.Tensor):
    """Adds a program with its inputs; a matrix of 4 by 6 where none are given."""

    def add(function):
        PROGRAMS[function.__name__] = (function, inputs or (matrix(4, 6),))
        return function

    return add


# ---- one view


@program()
def in_place_on_a_result(x):
    y = x + 1
    y.mul_(2)
    return y


@program()
def in_place_result_is_the_tensor(x):
    y = x + 1
    z = y.mul_(2)
    z.add_(1)
    return y, z


@program()
def through_slice(x):
    y = x + 0
    y[1:3].add_(10)
    return y


@program()
def through_slice_with_step(x):
    y = x + 0
    y[:, 1::2].mul_(-1)
    return y


@program()
def through_negative_slice(x):
    y = x + 0
    y[-2:, :-1].zero_()
    return y


@program()
def through_select(x):
    y = x + 0
    y[-1].fill_(7)
    y[:, 2].sub_(1)
    return y


@program()
def through_view(x):
    y = x + 0
    y.view(-1)[5:9].add_(100)
    return y


@program()
def through_transpose(x):
    y = x + 0
    y.t()[1:3].mul_(3)
    y.transpose(0, 1).add_(1)
    return y


@program(matrix(2, 3, 4))
def through_permute(x):
    y = x + 0
    y.permute(2, 0, -2)[1].add_(5)
    return y


@program(matrix(5, 5))
def through_diagonal(x):
    y = x + 0
    y.diagonal().add_(50)
    y.diagonal(offset=-1)[1:].mul_(2)
    return y


@program(matrix(2, 4, 5))
def through_batched_diagonal(x):
    y = x + 0
    torch.diagonal(y, 1, 2, 1).copy_(torch.ones(2, 3))
    return y


@program()
def through_squeeze_and_unsqueeze(x):
    y = x + 0
    y.unsqueeze(1).squeeze(1).unsqueeze(-1)[0].add_(1)
    return y


@program(matrix(1, 4, 1))
def through_squeeze_of_all(x):
    y = x + 0
    y.squeeze().add_(1)
    y.squeeze(0).mul_(2)
    return y


@program(matrix(3, 1))
def through_expand_that_repeats_nothing(x):
    y = x + 0
    y.expand(1, 3, 1).add_(1)
    return y


@program(matrix(4))
def through_select_of_an_expand(x):
    y = x + 0
    y.expand(3, 4)[1].add_(1)
    y.expand(2, 4)[0, 1:3].mul_(5)
    return y


@program(matrix(1, 4))
def through_column_of_an_expand(x):
    y = x + 0
    y.expand(3, 4)[2].copy_(torch.ones(4) * 9)
    return y, y.sum()


@program()
def through_as_strided(x):
    y = x + 0
    y.as_strided((2, 3), (6, 2), 1).add_(20)
    return y


@program()
def as_strided_of_a_view_counts_in_the_memory(x):
    y = x + 0
    z = y[1:]
    z.as_strided((2, 2), (1, 2), 0).mul_(-3)
    z.as_strided((2, 2), (1, 2)).add_(4)
    return y, z


@program(matrix(4, 6).t().contiguous().t())
def as_strided_of_columns(x):
    y = x + 0
    y.as_strided((3,), (4,), 2).add_(20)
    return y, y.as_strided((4, 6), (1, 4))


@program()
def through_identity_of_as_strided(x):
    y = x + 0
    y.as_strided((4, 6), (6, 1)).add_(1)
    return y


@program(matrix(8))
def through_unfolded_windows(x):
    y = x + 0
    y.unfold(0, 2, 3).mul_(10)
    return y


# ---- views of views, other aliases


@program()
def slices_of_slices(x):
    y = x + 0
    z = y[1:]
    w = z[:, 2:]
    v = w[1:, ::2]
    v.add_(1)
    z.mul_(2)
    return y, z, w, v


@program()
def alias_taken_before_shows_the_write(x):
    y = x + 0
    row, column, flat = y[1], y[:, 1], y.view(-1)
    flat[6:12].mul_(3)
    return row + column.sum(), flat.sum()


@program()
def two_overlapping_slices(x):
    y = x + 0
    a, b = y[:3], y[1:]
    a.add_(1)
    b.mul_(2)
    a.sub_(3)
    return a, b, y


@program()
def read_between_writes(x):
    y = x + 0
    a = y[0]
    first = a.sum()
    y.add_(1)
    second = a.sum()
    a.mul_(2)
    third = y.sum()
    return first, second, third


@program()
def writes_to_sibling_views_in_turn(x):
    y = x + 0
    a, b = y.t(), y.view(2, 12)
    for i in range(3):
        a[i].add_(b[0, i] + 0)
        b[1].mul_(2)
    return a, b


@program()
def value_computed_before_keeps(x):
    y = x + 0
    before = y * 1
    y.zero_()
    return before, y


@program()
def clone_is_apart(x):
    y = x + 0
    z = y[1:].clone()
    z.add_(1)
    y.mul_(2)
    return y, z


@program()
def detached_shares(x):
    y = x + 0
    y.detach().add_(1)
    y.detach()[0].mul_(2)
    return y


@program()
def writes_from_itself(x):
    y = x + 0
    y[1:].copy_(y[:-1] + 1)
    y[0].add_(y[1])
    y.add_(y.sum())
    return y


@program()
def swap_rows(x):
    y = x + 0
    first = y[0].clone()
    y[0] = y[1]
    y[1] = first
    return y


@program()
def returned_views(x):
    y = x + 0
    z = y[1:3]
    y.add_(1)
    return z, y.t(), z.t()


# ---- parts


@program()
def chunks(x):
    y = x + 0
    a, b, c = y.chunk(3, 1)
    b.add_(1)
    c.mul_(b)
    a.sub_(c)
    return y, a, b, c


@program(matrix(10))
def uneven_chunks(x):
    y = x + 0
    parts = y.chunk(4)
    parts[-1].zero_()
    parts[0].add_(parts[1])
    return y, parts


@program()
def split_by_size(x):
    y = x + 0
    a, b = torch.split(y, 4, 1)
    b.fill_(3)
    return a + y[:, :4], b


@program()
def split_by_sizes(x):
    y = x + 0
    a, b, c = torch.split(y, [1, 2, 3], -1)
    c.add_(b[:, :1])
    y.add_(1)
    b.mul_(2)
    return a, b, c, y


@program()
def unbound_rows(x):
    y = x + 0
    rows = y.unbind(0)
    for i, row in enumerate(rows):
        row.add_(i)
    return y, rows


@program()
def unbound_columns_joined(x):
    y = x + 0
    columns = y.unbind(1)
    columns[2].mul_(4)
    return torch.stack(columns), torch.cat([c.unsqueeze(0) for c in columns])


@program()
def part_taken_after_a_write(x):
    y = x + 0
    parts = y.split(2)
    y.add_(1)
    parts[1].add_(1)
    return parts[0], parts[1]


@program()
def chunk_of_a_chunk(x):
    y = x + 0
    y.chunk(2, 0)[1].chunk(3, 1)[2].zero_()
    return y


# ---- ops that alias only sometimes


@program()
def reshape_that_is_a_view(x):
    y = x + 0
    y.reshape(2, 12)[1].add_(1)
    return y


@program()
def reshape_that_copies(x):
    y = x + 0
    z = y.t().reshape(-1)
    z.add_(1)
    return y, z


@program(matrix(4, 6))
def reshape_of_a_slice_that_is_a_view(x):
    y = x + 0
    z = y[:, :3].reshape(2, 2, 3)
    z.add_(1)
    return y, z


@program(matrix(4, 6))
def reshape_of_a_slice_that_copies(x):
    y = x + 0
    z = y[:, :3].reshape(12)
    z.add_(1)
    return y, z


@program(matrix(4, 6))
def reshape_of_rows_that_is_a_view(x):
    y = x + 0
    z = y[1:3].reshape(12)
    z.add_(1)
    return y, z


@program(matrix(4, 1))
def reshape_of_a_column(x):
    y = x + 0
    z = y.expand(4, 3)[:, :1].reshape(4)
    z.add_(1)
    return y, z


@program(matrix(2, 3, 4))
def flatten_that_is_a_view(x):
    y = x + 0
    y.flatten(1)[0].add_(1)
    y.flatten(0, 1)[-1].mul_(2)
    y.flatten()[3].fill_(0)
    return y


@program(matrix(2, 3, 4))
def flatten_that_copies(x):
    y = x + 0
    z = y.transpose(1, 2).flatten(1)
    z.add_(1)
    return y, z


@program(matrix(2, 12))
def unflatten(x):
    y = x + 0
    y.unflatten(-1, (3, 4))[:, 1].zero_()
    return y


@program(matrix(2, 6), matrix(3, 4))
def view_as_and_reshape_as(x, other):
    y = x + 0
    y.view_as(other)[0].add_(1)
    y.reshape_as(other)[1].mul_(2)
    y.t().reshape_as(other).add_(100)
    return y


@program(matrix(1, 6), matrix(4, 6))
def expand_as(x, other):
    y = x + 0
    z = y.expand_as(other)
    y.add_(1)
    return z * other


@program()
def contiguous_that_is_itself(x):
    y = x + 0
    y.contiguous().add_(1)
    return y


@program()
def contiguous_that_copies(x):
    y = x + 0
    z = y.t().contiguous()
    z.add_(1)
    return y, z


@program(matrix(2, 3, 4, 5))
def channels_last(x):
    y = x + 0
    z = y.contiguous(memory_format=torch.channels_last)
    z.add_(1)
    w = z.contiguous(memory_format=torch.channels_last)
    w.mul_(2)
    z.permute(0, 2, 3, 1).reshape(2, -1)[0].zero_()
    return y, z, w


@program()
def to_that_is_itself(x):
    y = x + 0
    y.to(torch.float32).add_(1)
    y.float().mul_(2)
    y.to("cpu").sub_(1)
    return y


@program()
def to_that_copies(x):
    y = x + 0
    z = y.to(torch.float64)
    z.add_(1)
    w = y.to(torch.float32, copy=True)
    w.mul_(2)
    return y, z, w


@program(matrix(4, 6), matrix(3, dtype=torch.float64))
def type_as(x, other):
    y = x + 0
    y.type_as(x).add_(1)
    y.type_as(other).mul_(2)
    return y


@program()
def dropout_in_eval(x):
    y = x + 0
    z = torch.nn.functional.dropout(y, 0.5, training=False)
    z.add_(1)
    w = torch.nn.functional.dropout(y, 0.0, training=True)
    w[0].mul_(2)
    torch.nn.functional.dropout(y, 0.5, training=False, inplace=True)
    torch.nn.functional.alpha_dropout(y, 0.5, training=False).sub_(1)
    return y, z


# ---- metadata in place


@program()
def transposed_in_place(x):
    y = x + 0
    z = y[1:]
    y.t_()
    y[0].add_(1)
    y.transpose_(0, 1)
    y[0].mul_(2)
    return y, z


@program(matrix(4, 1, 6))
def squeezed_in_place(x):
    y = x + 0
    z = y.view(-1)
    y.squeeze_(1)
    y.unsqueeze_(0)
    y[0, 1].add_(1)
    y.squeeze_()
    y[2].mul_(3)
    return y, z


@program()
def detached_in_place(x):
    y = x + 0
    y.detach_().add_(1)
    return y


# ---- dtypes and numbers


@program(matrix(4, 6), matrix(6, dtype=torch.float64))
def in_place_rounds_a_wider_operand(x, other):
    y = x + 0
    y.add_(other / 3)
    y[1:].mul_(other)
    return y


@program(matrix(4, 6, dtype=torch.float16), matrix(6))
def half_with_float(x, other):
    y = x + 0
    y.add_(other / 7)
    y.div_(3)
    return y


@program(matrix(4, 6, dtype=torch.int32), matrix(6, dtype=torch.int64))
def int_with_long(x, other):
    y = x + 0
    y.mul_(other)
    y.add_(2)
    y[0].copy_(other)
    y[1].copy_(other.to(torch.float32) / 2)
    return y


@program()
def comparisons_in_place(x):
    y = x + 0
    y.ge_(2)
    z = x + 0
    z.eq_(x[0])
    z[1:].logical_not_()
    return y, z


@program(matrix(4, 6) > 0, matrix(4, 6) > 3)
def bools_in_place(x, other):
    y = x.clone()
    y.logical_or_(other)
    y[0].logical_and_(other[1])
    y &= other
    y |= x
    y ^= other
    return y


@program(torch.tensor(3.0), matrix(1))
def scalars(x, other):
    y = x + 0
    y.add_(other[0])
    y.mul_(2)
    z = y.view(1)
    z.sub_(1)
    return y, z


@program(torch.empty(0, 3))
def empty(x):
    y = x + 0
    y[:, 1].add_(1)
    y.view(-1).mul_(2)
    return y


# ---- ops that write by index


@program(matrix(4, 6), torch.tensor([0, 2]))
def index_put(x, index):
    y = x + 0
    view = y.t()
    view[index] = 5
    y[index] += 1
    y.view(-1)[index] = y[0, :2] * 2
    return y


@program()
def masked_fill(x):
    y = x + 0
    y[1:].masked_fill_(y[1:] > 3, 0)
    y.t()[y.t() < 0] = -1
    return y


@program(matrix(4, 6), torch.tensor([[0, 2, 1, 0, 3, 2]]))
def scatter(x, index):
    y = x + 0
    y[:, :].scatter_(0, index, 9.0)
    y[1:].scatter_add_(0, index.clamp(max=2), torch.ones(1, 6))
    return y


@program()
def clamped_and_activated(x):
    y = x + 0
    y[0].clamp_(-1, 1)
    torch.relu_(y[1])
    torch.nn.functional.silu(y[2], inplace=True)
    torch.nn.functional.leaky_relu(y[3], 0.1, inplace=True)
    y.t().clamp_(min=-2)
    return y


# ---- inputs and outputs


@program()
def input_is_written(x):
    x.add_(1)
    return x * 2


@program()
def input_is_written_through_a_view(x):
    x.view(-1)[::5].mul_(3)
    x[1].zero_()
    return x.sum()


@program()
def input_is_returned(x):
    x.add_(1)
    return x, x.t(), x[0]


@program()
def view_of_input_returned_before_the_write(x):
    row = x[0]
    x.mul_(2)
    return row, x


@program(matrix(3, 2), matrix(3, 2))
def two_inputs_are_written(x, y):
    y.add_(x)
    x.copy_(y)
    return x - y


@program(matrix(3, 2), matrix(3))
def only_the_second_input(x, y):
    y.mul_(2)
    return x


@program()
def nothing_is_returned_twice(x):
    y = x + 1
    y.add_(1)
    return y, y, y[0], None, 3


@program()
def outputs_share_memory(x):
    y = x * 2
    a, b = y[:2], y[2:]
    a.add_(1)
    return a, b, a


# ---- constants made inside


@program()
def fresh_constant(x):
    t = torch.tensor([1.0, 2.0, 3.0])
    t += 1
    t[0].mul_(5)
    return x[:, :3] + t


@program()
def buffer_made_inside(x):
    y = torch.zeros(5, 6)
    y[:4] = x
    y[4].copy_(x.sum(0))
    y.view(-1)[0] = 1
    return y


@program()
def full_is_written(x):
    y = torch.full((4, 6), 2.0)
    y[x > 0] = 0
    y.add_(x)
    return y


@program()
def loop_over_rows(x):
    out = torch.zeros(4, 6)
    state = torch.ones(6)
    for i in range(4):
        state.mul_(0.5).add_(x[i])
        out[i] = state
    return out, state

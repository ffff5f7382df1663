"""Programs that write in another dtype, by index, to inputs, outputs and constants."""

from __future__ import annotations

import torch
from aliasing_programs import matrix, program

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

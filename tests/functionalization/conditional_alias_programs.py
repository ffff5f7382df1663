"""Programs with ops that alias only sometimes, and that change metadata in place."""

from __future__ import annotations

import torch
from aliasing_programs import matrix, program

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

"""Programs that write through views: one view, views of views, the parts of a tensor."""

from __future__ import annotations

import torch
from aliasing_programs import matrix, program

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


@program(matrix(4, 6).t().contiguous().t())
def as_strided_scatter_of_columns(x):
    y = x.as_strided_scatter(torch.ones(2, 2) * 30, (2, 2), (1, 4), 2)
    y[0].mul_(2)
    return y, x.as_strided_scatter(x[:2, :2], (2, 2), (2, 5))


@program()
def as_strided_scatter_of_a_part_counts_in_the_memory(x):
    y = x + 0
    z = y[1:].as_strided_scatter(torch.ones(2, 2) * 30, (2, 2), (1, 2), y[1:].storage_offset() + 1)
    y.add_(1)
    return y, z

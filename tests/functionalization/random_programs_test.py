"""Random programs of views and writes, seeded: made functional by the core they compute what eager does."""

import random

import pytest
import torch
from aliasing_programs import matrix
from raw_programs import check

CHOSEN, ALL = 40, 2000
BATCH = 20  # programs exported as one


class Draw:
    """A program that is decided on as it runs: the same choices for the same seed."""

    def __init__(self, seed: int):
        self.seed = seed

    def __call__(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        drawn = random.Random(self.seed)
        tensors = [x, x * 1] if drawn.random() < 0.5 else [x * 1]
        for _ in range(drawn.randint(4, 12)):
            tensor = drawn.choice(tensors)
            step = drawn.choice((view, view, write, write, part, fresh))
            made = step(drawn, tensor, tensors)
            if made is not None:
                tensors.append(made)
        return tuple(drawn.sample(tensors, min(4, len(tensors))))


def view(drawn, t, tensors):
    dim = drawn.randrange(t.dim()) if t.dim() else 0
    choices = [lambda: t.detach(), lambda: t.unsqueeze(drawn.randint(0, t.dim()))]
    if t.dim():
        size = t.shape[dim]
        start = drawn.randrange(size)
        choices += [
            lambda: t.select(dim, drawn.randrange(-size, size)),
            lambda: t[(slice(None),) * dim + (slice(start, drawn.randint(start + 1, size)),)],
            lambda: t.transpose(dim, drawn.randrange(t.dim())),
            lambda: t.permute(drawn.sample(range(t.dim()), t.dim())),
            lambda: t.squeeze(),
            lambda: t.reshape(-1),
            lambda: t.flatten(dim),
            lambda: t.contiguous(),
            lambda: t[(slice(None),) * dim + (slice(start, None, 2),)],
            lambda: t.as_strided((2, 2), (1, 2), t.storage_offset()) if has_four_more(t) else t[0],
            lambda: t.expand(2, *t.shape).select(0, drawn.randrange(2)),
        ]
    if t.dim() > 1:
        first, second = drawn.sample(range(t.dim()), 2)
        choices.append(lambda: t.diagonal(drawn.randint(-1, 0), first, second))
    made = drawn.choice(choices)()
    return made if made.numel() else None


def has_four_more(t):
    """Whether the memory goes on that far from the first element."""
    return t.storage_offset() + 4 <= t.untyped_storage().nbytes() // t.itemsize


def part(drawn, t, tensors):
    if not t.dim():
        return None
    dim = drawn.randrange(t.dim())
    parts = drawn.choice((lambda: t.chunk(2, dim), lambda: t.split(2, dim), lambda: t.unbind(dim)))()
    tensors.extend(drawn.sample(parts, min(2, len(parts))))
    return None


def write(drawn, t, tensors):
    other = drawn.choice(tensors)
    choices = [
        lambda: t.add_(drawn.randint(1, 3)),
        lambda: t.mul_(drawn.choice((-1, 0.5))),
        lambda: t.fill_(drawn.randint(-3, 3)),
        lambda: t.copy_(other.amax()),
        lambda: t.clamp_(-20, 20),
        lambda: t.sub_(other.amax()),
        lambda: t.relu_(),
        lambda: t.masked_fill_(t > 3, 2),
    ]
    drawn.choice(choices)()
    return None


def fresh(drawn, t, tensors):
    return drawn.choice((lambda: t + 1, lambda: t.clone(), lambda: t.t() * 2 if t.dim() == 2 else t * 2))()


class Programs:
    def __init__(self, seeds):
        self.draws = [Draw(seed) for seed in seeds]

    def __call__(self, *inputs):
        return [draw(x) for draw, x in zip(self.draws, inputs, strict=True)]


def batches(count):
    return [range(start, start + BATCH) for start in range(0, count, BATCH)]


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(seeds, marks=[pytest.mark.sweep] if seeds.stop > CHOSEN else [], id=str(seeds.start))
        for seeds in batches(ALL)
    ],
)
def test_random_programs(seeds):
    check(Programs(seeds).__call__, *(matrix(4, 6) for _ in seeds), calls=1)

"""Random PyTorch programs: elementwise ops with broadcasting, products, norms, reductions, views, writes,
indices, attention, pooling and recurrences, in any order."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from math import prod
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

SIZES = [1, 1, 2, 3, 4, 5, 7, 8, 8, 9, 12, 16, 16, 17, 24, 32, 33, 48, 64]
LARGEST = 30_000

UNARY: list[Callable[[Tensor], Tensor]] = [
    torch.relu,
    F.gelu,
    lambda x: F.gelu(x, approximate="tanh"),
    F.silu,
    torch.sigmoid,
    torch.tanh,
    lambda x: torch.exp(-x.abs()),
    lambda x: torch.log1p(x.abs()),
    lambda x: torch.sqrt(x.abs() + 0.1),
    lambda x: torch.rsqrt(x * x + 0.5),
    torch.abs,
    torch.neg,
    torch.sin,
    torch.cos,
    torch.erf,
    F.softplus,
    F.hardswish,
    F.mish,
    F.elu,
    torch.square,
    lambda x: F.leaky_relu(x, 0.2),
    lambda x: x.clamp(-0.7, 1.3),
    lambda x: 1.0 / (1.0 + x.abs()),
    lambda x: x * 0.5 + 1,
    torch.atan,
    torch.expm1,
    lambda x: F.relu6(x * 4),
    lambda x: x**3,
]
BINARY: list[Callable[[Tensor, Tensor], Tensor]] = [
    torch.add,
    torch.sub,
    torch.mul,
    torch.maximum,
    torch.minimum,
    lambda x, y: x / (y.abs() + 0.5),
    lambda x, y: torch.where(x > y, x, y * 0.5),
    lambda x, y: x * torch.sigmoid(y),
    torch.atan2,
    lambda x, y: torch.add(x, y, alpha=0.3),
    lambda x, y: torch.lerp(x, y, 0.25),
    lambda x, y: (x - y) ** 2,
    lambda x, y: torch.hypot(x, y),
]
REDUCTIONS: list[Callable[..., Tensor]] = [
    torch.sum,
    torch.mean,
    torch.amax,
    torch.amin,
    lambda x, d, keepdim: torch.var(x, d, correction=0, keepdim=keepdim),
    lambda x, d, keepdim: torch.sqrt(torch.var(x, d, correction=0, keepdim=keepdim) + 1e-2),
    torch.logsumexp,
    lambda x, d, keepdim: torch.linalg.vector_norm(x, 2, d, keepdim=keepdim),
    lambda x, d, keepdim: torch.linalg.vector_norm(x, float("inf"), d, keepdim=keepdim),
    lambda x, d, keepdim: (x * x).sum(d, keepdim=keepdim),
    lambda x, d, keepdim: (x > 0).sum(d, keepdim=keepdim).to(x.dtype),
]


class Unfit(Exception):
    """No value is of the rank that a step takes."""


class RandomModule(nn.Module):
    """`steps` are functions of values so far; `make` appends them while it knows their values."""

    def __init__(self, seed: int, steps: int = 12):
        super().__init__()
        self.random = random.Random(seed)
        self.generator = torch.Generator().manual_seed(seed)
        self.steps: list[tuple[Callable[..., Tensor], list[int]]] = []
        self.values: list[Tensor] = []
        self.held = nn.ParameterList()
        rank = self.random.choice([1, 2, 2, 3, 3, 3, 4, 4, 5])
        self.inputs = [self.number(self.shape(rank)) for _ in range(self.random.choice([1, 1, 2]))]
        self.values += self.inputs
        kinds = [getattr(self, name) for name in dir(self) if name.startswith("do_")]
        weights = [getattr(kind, "weight", 2) for kind in kinds]
        while len(self.steps) < steps:
            with contextlib.suppress(Unfit):
                self.random.choices(kinds, weights)[0]()
        used = {place for _, places in self.steps for place in places}
        self.results = [i for i in range(len(self.inputs), len(self.values)) if i not in used]
        self.example = [value.clone() for value in self.inputs]
        self.values = []

    # What values are made from.

    def shape(self, rank: int) -> list[int]:
        while True:
            sizes = [self.random.choice(SIZES) for _ in range(rank)]
            if prod(sizes) <= LARGEST:
                return sizes

    def number(self, shape: list[int], scale: float = 1.0) -> Tensor:
        return torch.randn(shape, generator=self.generator) * scale

    def weight(self, *shape: int, scale: float = 1.0) -> int:
        self.held.append(nn.Parameter(self.number(list(shape), scale), requires_grad=False))
        return len(self.held) - 1

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, rank: int | None = None, least: int = 0) -> int:
        fits = [
            i
            for i, value in enumerate(self.values)
            if (rank is None or value.dim() == rank) and value.dim() >= least
        ]
        if not fits:
            raise Unfit
        return self.random.choice(fits[-3:] if self.chance(0.8) else fits)

    def add(self, function: Callable[..., Tensor], *places: int) -> int | None:
        with torch.no_grad():
            value = function(*(self.values[place] for place in places))
        if value.numel() > LARGEST or value.numel() == 0 or value.dtype != torch.float32:
            return None
        self.steps.append((function, list(places)))
        self.values.append(value)
        size = float(value.abs().max())
        if size > 30:
            self.add(lambda x, by=1 / size: x * by, len(self.values) - 1)
        return len(self.values) - 1

    def forward(self, *inputs: Tensor) -> list[Tensor]:
        values = list(inputs)
        for function, places in self.steps:
            values.append(function(*(values[place] for place in places)))
        return [values[i] for i in self.results]

    def dim(self, value: Tensor) -> int:
        place = self.random.randrange(value.dim())
        return place if self.chance(0.5) else place - value.dim()

    # Steps.

    def do_unary(self) -> None:
        self.add(self.random.choice(UNARY), self.pick())

    do_unary.weight = 10

    def do_binary(self) -> None:
        place = self.pick()
        shape = self.values[place].shape
        others = [i for i, value in enumerate(self.values) if broadcasts(value.shape, shape)]
        self.add(self.random.choice(BINARY), *self.mixed(place, self.random.choice(others)))

    do_binary.weight = 10

    def mixed(self, *places: int) -> list[int]:
        return self.random.sample(places, len(places))

    def do_parameter(self) -> None:
        place = self.pick()
        shape = [size if self.chance(0.6) else 1 for size in self.values[place].shape]
        shape = shape[self.random.randrange(len(shape) + 1) :]
        held, op = self.weight(*shape), self.random.choice(BINARY)
        self.add(lambda x: op(x, self.held[held]), place)

    do_parameter.weight = 5

    def do_centered(self) -> None:
        """A reduction that is spread over what it was reduced from."""
        place = self.pick(least=1)
        dims, op = self.dims(self.values[place]), self.random.choice(REDUCTIONS)
        join = self.random.choice(BINARY)
        self.add(lambda x: join(x, op(x, dims, keepdim=True)), place)

    do_centered.weight = 4

    def dims(self, value: Tensor) -> list[int]:
        return self.random.sample(range(value.dim()), self.random.randint(1, value.dim()))

    def do_reduction(self) -> None:
        place = self.pick(least=1)
        value = self.values[place]
        dims, op, keep = self.dims(value), self.random.choice(REDUCTIONS), self.chance(0.4)
        if value.dim() - len(dims) < 2 and self.chance(0.7):
            dims = dims[:1]
        self.add(lambda x: op(x, dims, keepdim=keep), place)

    do_reduction.weight = 4

    def do_linear(self) -> None:
        place = self.pick(least=1)
        given, made = self.values[place].shape[-1], self.random.choice(SIZES)
        held = self.weight(made, given, scale=given**-0.5)
        bias = self.weight(made) if self.chance(0.5) else None
        self.add(lambda x: F.linear(x, self.held[held], None if bias is None else self.held[bias]), place)

    do_linear.weight = 6

    def do_gram(self) -> None:
        place = self.pick(least=2)
        scale = self.values[place].shape[-1] ** -0.5
        form = self.random.randrange(4)
        other = [lambda x: x, torch.relu, lambda x: x + 1, lambda x: x[..., :1, :]][form]
        self.add(lambda x: (x * scale) @ other(x).transpose(-1, -2), place)

    do_gram.weight = 3

    def do_product(self) -> None:
        places = [
            (i, j)
            for i, x in enumerate(self.values)
            for j, y in enumerate(self.values)
            if x.dim() >= 2
            and y.dim() >= 2
            and x.shape[-1] == y.shape[-2]
            and (broadcasts(x.shape[:-2], y.shape[:-2]) or broadcasts(y.shape[:-2], x.shape[:-2]))
        ]
        if places:
            self.add(torch.matmul, *self.random.choice(places))

    do_product.weight = 4

    def do_einsum(self) -> None:
        place = self.pick(least=2)
        value = self.values[place]
        letters = "abcdefg"[: value.dim()]
        kept = self.random.sample(letters, self.random.randint(1, value.dim()))
        taken = self.random.sample(letters, self.random.randint(1, value.dim()))
        shape = [value.shape[letters.index(letter)] for letter in taken]
        summed = prod(value.shape[letters.index(i)] for i in letters if i not in kept)
        held = self.weight(*shape, 5, scale=summed**-0.5)
        result = kept + ["z"]
        self.random.shuffle(result)
        text = f"{letters},{''.join(taken)}z->{''.join(result)}"
        self.add(lambda x: torch.einsum(text, x, self.held[held]), place)

    def do_norm(self) -> None:
        place = self.pick(least=2)
        value = self.values[place]
        form = self.random.randrange(6)
        size = value.shape[-1]
        if form == 0 and size > 1:
            self.add(lambda x: F.layer_norm(x, [size]), place)
        elif form == 1:
            held = self.weight(size)
            self.add(lambda x: F.rms_norm(x, [size], self.held[held], 1e-5), place)
        elif form == 2 and value.dim() >= 3 and prod(value.shape[2:]) > 1:
            groups = self.random.choice([g for g in (1, 2, 3, 4, 8) if value.shape[1] % g == 0])
            held = self.weight(value.shape[1])
            self.add(lambda x: F.group_norm(x, groups, self.held[held]), place)
        elif form == 3:
            dim = self.dim(value)
            self.add(lambda x: F.normalize(x, dim=dim), place)
        elif form == 4 and prod(value.shape[-2:]) > 1:
            last, held = list(value.shape[-2:]), self.weight(*value.shape[-2:])
            self.add(lambda x: F.layer_norm(x, last, None, self.held[held]), place)
        elif form == 5:
            mean, scale = self.weight(value.shape[1]), self.weight(value.shape[1])
            self.add(lambda x: F.batch_norm(x, self.held[mean], self.held[scale].abs() + 0.1), place)

    do_norm.weight = 5

    def do_softmax(self) -> None:
        place = self.pick(least=1)
        dim = self.dim(self.values[place])
        op = self.random.choice([F.softmax, F.softmax, F.log_softmax, F.softmin])
        self.add(lambda x: op(x, dim=dim), place)

    do_softmax.weight = 3

    def do_running(self) -> None:
        place = self.pick(least=1)
        dim = self.dim(self.values[place])
        op = self.random.choice(
            [
                torch.cumsum,
                lambda x, d: torch.cumprod(x.tanh(), d),
                lambda x, d: torch.cummax(x, d).values,
                torch.logcumsumexp,
            ]
        )
        self.add(lambda x: op(x, dim), place)

    def do_view(self) -> None:
        place = self.pick()
        value = self.values[place]
        sizes = self.factors(value.numel())
        self.add(lambda x: x.reshape(sizes), place)

    do_view.weight = 4

    def factors(self, count: int) -> list[int]:
        sizes = []
        for _ in range(self.random.randint(0, 3)):
            divisors = [d for d in range(1, min(count, 65) + 1) if count % d == 0]
            sizes.append(self.random.choice(divisors))
            count //= sizes[-1]
        sizes.insert(self.random.randint(0, len(sizes)), count)
        return sizes

    def do_joined_dims(self) -> None:
        place = self.pick(least=2)
        first = self.random.randrange(self.values[place].dim() - 1)
        self.add(lambda x: x.flatten(first, first + 1), place)

    def do_permutation(self) -> None:
        place = self.pick(least=2)
        order = self.random.sample(range(self.values[place].dim()), self.values[place].dim())
        self.add(lambda x: x.permute(order), place)

    do_permutation.weight = 5

    def do_slice(self) -> None:
        place = self.pick(least=1)
        value = self.values[place]
        slices = [slice(None)] * value.dim()
        for i, size in enumerate(value.shape):
            if size > 1 and self.chance(0.5):
                begin = self.random.randrange(size)
                end = self.random.randint(begin + 1, size)
                slices[i] = slice(begin, end, self.random.choice([1, 1, 1, 2, 3]))
        slices = tuple(slices)
        self.add(lambda x: x[slices], place)

    do_slice.weight = 3

    def do_select(self) -> None:
        place = self.pick(least=2)
        dim = self.dim(self.values[place])
        index = self.random.randrange(self.values[place].shape[dim])
        self.add(lambda x: x.select(dim, index), place)

    def do_expand(self) -> None:
        place = self.pick()
        rank = self.values[place].dim()
        if rank < 5:
            dim, times = self.random.randint(0, rank), self.random.choice([1, 2, 3, 8])
            sizes = list(self.values[place].shape)
            sizes.insert(dim, times)
            self.add(lambda x: x.unsqueeze(dim).expand(sizes), place)

    do_expand.weight = 3

    def do_concatenation(self) -> None:
        place = self.pick(least=1)
        value = self.values[place]
        dim = self.random.randrange(value.dim())
        fits = [
            i
            for i, other in enumerate(self.values)
            if other.dim() == value.dim()
            and all(i == dim or a == b for i, (a, b) in enumerate(zip(other.shape, value.shape, strict=True)))
        ]
        places = [place] + [self.random.choice(fits) for _ in range(self.random.choice([1, 1, 2]))]
        self.add(lambda *x: torch.cat(x, dim), *self.mixed(*places))

    do_concatenation.weight = 4

    def do_chunks(self) -> None:
        place = self.pick(least=1)
        value = self.values[place]
        dim = self.dim(value)
        if value.shape[dim] % 2 == 0:
            op = self.random.choice(BINARY)
            self.add(lambda x: op(*x.chunk(2, dim)), place)

    do_chunks.weight = 3

    def do_turned_halves(self) -> None:
        """Rotary embedding, of halves or of neighbours."""
        place = self.pick(least=2)
        value = self.values[place]
        if value.shape[-1] % 2:
            return
        count, half = value.shape[-2], value.shape[-1] // 2
        angles = self.weight(count, half)
        if self.chance(0.5):

            def turn(x):
                cos, sin = (torch.cat([f(self.held[angles])] * 2, -1) for f in (torch.cos, torch.sin))
                return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin
        else:

            def turn(x):
                cos, sin = self.held[angles].cos(), self.held[angles].sin()
                a, b = x[..., ::2], x[..., 1::2]
                return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)

        self.add(turn, place)

    def do_padding(self) -> None:
        place = self.pick(least=1)
        value = self.values[place]
        last = value.shape[:-3:-1]  # F.pad begins with the last dimension
        amounts = [self.random.choice([0, 1, 2, -1 if size > 3 else 0]) for size in last for _ in "lr"]
        self.add(lambda x: F.pad(x, amounts, value=0.5), place)

    def do_mirror_padding(self) -> None:
        place = self.pick(least=2)
        size = self.values[place].shape[-1]
        if size > 2 and self.values[place].dim() in (2, 3):
            mode = self.random.choice(["reflect", "replicate", "circular"])
            self.add(lambda x: F.pad(x, [1, 2], mode=mode), place)

    def do_movement(self) -> None:
        place = self.pick(least=1)
        value = self.values[place]
        dim, by = self.dim(value), self.random.randint(1, 5)
        self.add(
            self.random.choice(
                [
                    lambda x: x.flip(dim),
                    lambda x: x.roll(by, dim),
                    lambda x: x.roll(-by, dim),
                    lambda x: x.repeat_interleave(2, dim),
                    lambda x: torch.cat([x[..., -1:], x[..., :-1]], -1),
                    lambda x: x.repeat([2] + [1] * (x.dim() - 1)),
                    lambda x: x.movedim(dim, 0),
                    lambda x: torch.stack([x, -x], dim),
                    lambda x: x.unfold(dim, min(2, x.shape[dim]), 1),
                    lambda x: x - x.roll(1, dim) * 0.5,
                ]
            ),
            place,
        )

    do_movement.weight = 4

    def do_triangle(self) -> None:
        place = self.pick(least=2)
        diagonal, lower = self.random.randint(-2, 2), self.chance(0.5)
        self.add(lambda x: x.tril(diagonal) if lower else x.triu(diagonal), place)

    def do_indices(self) -> None:
        place = self.pick(least=1)
        value = self.values[place]
        dim = self.random.randrange(value.dim())
        count = self.random.choice(SIZES)
        index = torch.randint(value.shape[dim], [count], generator=self.generator)
        name = f"index{len(self.steps)}"
        self.register_buffer(name, index)
        form = self.random.randrange(6)
        held = lambda: getattr(self, name)
        at = (slice(None),) * dim
        single, whole = [1] * value.dim(), list(value.shape)
        single[dim] = whole[dim] = count
        everywhere = lambda: held().reshape(single).expand(whole)
        if form == 0:
            self.add(lambda x: x.index_select(dim, held()), place)
        elif form == 1:
            self.add(lambda x: x[(*at, held())], place)
        elif form == 2:
            self.add(lambda x: x.index_add(dim, held(), x.index_select(dim, held())), place)
        elif form == 3:
            self.add(lambda x: x.gather(dim, everywhere()), place)
        elif form == 4:
            self.add(lambda x: x.scatter_add(dim, everywhere(), x.sum(dim, True).expand(whole)), place)
        elif form == 5:
            self.add(lambda x: x.index_fill(dim, held(), 0.25), place)

    do_indices.weight = 4

    def do_order(self) -> None:
        place = self.pick(least=1)
        value = self.values[place]
        dim = self.dim(value)
        count = self.random.randint(1, value.shape[dim])
        self.add(
            self.random.choice(
                [
                    lambda x: x.topk(count, dim).values,
                    lambda x: x.sort(dim=dim, stable=True).values,
                    lambda x: x.sort(dim=dim, descending=True, stable=True).values,
                    lambda x: x.kthvalue(count, dim).values,
                    lambda x: x.contiguous().median(dim).values,  # eager's is wrong for an expanded tensor
                ]
            ),
            place,
        )

    def do_write(self) -> None:
        """A slice of a copy that is written in place."""
        place = self.pick(least=1)
        value = self.values[place]
        dim = self.random.randrange(value.dim())
        begin = self.random.randrange(value.shape[dim])
        count = self.random.randint(1, value.shape[dim] - begin)
        op = self.random.choice(
            [
                lambda part: part.mul_(0.5),
                lambda part: part.copy_(part.flip(0) + 1),
                lambda part: part.zero_(),
                lambda part: part.add_(part.sum(0, keepdim=True)),
                lambda part: part.relu_(),
            ]
        )

        def write(x):
            y = x.clone()
            op(y.narrow(dim, begin, count))
            return y

        self.add(write, place)

    do_write.weight = 3

    def do_mask(self) -> None:
        place = self.pick(least=1)
        count = self.values[place].shape[-1]
        keep = self.random.randint(0, count)
        self.add(lambda x: x.masked_fill(torch.arange(count, device=x.device) >= keep, -2.0), place)

    def do_attention(self) -> None:
        place = self.pick(least=2)
        value = self.values[place]
        count, width = value.shape[-2:]
        heads = self.random.choice([1, 2, 3, 4])
        size, shared = self.random.choice([4, 8, 16, 24, 32]), self.random.choice([1, heads])
        keys = self.random.choice([count, count, 5, 32])
        if heads * size > 96 or value.dim() > 3:
            return
        q = self.weight(heads * size, width, scale=width**-0.5)
        kv = self.weight(2 * shared * size, width, scale=width**-0.5)
        memory = self.weight(keys, width)
        form = self.random.randrange(5)
        bias = self.weight(heads, count, keys if keys != count else count)

        def attend(x):
            batch = x.shape[:-2]
            source = x if keys == count else self.held[memory].expand(*batch, keys, width)
            query = (x @ self.held[q].t()).unflatten(-1, (heads, size)).transpose(-3, -2)
            both = (
                (source @ self.held[kv].t()).unflatten(-1, (2, shared, size)).movedim(-3, 0).transpose(-3, -2)
            )
            key, data = (t.repeat_interleave(heads // shared, -3) for t in both)
            if form == 0:
                result = F.scaled_dot_product_attention(query, key, data)
            elif form == 1:
                result = F.scaled_dot_product_attention(query, key, data, is_causal=keys == count)
            elif form == 2:
                result = F.scaled_dot_product_attention(query, key, data, attn_mask=self.held[bias])
            else:
                scores = query @ key.transpose(-1, -2) * size**-0.5
                if form == 3:
                    scores = scores + self.held[bias]
                else:
                    mask = torch.ones(count, keys, dtype=torch.bool, device=x.device).tril(1)
                    scores = scores.masked_fill(~mask, float("-inf"))
                result = scores.softmax(-1) @ data
            return result.transpose(-3, -2).flatten(-2)

        self.add(attend, place)

    do_attention.weight = 4

    def do_convolution(self) -> None:
        place = self.pick(rank=self.random.choice([3, 4]))
        value = self.values[place]
        rank = value.dim() - 2
        kernel = [self.random.choice([1, 3, min(3, size)]) for size in value.shape[2:]]
        groups = value.shape[1] if self.chance(0.3) else 1
        made = groups * self.random.choice([1, 2]) if groups > 1 else self.random.choice([1, 4, 8, 16, 17])
        given = value.shape[1] // groups
        held = self.weight(made, given, *kernel, scale=(given * prod(kernel)) ** -0.5)
        step = self.random.choice([1, 1, 2])
        op = [F.conv1d, F.conv2d][rank - 1]
        self.add(lambda x: op(x, self.held[held], None, step, [k // 2 for k in kernel], 1, groups), place)

    do_convolution.weight = 4

    def do_pooling(self) -> None:
        place = self.pick(rank=4)
        self.add(
            self.random.choice(
                [
                    lambda x: F.max_pool2d(x, 2, 1, 1),
                    lambda x: F.avg_pool2d(x, 3, 2, 1),
                    lambda x: F.adaptive_avg_pool2d(x, (2, 3)),
                    lambda x: F.interpolate(x, scale_factor=2),
                    lambda x: F.interpolate(x, size=(5, 7), mode="bilinear"),
                    lambda x: x.mean((2, 3), keepdim=True),
                ]
            ),
            place,
        )

    def do_recurrence(self) -> None:
        place = self.pick(rank=3)
        count, width = self.values[place].shape[1:]
        if count > 24:
            return
        made = self.random.choice([4, 8])
        cell = self.random.choice([nn.GRU, nn.LSTM])(width, made, batch_first=True)
        for parameter in cell.parameters():
            parameter.data = self.number(list(parameter.shape), 0.4)
        name = f"cell{len(self.steps)}"
        self.add_module(name, cell)
        self.add(lambda x: getattr(self, name)(x)[0], place)

    do_recurrence.weight = 1


def broadcasts(shape: Any, whole: Any) -> bool:
    """Whether a tensor of the first shape spreads over one of the second without a change of this one."""
    if len(shape) > len(whole):
        return False
    pairs = zip(reversed(shape), reversed(whole), strict=False)
    return all(a == b or a == 1 for a, b in pairs)

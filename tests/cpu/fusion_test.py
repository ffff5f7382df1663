"""What the engine fuses, by the names in its log, and that the results stay: forms as our exporter writes
them, and forms that only look like one."""

from __future__ import annotations

import pytest
from engine_test import run
from fusion_log import ATTENTION, CAUSAL, TORCH, log_of

TORCH_CASES = {
    "silu": ("F.silu, (4, 6)", "silu=1"),
    "silu of an empty tensor": ("F.silu, (0, 6)", "none"),
    "silu in f64": ("F.silu, torch.linspace(-9, 9, 50).double()", "silu=1"),
    "silu in bf16": ("F.silu, torch.linspace(-9, 9, 50).bfloat16()", "silu=1 narrow=1"),
    "a gate of another value": ("lambda x, y: x * y.sigmoid(), (4, 6), (4, 6)", "none"),
    "a gate that is used twice": ("lambda x: x * x.sigmoid() + x.sigmoid(), (4, 6)", "none"),
    "softmax": ("lambda x: x.softmax(-1), (3, 4, 37)", "softmax=1"),
    "log_softmax of empty rows": ("lambda x: x.log_softmax(-1), (5, 0)", "none"),
    "softmax in bf16": (
        "lambda x: x.softmax(-1), torch.linspace(-9, 9, 50).bfloat16()",
        "softmax=1 narrow=1",
    ),
    "softmax of extremes": (
        "lambda x: x.softmax(-1).nan_to_num(7), torch.tensor([[1., 3e38, -3e38], [0., -torch.inf, 1], "
        "[torch.nan, 1, 2], [-torch.inf] * 3, [torch.inf, 1, 2]])",
        "softmax=1",
    ),
    "softmax across short rows": ("lambda x: x.softmax(0), (4, 6)", "none"),
    "softmax across rows": ("lambda x: x.softmax(0), (4, 60)", "softmax=1"),
    "softmax of a dimension in the middle": ("lambda x: x.softmax(1), (3, 20, 4, 9)", "softmax=1"),
    "log_softmax of a dimension in the middle": ("lambda x: x.log_softmax(1), (3, 20, 37)", "softmax=1"),
    "softmax of a dimension in the middle, of a transposed tensor": (
        "lambda x: x.transpose(1, 2).softmax(1), (3, 37, 20)",
        "softmax=1",
    ),
    "softmax of a dimension in the middle in f64": (
        "lambda x: x.double().softmax(1), (3, 20, 9)",
        "softmax=1",
    ),
    "the sum of another dimension": (
        "lambda x: (x - x.amax(0)).exp() / (x - x.amax(0)).exp().sum(1, True), (3, 20, 9)",
        "none",
    ),
    "exponentials that are needed as well": (
        "lambda x: (x - x.amax(1, True)).exp() + (x - x.amax(1, True)).exp() / "
        "(x - x.amax(1, True)).exp().sum(1, True), (3, 20, 9)",
        "none",
    ),
    "the largest of other numbers": (
        "lambda x, y: (x - y.amax(1, True)).exp() / (x - y.amax(1, True)).exp().sum(1, True), (3, 20, 9), "
        "(3, 20, 9)",
        "none",
    ),
    "the logarithm of another sum": (
        "lambda x: x - x.amax(1, True) - x.exp().sum(1, True).log(), (3, 20, 9)",
        "none",
    ),
    "log_softmax": ("lambda x: x.log_softmax(-1), (5, 100)", "softmax=1"),
    "exponentials that are used elsewhere": (
        "lambda x: (x - x.amax(-1, True)).exp() / (x - x.amax(-1, True)).exp().sum(-1, True) "
        "+ (x - x.amax(-1, True)).exp(), (4, 6)",
        "none",
    ),
    "a sum of other rows": ("lambda x: (x - x.amax(-1, True)).exp() / x.exp().sum(-1, True), (4, 6)", "none"),
    "layer norm": ("lambda x, w, b: F.layer_norm(x, (70,), w, b), (3, 5, 70), (70,), (70,)", "norm=1"),
    "layer norm of one row": (
        "lambda x, w, b: F.layer_norm(x, (70,), w, b), (1, 70), (70,), (70,)",
        "norm=1",
    ),
    "layer norm over two dimensions": (
        "lambda x, w, b: F.layer_norm(x, (4, 6), w, b), (3, 5, 4, 6), (4, 6), (4, 6)",
        "norm=1",
    ),
    "layer norm without a shift": ("lambda x, w: F.layer_norm(x, (6,), w), (4, 6), (6,)", "norm=1"),
    "layer norm by a root": (
        "lambda x: (x - x.mean(-1, True)) / (x.var(-1, keepdim=True, correction=0) + 1e-3).sqrt(), (4, 6)",
        "norm=1",
    ),
    "a root before the addition": (
        "lambda x: (x - x.mean(-1, True)) / (x.var(-1, keepdim=True, correction=0).sqrt() + 1e-3), (4, 6)",
        "none",
    ),
    "a variance of one less": (
        "lambda x: (x - x.mean(-1, True)) / (x.var(-1, keepdim=True) + 1e-3).sqrt(), (4, 6)",
        "none",
    ),
    "RMS norm": ("lambda x, w: F.rms_norm(x, (60,), w, 1e-6), (4, 3, 60), (60,)", "norm=1"),
    "RMS norm as Llama's": (
        "lambda x, w: w * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)), (4, 3, 60), (60,)",
        "norm=1",
    ),
    "gelu": ("F.gelu, torch.linspace(-9, 9, 50)", "gelu=1"),
    "gelu in f64": ("F.gelu, torch.linspace(-9, 9, 50).double()", "gelu=1"),
    "gelu in bf16": ("F.gelu, torch.linspace(-9, 9, 50).bfloat16()", "gelu=1 narrow=1"),
    "gelu by tanh": ("lambda x: F.gelu(x, approximate='tanh'), torch.linspace(-9, 9, 50)", "gelu=1"),
    "gelu by tanh with a power": (
        "lambda x: 0.5 * x * (1 + torch.tanh(0.7978845608028654 * (x + 0.044715 * x ** 3))), (4, 60)",
        "gelu=1",
    ),
    "gelu by erf of a product": (
        "lambda x, y: x * y * 0.5 * (1 + torch.erf(x * y / 2 ** 0.5)), (4, 60), (4, 60)",
        "gelu=1",
    ),
    "another factor of erf": ("lambda x: x * 0.5 * (1 + torch.erf(x * 0.7)), (4, 60)", "erf=1"),
    "another factor of tanh": (
        "lambda x: 0.5 * x * (1 + torch.tanh(0.8 * (x + 0.044715 * x * x * x))), (4, 60)",
        "none",
    ),
    "the gate of another value": (
        "lambda x, y: y * 0.5 * (1 + torch.erf(x * 0.7071067811865476)), (4, 60), (4, 60)",
        "erf=1",
    ),
    "erf": ("torch.erf, torch.linspace(-5, 5, 60)", "erf=1"),
    "linear": ("F.linear, (5, 40), (30, 40), (30,)", "dot=1"),
    "linear in f64": (
        "lambda *a: F.linear(*[each.double() for each in a]), (5, 40), (30, 40), (30,)",
        "dot=1",
    ),
    "linear in bf16": (
        "lambda *a: F.relu(F.linear(*a)), bf16(5, 40), bf16(30, 40), bf16(30)",
        "dot=1",
    ),
    "linear and gelu in f16": (
        "lambda *a: F.gelu(F.linear(*a)), f16(5, 41), f16(64, 41), f16(64)",
        "gelu=1 narrow=1 dot=1",
    ),
    "a residual in bf16": ("lambda x, w, y: y + x @ w, bf16(1, 41), bf16(41, 30), bf16(1, 30)", "dot=1"),
    "linear in bf16 and a residual in f32": (
        "lambda x, w, y: y + F.linear(x, w).to(y.dtype), bf16(5, 40), bf16(30, 40), (5, 30)",
        "none",
    ),
    "linear of one row": (
        "lambda x, w, b, y: F.linear(x, w, b) + y, (1, 40), (30, 40), (30,), (1, 30)",
        "dot=1",
    ),
    "linear of rows of three dimensions": ("F.linear, (2, 5, 40), (33, 40), (33,)", "dot=1"),
    "linear and gelu": ("lambda *a: F.gelu(F.linear(*a)), (5, 40), (64, 40), (64,)", "gelu=1 dot=1"),
    "linear and silu": ("lambda *a: F.silu(F.linear(*a)), (5, 40), (30, 40), (30,)", "silu=1 dot=1"),
    "linear and relu": ("lambda *a: F.relu(F.linear(*a)), (5, 40), (30, 40), (30,)", "dot=1"),
    "two biases": (
        "lambda x, w, b, c: torch.relu(x @ w + b + c), (5, 40), (40, 30), (30,), (1, 30)",
        "dot=1",
    ),
    "two biases of another shape, and a residual": (
        "lambda x, w, b, c, r: (x @ w + b).view(2, 3, 5, 6) + c + r, "
        "(2, 3, 40), (40, 30), (30,), (5, 6), (2, 3, 5, 6)",
        "dot=1",
    ),
    "two biases in bf16": (
        "lambda x, w, b, c: x @ w + b + c, bf16(5, 40), bf16(40, 30), bf16(30), bf16(30)",
        "dot=1",
    ),
    "linear and a residual": (
        "lambda x, w, b, y: F.relu(y + F.linear(x, w, b)), (5, 40), (30, 40), (30,), (5, 30)",
        "dot=1",
    ),
    "addmm": ("lambda b, x, w: torch.addmm(b, x, w).reshape(1, 5, 30), (30,), (5, 40), (40, 30)", "dot=1"),
    "a residual behind an activation": (
        "lambda x, w, y: F.relu(x @ w) + y, (5, 40), (40, 30), (5, 30)",
        "dot=1",
    ),
    "batches of products": ("lambda x, w, y: x @ w + y, (3, 5, 40), (3, 40, 30), (3, 5, 30)", "dot=1"),
    "a result that is used twice": (
        "lambda x, w, b: torch.tanh(F.linear(x, w)) * F.linear(x, w), (5, 40), (30, 40), (30,)",
        "none",
    ),
    "a product that is added to itself": ("lambda x, w: x @ w + x @ w, (5, 40), (40, 30)", "none"),
    "a bias of rows": ("lambda x, w, b: x @ w + b, (5, 40), (40, 30), (5, 1)", "dot=1"),
    "a vector's product": ("lambda x, w, b: x @ w + b, (5, 40), (40,), (5,)", "none"),
    "a product of nothing": ("lambda x, w, b: x @ w + b, (5, 0), (0, 30), (30,)", "none"),
    "attention": ("F.scaled_dot_product_attention, (2, 4, 9, 16), (2, 4, 9, 16), (2, 4, 9, 16)", ATTENTION),
    "attention of long rows": (
        "F.scaled_dot_product_attention, (1, 2, 130, 64), (1, 2, 150, 64), (1, 2, 150, 64)",
        ATTENTION,
    ),
    "values of another size": (
        "F.scaled_dot_product_attention, (2, 4, 9, 16), (2, 4, 11, 16), (2, 4, 11, 5)",
        ATTENTION,
    ),
    "self-attention": ("lambda x: F.scaled_dot_product_attention(x, x, x), (2, 3, 9, 16)", ATTENTION),
    "self-attention of heads by strides": (
        "lambda x: F.scaled_dot_product_attention(*[each.view(2, 9, 3, 8).transpose(1, 2) "
        "for each in x.chunk(3, -1)]).transpose(1, 2).reshape(2, 9, 24), (2, 9, 72)",
        ATTENTION,
    ),
    "causal attention": (
        "lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), *[(2, 4, 40, 16)] * 3",
        CAUSAL,
    ),
    "causal attention of fewer queries than keys": (
        "lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), "
        "(2, 4, 9, 16), (2, 4, 150, 16), (2, 4, 150, 16)",
        CAUSAL,
    ),
    "a causal mask of places": (
        "lambda q, k, v: F.scaled_dot_product_attention(q, k, v, (torch.arange(140)[None] <= "
        "torch.arange(70)[:, None] + 70)[None, None]), (2, 4, 70, 16), (2, 4, 140, 16), (2, 4, 140, 16)",
        ATTENTION,  # the comparison of aranges is read as a mask
    ),
    "a causal mask that is added": (
        "lambda q, k, v: (q @ k.mT / 4 + torch.full((70, 70), -torch.inf).triu(1)).softmax(-1) @ v, "
        "*[(3, 70, 16)] * 3",
        CAUSAL,
    ),
    "keys that are left out by a finite score": (
        "lambda q, k, v: (q @ k.mT / 4).masked_fill(torch.arange(70)[None] > torch.arange(70)[:, None], "
        "torch.finfo(torch.float32).min).softmax(-1) @ v, *[(3, 70, 16)] * 3",
        ATTENTION,  # the comparison of aranges is read as a mask
    ),
    "a finite score in rows that see nothing": (
        "lambda q, k, v: (q @ k.mT / 4).masked_fill(torch.arange(70)[None] >= torch.arange(70)[:, None], "
        "torch.finfo(torch.float32).min).softmax(-1) @ v, *[(3, 70, 16)] * 3",
        ATTENTION,
    ),
    "a mask of earlier keys": (
        "lambda q, k, v: F.scaled_dot_product_attention(q, k, v, torch.arange(70)[None] >= "
        "torch.arange(70)[:, None]), *[(2, 4, 70, 16)] * 3",
        ATTENTION,
    ),
    "a mask of every second place": (
        "lambda q, k, v: F.scaled_dot_product_attention(q, k, v, torch.arange(70)[None] * 2 <= "
        "torch.arange(70)[:, None]), *[(2, 4, 70, 16)] * 3",
        ATTENTION,
    ),
    "a mask of a window": (
        "lambda q, k, v: F.scaled_dot_product_attention(q, k, v, (torch.arange(170)[None] <= "
        "torch.arange(170)[:, None]) & (torch.arange(170)[None] > torch.arange(170)[:, None] - 5)), "
        "*[(2, 4, 170, 16)] * 3",
        ATTENTION,
    ),
    "a mask that is added": (
        "F.scaled_dot_product_attention, *[(2, 4, 9, 16)] * 3, (2, 1, 9, 9)",
        ATTENTION,
    ),
    "a boolean mask with rows that see nothing": (
        "F.scaled_dot_product_attention, *[(2, 4, 9, 16)] * 3, torch.arange(81).reshape(9, 9) % 7 > "
        "torch.arange(9)[:, None]",
        ATTENTION,
    ),
    "one query and a cache": (
        "lambda q, k, v, n: F.scaled_dot_product_attention(q, k, v, (torch.arange(33) <= n)[None, None]), "
        "(1, 4, 1, 16), (1, 4, 33, 16), (1, 4, 33, 16), torch.tensor([20])",
        ATTENTION,
    ),
    "attention in batches alone": (
        "lambda q, k, v: (q @ k.transpose(1, 2) / 4).softmax(-1) @ v, *[(3, 9, 16)] * 3",
        ATTENTION,
    ),
    "attention without batches": (
        "lambda q, k, v: (q @ k.T * 0.25).softmax(-1) @ v, *[(9, 16)] * 3",
        ATTENTION,
    ),
    "masked_fill with a finite score": (
        "lambda q, k, v, m: (q @ k.transpose(1, 2) / 4).masked_fill(m, torch.finfo(torch.float32).min)"
        ".softmax(-1) @ v, *[(3, 9, 16)] * 3, torch.arange(81).reshape(9, 9) % 7 < torch.arange(9)[:, None]",
        ATTENTION,
    ),
    "keys that serve several heads": (
        "lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True), (2, 8, 9, 16), "
        "(2, 2, 11, 16), (2, 2, 11, 5)",
        ATTENTION,
    ),
    "causal attention with keys that serve several heads": (
        "lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True), "
        "(2, 8, 70, 16), (2, 2, 70, 16), (2, 2, 70, 16)",
        CAUSAL,
    ),
    "one query and a cache of fewer heads": (
        "lambda q, k, v, n: F.scaled_dot_product_attention(q, k, v, (torch.arange(33) <= n)[None, None], "
        "enable_gqa=True), (1, 12, 1, 16), (1, 4, 33, 16), (1, 4, 33, 16), torch.tensor([20])",
        ATTENTION,
    ),
    "keys that are repeated by expand": (
        "lambda q, k, v: (q @ repeated(k, 4).mT * 0.25).softmax(-1) @ repeated(v, 4), (2, 8, 9, 16), "
        "*[(2, 2, 9, 16)] * 2",
        ATTENTION,
    ),
    "keys that serve every second head": (
        "lambda q, k, v: (q @ k.repeat(1, 4, 1, 1).mT * 0.25).softmax(-1) @ v.repeat(1, 4, 1, 1), "
        "(2, 8, 9, 16), *[(2, 2, 9, 16)] * 2",
        ATTENTION,
    ),
    "a score that is not low enough for keys that serve several heads": (
        "lambda q, k, v, m: (q @ repeated(k, 4).mT).masked_fill(m, -1e4).softmax(-1) @ repeated(v, 4), "
        "(2, 8, 9, 16), *[(2, 2, 9, 16)] * 2, torch.arange(81).reshape(9, 9) % 7 < torch.arange(9)[:, None]",
        "softmax=1",
    ),
    "a bias of heads and a mask of windows": (
        "lambda q, k, v, b, m: ((q @ k.mT / 4 + b).view(2, 3, 2, 9, 9) + m[None, :, None]).view(6, 2, 9, 9)"
        ".softmax(-1) @ v, *[(6, 2, 9, 16)] * 3, (1, 2, 9, 9), (3, 9, 9)",
        ATTENTION,
    ),
    "a bias that is a product": (
        "lambda q, k, v, a, b: (a @ b + q @ k.mT / 4).softmax(-1) @ v, *[(2, 9, 16)] * 3, (2, 9, 4), "
        "(2, 4, 9)",
        ATTENTION,
    ),
    "a bias that is added where a mask chooses": (
        "lambda q, k, v, b, m: (q @ k.mT / 4 + b).masked_fill(m, -torch.inf).softmax(-1) @ v, "
        "*[(3, 9, 16)] * 3, (9, 9), torch.arange(81).reshape(9, 9) % 7 == 3",
        "softmax=1",
    ),
    "scores that are bounded": (
        "lambda q, k, v, m: (torch.tanh(q @ k.mT / 4 / 5) * 5 + m).softmax(-1) @ v, *[(3, 9, 16)] * 3, "
        "(9, 9)",
        ATTENTION,
    ),
    "a mask in front of the bound": (
        "lambda q, k, v, m: (torch.tanh((q @ k.mT / 4 + m) / 5) * 5).softmax(-1) @ v, *[(3, 9, 16)] * 3, "
        "(9, 9)",
        "softmax=1",
    ),
    "a bound of a bound": (
        "lambda q, k, v: (torch.tanh(torch.tanh(q @ k.mT / 4) * 3) * 5).softmax(-1) @ v, *[(3, 9, 16)] * 3",
        "softmax=1",
    ),
    "a score that is not low enough": (
        "lambda q, k, v, m: (q @ k.transpose(1, 2) / 4).masked_fill(m, -1e4).softmax(-1) @ v, "
        "*[(3, 9, 16)] * 3, torch.arange(81).reshape(9, 9) % 7 < torch.arange(9)[:, None]",
        "softmax=1",
    ),
    "weights that are used elsewhere": (
        "lambda q, k, v: ((q @ k.mT).softmax(-1) @ v).sum() + (q @ k.mT).softmax(-1), *[(3, 9, 16)] * 3",
        "softmax=1",
    ),
    "a scale behind the mask": (
        "lambda q, k, v, m: ((q @ k.transpose(1, 2) + m) / 4).softmax(-1) @ v, *[(3, 9, 16)] * 3, (9, 9)",
        "softmax=1 dot=1",
    ),
    "attention in f64": (
        "lambda q, k, v: F.scaled_dot_product_attention(q.double(), k.double(), v.double()), "
        "*[(2, 4, 9, 16)] * 3",
        "softmax=1",
    ),
    "a sum over the queries": (
        "lambda q, k, v: (q @ k.transpose(1, 2)).softmax(-1).transpose(1, 2) @ v, *[(3, 9, 16)] * 3",
        "softmax=1",
    ),
    "a transformer's block": (
        "lambda x, *w: block(x, *[each / 5 for each in w]), (2, 19, 32), (96, 32), (96,), (32, 32), (32,), "
        "(64, 32), (64,), (32, 64), (32,)",
        "softmax=1 attention=1 norm=2 gelu=1 dot=4",
    ),
    "group norm": ("lambda x, w, b: F.group_norm(x, 2, w, b), (2, 6, 5, 7), (6,), (6,)", "norm=1"),
    "rotary embedding": (
        "lambda x, c, s: x * c + turned(x) * s, (2, 3, 9, 16), (9, 16), (9, 16)",
        "rotary=1",
    ),
    "rotary embedding, the other way round": (
        "lambda x, c, s: s * turned(x) + c * x, (2, 3, 9, 16), (1, 1, 9, 16), (1, 1, 9, 16)",
        "rotary=1",
    ),
    "the same angles for queries and keys": (
        "lambda q, k, c, s: (q * c + turned(q) * s).sum(-1) + (k * c + turned(k) * s).sum(-1), "
        "*[(2, 3, 9, 16)] * 2, (9, 16), (9, 16)",
        "rotary=2",
    ),
    "sines of one for all": ("lambda x, c, s: x * c + turned(x) * s, (9, 16), (9, 16), (9, 1)", "rotary=1"),
    "another sign": (
        "lambda x, c, s: x * c + torch.cat([x[..., 8:], -x[..., :8]], -1) * s, *[(9, 16)] * 3",
        "none",
    ),
    "halves that stay": (
        "lambda x, c, s: x * c + torch.cat([-x[..., :8], x[..., 8:]], -1) * s, *[(9, 16)] * 3",
        "none",
    ),
    "halves of another value": ("lambda x, y, c, s: x * c + turned(y) * s, *[(9, 16)] * 4", "none"),
    "parts that are no halves": (
        "lambda x, c, s: x * c + torch.cat([-x[..., 6:], x[..., :6]], -1) * s, *[(9, 16)] * 3",
        "none",
    ),
    "turned halves that are used elsewhere": (
        "lambda x, c, s: (lambda y: x * c + y * s + y.exp())(turned(x)), *[(9, 16)] * 3",
        "none",
    ),
    "products with what is given in each call": (
        "lambda x, q, k, v: F.scaled_dot_product_attention(x @ q, x @ k, x @ v), (2, 9, 16), *[(16, 16)] * 3",
        ATTENTION,
    ),
}

WEIGHTS = """
class Layers(torch.nn.Module):
    def __init__(self, function, **layers):
        super().__init__()
        self.function = function
        for name, layer in layers.items():
            if isinstance(layer, torch.Tensor):
                self.register_buffer(name, layer)
            else:
                setattr(self, name, layer)
    def forward(self, *args):
        return self.function(self, *args)

def linear(width, columns, bias=True):
    return torch.nn.Linear(width, columns, bias)

def heads(x, count):
    return x.unflatten(-1, (count, -1)).transpose(1, 2)

def attend(m, x):
    q, k, v = (heads(each(x), 4) for each in (m.q, m.k, m.v))
    return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)

def grouped(m, x):
    q, k, v = heads(m.q(x), 4), heads(m.k(x), 2), heads(m.v(x), 2)
    return F.scaled_dot_product_attention(q, k, v, enable_gqa=True).transpose(1, 2).flatten(2)

def check(name, function, layers, *args):
    torch.manual_seed(0)
    args = [torch.randn(arg) if isinstance(arg, tuple) else arg for arg in args]
    model = Layers(function, **layers()).eval()
    with torch.no_grad():
        expected, exact = model(*args), model.double()(*[arg.double() for arg in args])
    print("case", name, file=sys.stderr, flush=True)
    program = torchere.export(model.float(), tuple(args))
    for _ in range(3):
        result = program(*args)
        scale = exact.abs().max()
        error, eager = ((each.double() - exact).abs().max() / scale for each in (result, expected))
        assert error <= max(5e-6, 3 * eager), (name, error, eager)
"""

QKV = "lambda: dict(q=linear(32, 32), k=linear(32, 32), v=linear(32, 32))"

#: Of a module's weights, which are marked.
WEIGHT_CASES = {
    "queries, keys and values": (f"attend, {QKV}, (2, 9, 32)", f"{ATTENTION} sibling_dots=1 dot=1"),
    "keys without a bias": (
        "attend, lambda: dict(q=linear(32, 32), k=linear(32, 32, False), v=linear(32, 32)), (2, 9, 32)",
        f"{ATTENTION} sibling_dots=1 dot=1",
    ),
    "keys that serve several heads": (
        "grouped, lambda: dict(q=linear(32, 32, False), k=linear(32, 16, False), v=linear(32, 16, False)), "
        "(2, 9, 32)",
        f"{ATTENTION} sibling_dots=1",
    ),
    "keys of another operand": (
        "lambda m, x, y: F.scaled_dot_product_attention(m.q(x), m.k(y), m.v(y)), "
        f"{QKV}, (2, 9, 32), (2, 9, 32)",
        f"{ATTENTION} sibling_dots=1 dot=2",
    ),
    "a gate of SiLU": (
        "lambda m, x: m.down(F.silu(m.gate(x)) * m.up(x)), "
        "lambda: dict(gate=linear(32, 48, False), up=linear(32, 48, False), down=linear(48, 32)), (2, 9, 32)",
        "silu=1 sibling_dots=1 dot=1",
    ),
    "the same activation of both": (
        "lambda m, x: (lambda a, b: m.c(a) + m.d(b))(F.relu(m.a(x)), F.relu(m.b(x))), lambda: "
        "dict(a=linear(32, 48), b=linear(32, 64), c=linear(48, 32), d=linear(64, 32)), (9, 32)",
        "sibling_dots=1 dot=3",
    ),
    "several activations": (
        "lambda m, x: (lambda a, b: m.c(a) + m.d(b))(F.relu(m.a(x)), F.gelu(m.b(x))), lambda: "
        "dict(a=linear(32, 48), b=linear(32, 64), c=linear(48, 32), d=linear(64, 32)), (9, 32)",
        "gelu=1 dot=4",
    ),
    "weights that are computed from weights": (
        "lambda m, x: (x @ m.a) * (x @ (m.b * 2 + 1)), "
        "lambda: dict(a=torch.randn(32, 48), b=torch.randn(32, 48)), (9, 32)",
        "sibling_dots=1",
    ),
    "weights that lie in another order": (
        "lambda m, x: (x @ m.a) * F.linear(x, m.b), "
        "lambda: dict(a=torch.randn(32, 48), b=torch.randn(48, 32)), (9, 32)",
        "none",
    ),
    "a weight that a call gives": (
        "lambda m, x, w: m.a(x) * m.b(x) * (x @ w.T), lambda: dict(a=linear(32, 48), b=linear(32, 48)), "
        "(9, 32), (48, 32)",
        "sibling_dots=1 dot=1",
    ),
    "a bias that a call gives": (
        "lambda m, x, b: m.a(x) * F.linear(x, m.b, b), "
        "lambda: dict(a=linear(32, 48), b=torch.randn(48, 32)), (9, 32), (48,)",
        "dot=2",
    ),
    "a product of another operand between them": (
        "lambda m, x: m.c(m.a(x)) + m.d(m.b(x)), lambda: dict(a=linear(32, 48), b=linear(32, 64), "
        "c=linear(48, 32), d=linear(64, 32)), (9, 32)",
        "dot=4",
    ),
    "a residual": (
        "lambda m, x, y: F.relu(m.a(x) + y) * m.b(x), lambda: dict(a=linear(32, 48), b=linear(32, 48)), "
        "(9, 32), (9, 48)",
        "dot=2",
    ),
    "results of the program": (
        "lambda m, x: torch.cat([m.a(x), m.b(x)]), lambda: dict(a=linear(32, 48), b=linear(32, 48)), (9, 32)",
        "dot=2",
    ),
    "a norm that reads rows": (
        "lambda m, x: F.layer_norm(m.a(x), (48,)) * m.b(x), "
        "lambda: dict(a=linear(32, 48), b=linear(32, 48)), (9, 32)",
        "norm=1 dot=2",
    ),
    "rows that are read as one": (
        "lambda m, x: m.a(x).reshape(6, 72).tanh().sum() + m.b(x), "
        "lambda: dict(a=linear(32, 48), b=linear(32, 48)), (9, 32)",
        "dot=2",
    ),
    "the same weights twice": (
        "lambda m, x, y: m.a(x) * m.b(x) + m.a(y) * m.b(y), "
        "lambda: dict(a=linear(32, 48), b=linear(32, 48)), (9, 32), (9, 32)",
        "sibling_dots=2 dot=2",
    ),
    "a weight that a call writes": (
        "lambda m, x: (m.b.clamp_(-9, 9), F.linear(x, m.a) * F.linear(x, m.b))[1], "
        "lambda: dict(a=torch.randn(48, 32), b=torch.randn(48, 32)), (9, 32)",
        "none",
    ),
}


@pytest.fixture(scope="module")
def torch_log():
    return log_of(run, TORCH, TORCH_CASES)


@pytest.fixture(scope="module")
def weight_log():
    return log_of(run, TORCH + WEIGHTS, WEIGHT_CASES)


@pytest.mark.parametrize("name", TORCH_CASES)
def test_forms_of_the_exporter(torch_log, name):
    assert torch_log[name] == TORCH_CASES[name][1]


@pytest.mark.parametrize("name", WEIGHT_CASES)
def test_products_with_weights(weight_log, name):
    assert weight_log[name] == WEIGHT_CASES[name][1]

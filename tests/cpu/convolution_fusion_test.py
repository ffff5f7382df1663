"""Convolutions on the CPU engine: what is fused into them and laid out in blocks, by the names in the log,
beside eager's results, and the forms that must not be fused."""

from __future__ import annotations

import re

import pytest
from engine_test import run
from fusion_log import run_jax

BEGINNING = """
import sys
import torch, torchere
from torch import nn
from torch.nn import functional as F

class Model(nn.Module):
    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)
    def forward(self, *args):
        return self.function(self, *args)

def norm(channels):
    made = nn.BatchNorm2d(channels)
    with torch.no_grad():
        for values, low, high in ((made.running_mean, -1, 1), (made.running_var, 0.5, 2),
                                  (made.weight, 0.5, 1.5), (made.bias, -1, 1)):
            values.uniform_(low, high)
    return made

def conv(*args, **kwargs):
    return nn.Conv2d(*args, bias=kwargs.pop("bias", False), **kwargs)

def check(name, model, *shapes):
    torch.manual_seed(0)
    args = [torch.randn(shape) if isinstance(shape, tuple) else shape for shape in shapes]
    model = model.eval()
    with torch.no_grad():
        expected = model(*args)
        exact = model.double()(*[arg.double() for arg in args])
    model = model.float()
    print("case", name, file=sys.stderr, flush=True)
    program = torchere.export(model, tuple(args))
    for _ in range(3):  # weights are packed by the second call
        result = program(*args)
        scale = exact.abs().max()
        assert result.shape == expected.shape
        error = (result.double() - exact).abs().max() / scale
        assert error <= 5e-6, (name, error)

class Block(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.first = nn.Sequential(conv(before, after, 3, stride, 1), norm(after), nn.ReLU())
        self.second = nn.Sequential(conv(after, after, 3, 1, 1), norm(after))
        self.shortcut = nn.Identity()
        if stride != 1:
            self.shortcut = nn.Sequential(conv(before, after, 1, stride), norm(after))
    def forward(self, x):
        return F.relu(self.second(self.first(x)) + self.shortcut(x))

class Gate(nn.Module):
    def __init__(self, channels, middle, last):
        super().__init__()
        self.layers = nn.Sequential(nn.AdaptiveAvgPool2d(1), conv(channels, middle, 1, bias=True), nn.ReLU(),
                                    conv(middle, channels, 1, bias=True), last)
    def forward(self, x):
        return x * self.layers(x)

def inverted(before, middle, after, kernel, activation, gate):
    return nn.Sequential(
        conv(before, middle, 1), norm(middle), activation(),
        conv(middle, middle, kernel, 1, kernel // 2, groups=middle), norm(middle), activation(),
        Gate(middle, 8, gate), conv(middle, after, 1), norm(after))

class ChannelNorm(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)

class ConvNext(nn.Module):
    def __init__(self, channels, gelu="none"):
        super().__init__()
        self.depthwise = conv(channels, channels, 7, 1, 3, groups=channels, bias=True)
        self.norm = nn.LayerNorm(channels, eps=1e-6)
        self.rows = nn.Sequential(nn.Linear(channels, 4 * channels), nn.GELU(gelu),
                                  nn.Linear(4 * channels, channels))
        self.scale = nn.Parameter(torch.rand(channels, 1, 1))
    def forward(self, x):
        y = self.rows(self.norm(self.depthwise(x).permute(0, 2, 3, 1)))
        return x + self.scale * y.permute(0, 3, 1, 2)

class Sum(nn.Module):
    def __init__(self, *terms):
        super().__init__()
        self.terms = nn.ModuleList(terms)
    def forward(self, x):
        first, *others = (term(x) for term in self.terms)
        return sum(others, first)

def dense(x, layers):
    for layer in layers:
        x = torch.cat([x, layer(x)], 1)
    return x
torch.manual_seed(0)
"""

#: By name: the arguments of check() without it, and what the log says of kernels on blocks.
CASES = {
    "alone": ("conv(32, 16, 3), (2, 32, 8, 9)", "direct=1 from_blocked=1 to_blocked=1"),
    "planes that lie apart": (
        "nn.Sequential(conv(256, 264, 1), nn.ReLU(), conv(264, 16, 1)), (1, 256, 32, 32)",
        "direct+relu=1 direct=1 from_blocked=1 to_blocked=1",
    ),
    "bias": ("conv(32, 24, 1, bias=True), (1, 32, 5, 5)", "direct+bias=1 from_blocked=1 to_blocked=1"),
    "first layer": (
        "nn.Sequential(conv(3, 20, 7, 2, 3), norm(20), nn.ReLU()), (2, 3, 20, 22)",
        "from_blocked=1 planar+scale+bias+relu=1",
    ),
    "group norms": (
        "nn.Sequential(conv(8, 32, 3), nn.GroupNorm(4, 32), nn.SiLU(), conv(32, 24, 3, 1, 1),"
        " nn.GroupNorm(1, 24), conv(24, 20, 1), nn.GroupNorm(5, 20, affine=False), nn.ReLU(),"
        " conv(20, 8, 3, 1, 1)), (2, 8, 9, 7)",
        "direct=4 from_blocked=1 group_norm=3 to_blocked=1",
    ),
    "group norms of rows and volumes": (
        "Model(lambda self, x, y: (self.rows(x), self.volumes(y))[0].mean() + self.volumes(y),"
        " rows=nn.Sequential(nn.Conv1d(8, 12, 3), nn.GroupNorm(3, 12), nn.ReLU(), nn.Conv1d(12, 8, 1)),"
        " volumes=nn.Sequential(nn.Conv3d(8, 12, 1), nn.GroupNorm(2, 12), nn.Conv3d(12, 8, 1))),"
        " (2, 8, 14), (1, 8, 3, 4, 5)",
        "direct+bias=4 from_blocked=2 group_norm=2 to_blocked=2",
    ),
    "a group norm and pooling": (
        "Model(lambda self, x: (lambda y: self.last(y + F.avg_pool2d(self.norm(y), 3, 1, 1,"
        " count_include_pad=False) - self.norm(y)))(self.first(x)), first=conv(8, 24, 1),"
        " norm=nn.GroupNorm(1, 24), last=conv(24, 8, 1)), (1, 8, 9, 7)",
        "direct=2 from_blocked=1 group_norm=1 pool=1 to_blocked=1",
    ),
    "a group norm before tokens": (
        "Model(lambda self, x: self.last(self.norm(self.first(x)).flatten(2).transpose(1, 2)),"
        " first=conv(8, 24, 3), norm=nn.GroupNorm(3, 24), last=nn.Linear(24, 8)), (1, 8, 9, 7)",
        "direct=1 dot=1 from_blocked=1 group_norm=1 to_blocked=1",
    ),
    "norms over planes, and such that are no group norms": (
        "nn.Sequential(conv(8, 12, 1), nn.LayerNorm((12, 9, 7)), conv(12, 12, 1),"
        " nn.LayerNorm((9, 7), elementwise_affine=False), conv(12, 12, 1),"
        " nn.LayerNorm(7, elementwise_affine=False), conv(12, 8, 1)), (2, 8, 9, 7)",
        "direct=4 from_blocked=3 group_norm=1 norm=2 to_blocked=3",
    ),
    "a group norm that is used before its factors": (
        "Model(lambda self, x: (lambda y: self.last(y * self.factor) + y.mean())(F.group_norm("
        "self.first(x), 3)), first=conv(8, 24, 3), factor=nn.Parameter(torch.randn(24, 1, 1)),"
        " last=conv(24, 8, 1)), (1, 8, 9, 7)",
        "depthwise=1 direct+bias=1 direct=1 from_blocked=2 group_norm=1 to_blocked=1",
    ),
    "channels joined that are no whole blocks": (
        "Model(lambda self, x: (lambda a, b: self.last(torch.cat((a, b, a[:, 3:9]), 1)[:, 2:27]))("
        "self.a(x), self.b(x)), a=conv(8, 13, 1), b=conv(8, 20, 3, 1, 1), last=conv(25, 8, 3, 1, 1)),"
        " (2, 8, 9, 7)",
        "choose_channels=1 direct=3 from_blocked=1 to_blocked=1",
    ),
    "shuffled channels": (
        "Model(lambda self, x: (lambda a, b: self.last(F.channel_shuffle(torch.cat((a, b), 1), 2)[:, :26]))("
        "self.a(x), self.b(x)), a=conv(8, 26, 1), b=conv(8, 26, 3, 1, 1), last=conv(26, 8, 3, 1, 1)),"
        " (2, 8, 9, 7)",
        "choose_channels=1 direct=3 from_blocked=1 to_blocked=1",
    ),
    "dimensions that change places and are no channels": (
        "Model(lambda self, x: self.last(self.first(x).reshape(2, 24, 2, 3, 7).transpose(2, 3)"
        ".reshape(2, 24, 6, 7)), first=conv(8, 24, 1), last=conv(24, 8, 1)), (2, 8, 6, 7)",
        "direct=2 from_blocked=2 to_blocked=2",
    ),
    "pixels that lie apart": (
        "nn.Sequential(conv(8, 24, 1), nn.AvgPool2d(1, 2), conv(24, 8, 1)), (2, 8, 9, 7)",
        "direct=2 from_blocked=1 pool=1 to_blocked=1",
    ),
    "norm without factors": (
        "nn.Sequential(conv(8, 16, 3), nn.BatchNorm2d(16, affine=False)), (1, 8, 6, 6)",
        "direct+scale+bias=1 from_blocked=1 to_blocked=1",
    ),
    "bias and norm": (
        "nn.Sequential(conv(8, 16, 3, bias=True), norm(16)), (1, 8, 6, 6)",
        "direct+scale+bias=1 from_blocked=1 to_blocked=1",
    ),
    "activations": (
        "nn.Sequential(*[layer for activation in (nn.ReLU, nn.ReLU6, nn.SiLU, nn.Sigmoid, nn.Tanh,"
        " nn.Hardswish, nn.Hardsigmoid) for layer in (conv(16, 16, 1), activation())]), (1, 16, 6, 6)",
        "direct+hard_sigmoid=1 direct+hard_swish=1 direct+relu6=1 direct+relu=1 direct+sigmoid=1 "
        "direct+silu=1 direct+tanh=1 from_blocked=1 to_blocked=1",
    ),
    "clamps": (
        "nn.Sequential(conv(16, 16, 1), nn.Hardtanh(0, 6), conv(16, 16, 1), nn.Hardtanh(0, 5),"
        " conv(16, 16, 1), nn.Hardtanh(-1, 6)), (1, 16, 6, 6)",
        "direct+relu6=1 direct=1 from_blocked=1 to_blocked=1 direct+relu=1",
    ),
    "residual blocks": (
        "nn.Sequential(conv(3, 16, 3, 2, 1), norm(16), nn.ReLU(), nn.MaxPool2d(3, 2, 1), Block(16, 16, 1),"
        " Block(16, 40, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(40, 10)), (2, 3, 40, 44)",
        "direct+scale+bias+relu=2 direct+scale+bias+residual+relu=2 direct+scale+bias=1 dot=1 "
        "global_average=1 planar+scale+bias+relu=1 pool=1",
    ),
    "gates": (
        "nn.Sequential(conv(3, 16, 3, 2, 1), norm(16), nn.Hardswish(),"
        " inverted(16, 40, 24, 5, nn.Hardswish, nn.Hardsigmoid()),"
        " inverted(24, 72, 24, 3, nn.SiLU, nn.Sigmoid()),"
        " nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 10)), (2, 3, 32, 32)",
        "depthwise+scale+bias+hard_swish=1 depthwise+scale+bias+silu=1 direct+bias+hard_sigmoid=1 "
        "direct+bias+relu=2 direct+bias+sigmoid=1 direct+scale+bias+hard_swish=1 direct+scale+bias+silu=1 "
        "direct+scale+bias=2 dot=1 global_average=3 planar+scale+bias+hard_swish=1",
    ),
    "dense blocks": (
        "Model(lambda self, x: self.tail(dense(self.stem(x), self.layers)), stem=conv(3, 16, 3, 1, 1),"
        " layers=nn.ModuleList([nn.Sequential(norm(16 + 16 * i), nn.ReLU(), conv(16 + 16 * i, 16, 3, 1, 1))"
        " for i in range(3)]), tail=nn.Sequential(norm(64), nn.ReLU(), conv(64, 16, 1), nn.AvgPool2d(2, 2))),"
        " (1, 3, 12, 12)",
        "depthwise+bias+relu=4 direct=4 from_blocked=1 planar=1 pool=1",
    ),
    "factors of a value that is used twice": (
        "Model(lambda self, x: (lambda y: self.last(self.norm(y)) + y)(self.first(x)),"
        " first=conv(8, 20, 1), norm=nn.Sequential(norm(20), nn.ReLU()), last=conv(20, 20, 3, padding=1)),"
        " (2, 8, 6, 6)",
        "depthwise+bias+relu=1 direct+residual=1 direct=1 from_blocked=1 to_blocked=1",
    ),
    "concatenation of odd channels": (
        "Model(lambda self, x: self.last(torch.cat([self.first(x), self.second(x)], 1)), "
        " first=conv(8, 18, 1), second=conv(8, 14, 1), last=conv(32, 8, 1)), (1, 8, 6, 6)",
        "choose_channels=1 direct=3 from_blocked=1 to_blocked=1",
    ),
    "elementwise between": (
        "Model(lambda self, x: self.last((self.first(x) + 0.5).exp() * 0.01 + self.second(x).abs()),"
        " first=conv(8, 20, 1), second=conv(8, 20, 1), last=conv(20, 8, 3, padding=1)), (1, 8, 6, 6)",
        "direct+bias=1 direct=2 from_blocked=1 to_blocked=1",
    ),
    "a value that is used twice": (
        "Model(lambda self, x: (lambda y: y.relu() + y)(self.first(x)), first=conv(8, 16, 1)), (1, 8, 6, 6)",
        "direct=1 from_blocked=1 to_blocked=1",
    ),
    "a factor of the data": (
        "Model(lambda self, x, y: self.first(x) * y.exp()[None, :, None, None], first=conv(8, 16, 1)),"
        " (1, 8, 6, 6), (16,)",
        "direct=1 from_blocked=1 to_blocked=1",
    ),
    "winograd": (
        "nn.Sequential(conv(32, 32, 3, 1, 1), norm(32), nn.ReLU(), conv(32, 48, 3, 1, 1)), (1, 32, 20, 18)",
        "from_blocked=1 to_blocked=1 winograd+scale+bias+relu=1 winograd=1",
    ),
    "strides, dilation, padding": (
        "nn.Sequential(conv(8, 16, (3, 5), (2, 1), (0, 3), (1, 2)), nn.ReLU(),"
        " conv(16, 8, 3, padding=4, dilation=4)), (1, 8, 13, 14)",
        "direct+relu=1 direct=1 from_blocked=1 to_blocked=1",
    ),
    "one tap with a dilation": (
        "nn.Sequential(conv(8, 16, 3, padding=1), nn.ReLU(), conv(16, 24, 1, dilation=2)), (1, 8, 13, 14)",
        "direct+relu=1 direct=1 from_blocked=1 to_blocked=1",
    ),
    "transposed": (
        "nn.Sequential(conv(3, 40, 3, 2, 1), nn.ConvTranspose2d(40, 20, 2, 2), norm(20), nn.ReLU(),"
        " conv(20, 16, 3, 1, 1), nn.ConvTranspose2d(16, 8, (3, 2), (3, 2), bias=False)), (2, 3, 18, 22)",
        "direct=1 from_blocked=1 planar=1 transposed+scale+bias+relu=1 transposed=1",
    ),
    "transposed, joined": (
        "Model(lambda self, x: (lambda y: self.last(torch.cat([y, self.up(F.max_pool2d(y, 2))], 1)))"
        "(self.first(x)), first=conv(3, 16, 3, 1, 1), up=nn.ConvTranspose2d(16, 16, 2, 2),"
        " last=conv(32, 8, 3, 1, 1)), (1, 3, 12, 16)",
        "direct=1 from_blocked=1 planar=1 pool=1 transposed+bias=1",
    ),
    "upsampled, joined": (
        "Model(lambda self, x: (lambda y: self.last(torch.cat([self.up(F.max_pool2d(y, 2)), y], 1)))"
        "(self.first(x)), up=nn.Upsample(scale_factor=2), first=conv(3, 16, 3, 1, 1),"
        " last=conv(32, 8, 3, 1, 1)), (1, 3, 12, 16)",
        "direct=1 from_blocked=1 planar=1 pool=1 upsample=1",
    ),
    "upsampled by several factors": (
        "nn.Sequential(conv(8, 20, 1), nn.Upsample(scale_factor=(3, 1)), conv(20, 16, 3), nn.SiLU(),"
        " nn.Upsample(size=(14, 8)), conv(16, 8, 3, 1, 1)), (2, 8, 3, 6)",
        "direct+silu=1 direct=2 from_blocked=1 to_blocked=1 upsample=2",
    ),
    "upsampled by half as much again": (
        "nn.Sequential(conv(8, 16, 1), nn.Upsample(scale_factor=1.5), conv(16, 8, 1)), (1, 8, 6, 6)",
        "direct=2 from_blocked=1 interpolation=2 to_blocked=1",
    ),
    "upsampled at the end": (
        "nn.Sequential(conv(8, 16, 1), nn.Upsample(scale_factor=2)), (1, 8, 6, 6)",
        "direct=1 from_blocked=1 to_blocked=1",
    ),
    "tiled": (
        "Model(lambda self, x: self.last(self.first(x).repeat(1, 1, 2, 2)), first=conv(8, 16, 1),"
        " last=conv(16, 8, 1)), (1, 8, 6, 6)",
        "direct=2 from_blocked=2 to_blocked=2",
    ),
    "resampled between convolutions": (
        "nn.Sequential(conv(8, 20, 1), nn.Upsample(scale_factor=2, mode='bilinear'), nn.ReLU(),"
        " conv(20, 16, 3, 1, 1), nn.Upsample((9, 7), mode='bicubic'), conv(16, 8, 1)), (2, 8, 6, 5)",
        "direct=3 from_blocked=1 interpolation=4 to_blocked=1",
    ),
    "resampled rows and volumes": (
        "nn.Sequential(nn.Conv1d(8, 16, 1), nn.Upsample(scale_factor=3, mode='linear', align_corners=True),"
        " nn.Conv1d(16, 8, 1)), (2, 8, 6)",
        "direct+bias=2 from_blocked=1 interpolation=1 to_blocked=1",
    ),
    "resampled at the end": (
        "nn.Sequential(conv(8, 21, 1), nn.Upsample((33, 40), mode='bilinear')), (1, 8, 6, 5)",
        "direct=1 from_blocked=1 interpolation=2 to_blocked=1",
    ),
    "repeated channels": (
        "Model(lambda self, x: self.last(self.first(x)[:, :, None].expand(-1, -1, 2, -1, -1).flatten(1, 2)),"
        " first=conv(8, 16, 1), last=conv(32, 8, 1)), (1, 8, 6, 6)",
        "direct=2 from_blocked=2 to_blocked=2",
    ),
    "transposed, with windows that overlap": (
        "nn.Sequential(conv(8, 16, 1), nn.ConvTranspose2d(16, 24, 4, 2, 1), norm(24), nn.ReLU(),"
        " nn.ConvTranspose2d(24, 8, (5, 3), (3, 2), (1, 1), (0, 1))), (2, 8, 6, 5)",
        "direct=1 from_blocked=1 to_blocked=1 transposed+bias=1 transposed+scale+bias+relu=1",
    ),
    "transposed, without a stride": (
        "nn.Sequential(nn.ConvTranspose2d(8, 16, 4, bias=False), nn.ReLU(), nn.ConvTranspose2d(16, 8, 3)),"
        " (1, 8, 1, 1)",
        "direct+bias=1 direct+relu=1 from_blocked=1 to_blocked=1",
    ),
    "transposed, with fewer outputs of some phases": (
        "nn.Sequential(conv(8, 16, 1), nn.ConvTranspose2d(16, 8, 3, 2, 1)), (1, 8, 6, 6)",
        "direct=1 from_blocked=1 to_blocked=1",
    ),
    "wide groups": (
        "nn.Sequential(conv(64, 64, 3, 1, 1, groups=2), norm(64), nn.ReLU()), (1, 64, 6, 6)",
        "direct+scale+bias+relu=1 from_blocked=1 to_blocked=1",
    ),
    "narrow groups": (
        "nn.Sequential(conv(16, 42, 1), nn.ReLU(), conv(42, 42, 3, 2, 1, groups=7), norm(42), nn.ReLU(),"
        " conv(42, 84, 3, 1, 1, groups=42)), (1, 16, 9, 9)",
        "direct+relu=1 from_blocked=1 grouped+scale+bias+relu=1 grouped=1 to_blocked=1",
    ),
    "channels last": (
        "Model(lambda self, x: self.first(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1).softmax(-1),"
        " first=conv(16, 16, 3, 1, 1)), (1, 7, 8, 16)",
        "direct=1 from_blocked=1 softmax=1 to_blocked=1",
    ),
    "channel norms and products": (
        "nn.Sequential(conv(3, 20, 4, 4, bias=True), ChannelNorm(20), ConvNext(20), ConvNext(20, 'tanh'),"
        " ChannelNorm(20), conv(20, 24, 2, 2, bias=True), ConvNext(24), nn.AdaptiveAvgPool2d(1),"
        " ChannelNorm(24), nn.Flatten(), nn.Linear(24, 10)), (2, 3, 36, 44)",
        "channel_norm=1 depthwise+bias=3 direct+bias=1 dot=7 from_blocked=5 norm=5 planar+bias=1 "
        "to_blocked=2",
    ),
    "rows": (
        "nn.Sequential(nn.Conv1d(2, 20, 5, 2), nn.BatchNorm1d(20), nn.ReLU(), nn.MaxPool1d(2),"
        " nn.Conv1d(20, 24, 3, padding=4, dilation=4), nn.GELU(), nn.AvgPool1d(2),"
        " nn.Conv1d(24, 24, 3, padding=1, groups=24), nn.AdaptiveAvgPool1d(1), nn.Flatten(),"
        " nn.Linear(24, 5)), (2, 2, 60)",
        "depthwise+bias=1 direct+bias+gelu=1 dot=1 global_average=1 planar+scale+bias+relu=1 pool=2",
    ),
    "transposed rows": (
        "nn.Sequential(nn.Conv1d(8, 16, 1), nn.ConvTranspose1d(16, 24, 4, 2, 1), nn.ReLU(),"
        " nn.Conv1d(24, 8, 3, padding=1)), (2, 8, 9)",
        "direct+bias=2 from_blocked=1 to_blocked=1 transposed+bias+relu=1",
    ),
    "gates of halves, padded in front": (
        "Model(lambda self, x: (lambda a, b: self.last(a.tanh() * b.sigmoid()) + x)"
        "(*self.first(F.pad(x, (4, 0))).chunk(2, 1)), first=nn.Conv1d(16, 32, 3, dilation=2),"
        " last=nn.Conv1d(16, 16, 1)), (2, 16, 21)",
        "direct+bias+residual=1 direct+bias=1 from_blocked=1 to_blocked=1",
    ),
    "factors in front of rows": (
        "Model(lambda self, x: self.tail(torch.cat([x, self.first(x)], 1)), first=nn.Conv1d(16, 16, 1),"
        " tail=nn.Sequential(nn.BatchNorm1d(32), nn.ReLU(), nn.Conv1d(32, 8, 3, padding=1))), (2, 16, 11)",
        "depthwise+bias+relu=1 direct+bias=2 from_blocked=1 to_blocked=1",
    ),
    "halves that are no whole blocks": (
        "Model(lambda self, x: (lambda a, b: self.last(a.relu() * b))(*self.first(x).chunk(2, 1)),"
        " first=conv(16, 20, 1), last=conv(10, 16, 1)), (1, 16, 5, 5)",
        "choose_channels=2 direct=2 from_blocked=1 to_blocked=1",
    ),
    "more padding on one side": (
        "nn.Sequential(conv(8, 16, 1), nn.ZeroPad2d((0, 1, 0, 1)), conv(16, 8, 3, 2)), (1, 8, 6, 6)",
        "direct=2 from_blocked=1 to_blocked=1",
    ),
    "means of what is no padding": (
        "nn.Sequential(conv(8, 20, 1), nn.AvgPool2d(3, 2, 1, count_include_pad=False), conv(20, 8, 1),"
        " nn.AvgPool2d(2, 1, 1), conv(8, 8, 1)), (2, 8, 7, 8)",
        "direct=3 from_blocked=1 pool=2 to_blocked=1",
    ),
    "padded by another number": (
        "nn.Sequential(conv(8, 16, 1), nn.ConstantPad2d(1, 2.0), conv(16, 8, 3)), (1, 8, 6, 6)",
        "direct=2 from_blocked=2 to_blocked=2",
    ),
    "padded channels": (
        "nn.Sequential(conv(8, 12, 1), nn.ZeroPad3d((0, 0, 0, 0, 2, 2)), conv(16, 8, 1)), (1, 8, 6, 6)",
        "direct=2 from_blocked=2 to_blocked=2",
    ),
    "the most of a row": (
        "Model(lambda self, x: self.head(self.layers(x).amax(-1)), layers=nn.Sequential("
        "nn.Conv1d(3, 20, 1), nn.ReLU(), nn.Conv1d(20, 24, 1)), head=nn.Linear(24, 4)), (2, 3, 30)",
        "direct+bias=1 dot=1 planar+bias+relu=1 pool=1",
    ),
    "pixels as tokens": (
        "Model(lambda self, x: self.head(F.gelu(self.mix(self.first(x)).flatten(2).transpose(1, 2))),"
        " first=conv(8, 16, 1), mix=conv(16, 16, 3, 1, 1, groups=16, bias=True), head=nn.Linear(16, 4)),"
        " (2, 8, 5, 6)",
        "depthwise+bias+gelu=1 direct=1 dot=1 from_blocked=1 to_blocked=1",
    ),
    "tokens that are used twice": (
        "Model(lambda self, x: (lambda y: self.head(y.relu() + y))(self.mix(x).flatten(2).transpose(1, 2)),"
        " mix=conv(16, 16, 3, 1, 1), head=nn.Linear(16, 4)), (2, 16, 5, 6)",
        "direct=1 dot=1 from_blocked=1 to_blocked=1",
    ),
    "branches of one input": (
        "nn.Sequential(conv(8, 16, 1), Sum(nn.Sequential(conv(16, 16, 3, 1, 1), norm(16)),"
        " nn.Sequential(conv(16, 16, 1), norm(16)), norm(16)), nn.ReLU(), conv(16, 8, 1)), (2, 8, 9, 7)",
        "direct+bias+relu=1 direct=2 from_blocked=1 to_blocked=1",
    ),
    "branches with strides and groups": (
        "Sum(conv(32, 64, 3, 2, 1, groups=2, bias=True), nn.Sequential(conv(32, 64, 1, 2, groups=2),"
        " norm(64))), (1, 32, 9, 8)",
        "direct+bias=1 from_blocked=1 to_blocked=1",
    ),
    "branches of channels for themselves": (
        "nn.Sequential(Sum(nn.Sequential(conv(24, 24, 5, 1, 2, groups=24), norm(24)), norm(24),"
        " conv(24, 24, 3, 1, 1, groups=24, bias=True)), nn.SiLU()), (1, 24, 8, 6)",
        "depthwise+bias+silu=1 from_blocked=1 to_blocked=1",
    ),
    "branches of groups beside the input": (
        "Sum(norm(48), conv(48, 48, (3, 1), 1, (1, 0), groups=3), conv(48, 48, 1, groups=3)), (1, 48, 8, 6)",
        "direct+bias=1 from_blocked=1 to_blocked=1",
    ),
    "branches with dilations": (
        "Sum(nn.Conv1d(16, 16, 5, padding=4, dilation=2), nn.Conv1d(16, 16, 3, padding=2, dilation=2),"
        " nn.Conv1d(16, 16, 1), nn.BatchNorm1d(16)), (2, 16, 12)",
        "direct+bias=1 from_blocked=1 to_blocked=1",
    ),
    "branches beside other terms": (
        "Model(lambda self, x: (self.a(x) + self.last(self.b(x).relu()) + self.c(x) + x).relu(),"
        " a=conv(16, 16, 1), b=conv(16, 16, 1), c=conv(16, 16, 3, 1, 1), last=norm(16)), (1, 16, 6, 6)",
        "direct+relu+factors+residual=1 direct=1 from_blocked=1 to_blocked=1",
    ),
    "branches whose windows are not one in the other": (
        "Sum(conv(16, 16, (3, 1), 1, (1, 0)), conv(16, 16, (1, 3), 1, (0, 1))), (1, 16, 6, 6)",
        "direct+residual=1 direct=1 from_blocked=1 to_blocked=1",
    ),
    "branches of other dilations": (
        "Sum(conv(16, 16, 3, 1, 1), conv(16, 16, 3, 1, 2, dilation=2)), (1, 16, 9, 9)",
        "direct+residual=1 direct=1 from_blocked=1 to_blocked=1",
    ),
    "branches of other groups": (
        "Sum(conv(16, 16, 3, 1, 1), conv(16, 16, 3, 1, 1, groups=16)), (1, 16, 6, 6)",
        "depthwise=1 direct+residual=1 from_blocked=1 to_blocked=1",
    ),
    "branches that are used twice": (
        "Model(lambda self, x: (lambda a, b: (a + b).relu() * a)(self.a(x), self.b(x)),"
        " a=conv(16, 16, 3, 1, 1), b=conv(16, 16, 1)), (1, 16, 6, 6)",
        "direct+residual+relu=1 direct=1 from_blocked=2 to_blocked=1",
    ),
    "branches of other inputs": (
        "Model(lambda self, x: self.a(x) + self.b(x.tanh()), a=conv(16, 16, 3, 1, 1), b=conv(16, 16, 1)),"
        " (1, 16, 6, 6)",
        "direct+residual=1 direct=1 from_blocked=1 to_blocked=2",
    ),
    "branches of two inputs": (
        "Model(lambda self, x: self.a(x) + self.c(x.tanh()) + self.b(x) + self.d(x.tanh()),"
        " a=conv(16, 16, 3, 1, 1), b=conv(16, 16, 1), c=conv(16, 16, 1), d=conv(16, 16, 5, 1, 2)),"
        " (1, 16, 6, 6)",
        "direct+residual=1 direct=1 from_blocked=1 to_blocked=2",
    ),
    "an input beside its convolution": (
        "Sum(conv(16, 16, 3, 1, 1), nn.Identity()), (1, 16, 6, 6)",
        "direct+residual=1 from_blocked=1 to_blocked=1",
    ),
    "nearest pixels": (
        "nn.Sequential(conv(8, 20, 1), nn.Upsample(size=(7, 9)), conv(20, 16, 3, 1, 1),"
        " nn.Upsample(size=(4, 9)), conv(16, 8, 1)), (2, 8, 4, 5)",
        "direct=3 from_blocked=1 interpolation=3 to_blocked=1",
    ),
    "rows and channels that are chosen": (
        "Model(lambda self, x: self.b(self.a(x).index_select(2, torch.tensor([3, 0, 3])).index_select(1,"
        " torch.tensor([5, 1, 1, 0, 7, 2, 3, 4]))), a=conv(8, 20, 1), b=conv(8, 8, 1)), (2, 8, 4, 5)",
        "direct=2 from_blocked=2 interpolation=1 to_blocked=2",
    ),
    "slopes": (
        "nn.Sequential(conv(8, 20, 3, 1, 1), norm(20), nn.LeakyReLU(0.1), conv(20, 16, 1, bias=True),"
        " nn.PReLU(16), conv(16, 16, 5, 1, 2, groups=16), nn.PReLU(), nn.MaxPool2d(2), conv(16, 8, 1)),"
        " (2, 8, 9, 7)",
        "depthwise+slopes=1 direct+bias+slopes=1 direct+scale+bias+slopes=1 direct=1 from_blocked=1 pool=1"
        " to_blocked=1",
    ),
    "slopes behind a residual, and a residual behind slopes": (
        "Model(lambda self, x: (lambda y: F.leaky_relu(self.b(y + F.leaky_relu(self.a(y), 0.2)) + y, -0.5))("
        "self.first(x)), first=conv(8, 16, 1), a=conv(16, 16, 3, 1, 1), b=conv(16, 16, 1)), (1, 8, 6, 6)",
        "direct+residual+slopes=1 direct+slopes+residual=1 direct=1 from_blocked=1 to_blocked=1",
    ),
    "what is no slope": (
        "Model(lambda self, x: (lambda y: torch.where(y > 0.5, y, 0.1 * y))(self.a(x))"
        " + (lambda y: torch.where(y > 0, 2 * y, 0.1 * y))(self.b(x))"
        " + (lambda y: torch.where(y >= 0, y, -0.1 * y))(self.c(x)),"
        " a=conv(8, 16, 1), b=conv(8, 16, 3, 1, 1), c=conv(8, 16, 1, groups=2)), (1, 8, 6, 6)",
        "direct=2 grouped=1 from_blocked=3 to_blocked=1",
    ),
    "batch norms behind activations": (
        "nn.Sequential(conv(3, 20, 4, 4), nn.GELU(), norm(20), Sum(nn.Identity(), nn.Sequential("
        "conv(20, 20, 5, 1, 2, groups=20, bias=True), nn.GELU(), norm(20))), conv(20, 36, 1), nn.ReLU(),"
        " norm(36), conv(36, 24, 3, 2, 1), nn.SiLU(), norm(24), nn.Conv2d(24, 24, 3, 1, 1, groups=3)),"
        " (1, 3, 36, 40)",
        "depthwise+bias+gelu+factors+residual=1 direct+relu+factors=1 direct+silu+factors=1 from_blocked=1"
        " grouped+bias=1 planar+gelu+factors=1",
    ),
    "a batch norm of rows behind an activation": (
        "nn.Sequential(nn.Conv1d(20, 24, 3, padding=2, dilation=2), nn.ReLU(), nn.BatchNorm1d(24),"
        " nn.Conv1d(24, 8, 1)), (2, 20, 30)",
        "direct+bias+relu+factors=1 direct+bias=1 from_blocked=1 to_blocked=1",
    ),
    "what is added behind an activation to channels": (
        "Model(lambda self, x, t, s: self.c(F.silu(self.a(x)) + t[:, :, None, None]) + self.d(F.gelu("
        "self.b(x)) + s[:, None, None] * 2), a=conv(8, 16, 1), b=conv(8, 16, 3, 1, 1), c=conv(16, 8, 1),"
        " d=conv(16, 8, 1)), (2, 8, 6, 6), (2, 16), (16,)",
        "direct+gelu+factors=1 direct+residual=1 direct+silu=1 direct=1 from_blocked=1 to_blocked=1",
    ),
    "residuals behind activations": (
        "Model(lambda self, x: (lambda y: self.last(y + self.a(y).relu() * 0.5 + F.silu(self.b(y))))("
        "self.first(x)), first=conv(8, 32, 1), a=conv(32, 32, 3, 1, 1), b=conv(32, 32, 1, groups=2),"
        " last=conv(32, 8, 1)), (2, 8, 14, 14)",
        "direct+relu+factors+residual=1 direct+silu+residual=1 direct=2 from_blocked=1 to_blocked=1",
    ),
    "in a loop": (
        "Model(lambda self, x: torch._higher_order_ops.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1,"
        " self.first(y).relu() + y), (torch.zeros((), dtype=torch.int64), x))[1],"
        " first=conv(16, 16, 3, 1, 1)), (1, 16, 6, 6)",
        "direct+relu+residual=1 from_blocked=1 to_blocked=1",
    ),
}


def kernels_by_case(log):
    """What is logged of kernels on blocks, by case."""
    parts = re.split(r"^case (.*)$", log, flags=re.MULTILINE)[1:]
    found = {}
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        lines = set(re.findall(r"\[main\] in blocks: (.*)", text)) or {"none"}
        found[name] = sorted(lines.pop().split()) if len(lines) == 1 else lines
    return found


@pytest.fixture(scope="module")
def log():
    """All cases in one process."""
    calls = [f"check({name!r}, {arguments})" for name, (arguments, _) in CASES.items()]
    return kernels_by_case(run("\n".join([BEGINNING, *calls]), TORCHERE_LOG="debug")[1])


@pytest.mark.parametrize("name", CASES)
def test_what_is_fused(log, name):
    assert log[name] == sorted(CASES[name][1].split())


JAX = """
import sys
import numpy
import jax, jax.numpy as jnp

generator = numpy.random.default_rng(0)
x = generator.normal(size=(1, 16, 18, 32)).astype(numpy.float32)
w = generator.normal(size=(3, 3, 32, 32)).astype(numpy.float32)
b = generator.normal(size=(32,)).astype(numpy.float32)

def of(precision):
    def main(x, w, b):
        y = jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"),
                                         precision=precision)
        return jax.nn.relu6(y + b)
    return main

padded = numpy.pad(x.astype(numpy.float64), ((0, 0), (1, 1), (1, 1), (0, 0)))
expected = sum(padded[:, i:i + 16, j:j + 18] @ w[i, j] for i in range(3) for j in range(3))
expected = numpy.clip(expected + b, 0, 6)
for precision in ("default", "highest"):
    print("case", precision, file=sys.stderr, flush=True)
    for _ in range(3):
        result = jax.jit(of(precision))(x, w, b)
        numpy.testing.assert_allclose(result, expected, rtol=0, atol=1e-4)

# The kernel is not reversed: the first row meets its last tap.
print("case", "transposed", file=sys.stderr, flush=True)
w = w[:2, 1:]
expected = numpy.einsum("nhwc,ijco->nhiwjo", x, w[::-1, ::-1]).reshape(1, 32, 36, 32)
result = jax.jit(lambda x, w: jax.lax.conv_transpose(x, w, (2, 2), "VALID"))(x, w)
numpy.testing.assert_allclose(result, expected, rtol=0, atol=1e-4)
"""


def test_jax_forms_and_precision():
    found = kernels_by_case(run_jax(JAX, TORCHERE_LOG="debug")[1])
    borders = ["from_blocked=1", "to_blocked=1"]
    assert found == {
        "default": [*borders, "winograd+bias+relu6=1"],
        "highest": ["direct+bias+relu6=1", *borders],
        "transposed": [*borders, "transposed=1"],
    }


JAX_VIEWS = """
import numpy
import jax, jax.numpy as jnp
jax.config.update("jax_enable_x64", True)

generator = numpy.random.default_rng(0)
x, w = generator.integers(-9, 9, (2, 4, 8)), generator.integers(-9, 9, (5, 4, 1))
product = numpy.einsum("nil,oi->nol", x, w[..., 0])
for dtype in ("int32", "float32", "float64"):
    def convolved(x, w):
        return jax.lax.conv_general_dilated(x, w, (1,), "VALID").reshape(2, -1)
    arguments = x.astype(dtype), w.astype(dtype)
    positive = jax.jit(lambda x, w: jnp.maximum(convolved(x, w), 0))(*arguments)
    numpy.testing.assert_array_equal(positive, numpy.maximum(product, 0).reshape(2, -1))
    six = jax.jit(lambda x, w: jax.lax.clamp(jnp.zeros((), dtype), convolved(x, w), jnp.full((), 6, dtype)))
    numpy.testing.assert_array_equal(six(*arguments), numpy.clip(product, 0, 6).reshape(2, -1))
"""


def test_activations_behind_views_of_any_type():
    run_jax(JAX_VIEWS)


ATTENTION = """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = conv(16, 256, 1), conv(128, 16, 1)
    def forward(self, x):
        q, k, v = self.first(x).view(2, 4, 64, -1).split((16, 16, 32), 2)
        weights = (q.transpose(-2, -1) @ k * 0.25).softmax(-1)
        return self.last(F.hardswish((v @ weights.transpose(-2, -1)).view(2, 128, *x.shape[2:])))

model, x = Attention(), torch.randn(2, 16, 6, 5)
check("attention", model, (2, 16, 6, 5))
print(*[row.kernel for row in torchere.export(model, (x,)).profile(x).rows], sep=", ")
"""


def test_attention_between_convolutions_copies_nothing():
    (printed,) = run(BEGINNING + ATTENTION)[0]
    assert printed == "layout, convolution, layout, attention, vector program, layout, convolution, layout"


ROWS = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.first, self.last = nn.LayerNorm(24), nn.Linear(24, 40), nn.Linear(40, 24)
        self.conv, self.reduced = conv(40, 40, 3, padding=1, groups=40), conv(24, 24, 2, stride=2)
        self.other = nn.LayerNorm(24)
    def forward(self, x):
        hidden = self.first(self.norm(x)).transpose(1, 2).reshape(2, 40, 6, 8)
        x = x + self.last(F.gelu(self.conv(hidden).flatten(2).transpose(1, 2)))
        small = self.reduced(x.transpose(1, 2).reshape(2, 24, 6, 8)).flatten(2).transpose(1, 2)
        return self.other(small) @ x.transpose(1, 2)

model, x = Block(), torch.randn(2, 48, 24)
check("rows", model, (2, 48, 24))
print(*[row.kernel for row in torchere.export(model, (x,)).profile(x).rows], sep=", ")
"""


def test_norms_and_products_take_rows_of_channels():
    """What comes out of blocks lies as they read it: nothing is copied between."""
    (printed,) = run(BEGINNING + ROWS)[0]
    assert printed == (
        "norm, matmul, layout, convolution, layout, matmul, layout, convolution, layout, norm, matmul"
    )


BOTTLENECKS = """
class Bottleneck(nn.Module):
    def __init__(self, kernel, stride, shares):
        super().__init__()
        self.shares = shares
        self.first = nn.Sequential(conv(16, 72, 1), norm(72), nn.Hardswish())
        windows = conv(72, 72, kernel, stride, kernel // 2, groups=72)
        self.windows = nn.Sequential(windows, norm(72), nn.ReLU())
        self.last = nn.Sequential(conv(72, 16, 1), norm(16))
    def forward(self, x):
        middle = self.first(x)
        result = self.last(self.windows(middle))
        return (result, middle.amax((2, 3))) if self.shares else result

for kernel, stride in (3, 1), (5, 2):
    model, x = Bottleneck(kernel, stride, False), torch.randn(2, 16, 20, 18)
    check("bottleneck", model, (2, 16, 20, 18))
    program = torchere.export(model, (x,))
    print(*[row.kernel for row in program.profile(x).rows], sep=", ")
program = torchere.export(Bottleneck(3, 1, True).eval(), (x,))
print([row.kernel for row in program.profile(x).rows].count("convolution"))
"""


def test_windows_of_each_channel_join_the_convolution_before_them():
    """Unless something else reads its result."""
    pair = "layout, convolution pair, convolution, layout"
    assert run(BEGINNING + BOTTLENECKS)[0] == [pair, pair, "3"]


GATES = """
def gated(last):
    layers = conv(3, 40, 3, 1, 1), norm(40), nn.ReLU(), Gate(40, 8, last), conv(40, 24, 1), norm(24)
    return nn.Sequential(*layers)

for name, last, size in (("sigmoid", nn.Sigmoid(), 23), ("hard sigmoid", nn.Hardsigmoid(), 23),
                         ("no bound", nn.Softplus(), 23), ("small", nn.Sigmoid(), 11)):
    check(name, gated(last), (2, 3, size, size))
"""


def test_gates_join_the_convolution_behind_them():
    """If they are from 0 to 1, and an image has pixels enough."""
    log = run(BEGINNING + GATES, TORCHERE_LOG="debug")[1]
    fused = [line for line in log.splitlines() if "] fused:" in line and "convolution=4" in line]
    assert [" gate=1" in line for line in fused] == [True, True, False, False]

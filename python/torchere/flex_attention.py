"""flex_attention: attention whose scores and mask are the user's functions, as ops that have lowerings."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any


def is_flex_attention(op: Any) -> bool:
    import torch

    return op is getattr(torch.ops.higher_order, "flex_attention", None)


def attention(dtype: Any) -> Callable[..., Any]:
    """A function of the higher-order op's arguments, whose graphs are given as modules. It computes what
    eager PyTorch does: the attention, of `dtype`, and of each row of scores the logarithm of the sum of
    exponentials and the maximum, both to base 2."""
    import torch

    def call(
        query: Any,
        key: Any,
        value: Any,
        score_mod: Any,
        block_mask: Sequence[Any],
        scale: float,
        kernel_options: Any,
        score_buffers: Sequence[Any] = (),
        mask_buffers: Sequence[Any] = (),
    ) -> tuple[Any, Any, Any]:
        query, key, value = query.to(dtype), key.to(dtype), value.to(dtype)
        batch, heads, length, _ = query.shape
        repeats = heads // key.shape[1]
        if repeats > 1:
            key, value = key.repeat_interleave(repeats, 1), value.repeat_interleave(repeats, 1)
        sizes = (batch, heads, length, key.shape[2])
        mask = None if _allows_all(block_mask[-1]) else _of_all_places(block_mask[-1], sizes, mask_buffers)
        is_plain, is_bias = _is_identity(score_mod), _is_bias(score_mod)
        working = torch.float64 if dtype == torch.float64 else torch.float32
        scores = query.to(working) @ key.to(working).transpose(-2, -1) * scale
        if not is_plain:
            scores = _of_all_places(score_mod, sizes, score_buffers, scores)
        if mask is not None:
            scores = torch.where(mask, scores, -math.inf)
        if is_bias and not is_plain and dtype == working:
            bias = _of_all_places(score_mod, sizes, score_buffers, query.new_zeros(sizes))
            mask, is_plain = bias if mask is None else torch.where(mask, bias, -math.inf), True
        if is_plain:
            result = torch.nn.functional.scaled_dot_product_attention(
                query, key, value, attn_mask=mask, scale=scale
            )
        else:
            result = _softmax(scores).to(dtype) @ value
        return result, scores.logsumexp(-1) / math.log(2), scores.amax(-1) / math.log(2)

    return call


def _softmax(scores: Any) -> Any:
    """Of rows; zero where no key is seen. In the form that scaled_dot_product_attention is lowered to, which
    compilers know."""
    import torch

    greatest = scores.amax(-1, keepdim=True).expand_as(scores)
    is_blind = greatest == -math.inf
    powers = torch.exp(scores - torch.where(is_blind, 0.0, greatest))
    return torch.where(is_blind, 0.0, powers / powers.sum(-1, keepdim=True))


def _is_identity(module: Any) -> bool:
    score = next(iter(module.graph.find_nodes(op="placeholder")))
    return module.graph.output_node().args[0] is score


def _is_bias(module: Any) -> bool:
    """Whether a function adds something to its score that does not depend on it, or gives -inf instead."""
    import torch

    aten = torch.ops.aten
    score = next(iter(module.graph.find_nodes(op="placeholder")))
    sums = {score}
    for node in module.graph.nodes:
        if node.op == "output":
            return node.args[0] in sums
        if node is score or not sums.intersection(node.all_input_nodes):
            continue
        first, second = [*node.args, None][:2]
        if node.target is aten.add.Tensor and not node.kwargs:
            is_sum = (first in sums) != (second in sums)
        elif node.target is aten.sub.Tensor and not node.kwargs:
            is_sum = first in sums and second not in sums
        elif node.target is aten.where.self:
            is_sum = first not in sums and second in sums and _is_least(node.args[2])
        elif node.target is aten.where.ScalarOther:
            is_sum = first not in sums and second in sums and node.args[2] == -math.inf
        else:
            is_sum = False
        if not is_sum:
            return False
        sums.add(node)
    return False


def _is_least(node: Any) -> bool:
    """Whether a node of a user's function is the constant -inf."""
    import torch

    if getattr(node, "target", None) is torch.ops.aten.lift_fresh_copy.default:
        node = node.args[0]
    if node.op == "get_attr":
        constant = getattr(node.graph.owning_module, node.target)
        return isinstance(constant, torch.Tensor) and constant.numel() == 1 and constant.item() == -math.inf
    is_full = node.target in (torch.ops.aten.scalar_tensor.default, torch.ops.aten.full.default)
    return is_full and node.args[-1] == -math.inf


def _allows_all(module: Any) -> bool:
    """Whether a mask's graph is that of no mask: a constant of true."""
    import torch

    calls = [node for node in module.graph.nodes if node.op not in ("placeholder", "output")]
    return len(calls) == 1 and calls[0].target is torch.ops.aten.new_ones.default


def _of_all_places(module: Any, sizes: Sequence[Any], buffers: Sequence[Any], scores: Any = None) -> Any:
    """The user's function of one place, for all batches, heads, queries and keys: traced under torch.vmap,
    below autograd, where what it is made of are plain ops."""
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    tensors = [one for one in (scores, *buffers) if isinstance(one, torch.Tensor)]
    device = tensors[0].device if tensors else None
    places = [torch.arange(size, dtype=torch.int32, device=device) for size in sizes]
    leading = () if scores is None else (scores,)
    function = module
    for axis in reversed(range(4)):
        within = [0 if place == axis else None for place in range(4)]
        in_dims = (*(0 for _ in leading), *within, *(None for _ in buffers))
        function = torch.vmap(function, in_dims=in_dims)
    given = (*leading, *places, *buffers)
    return make_fx(function, _allow_non_fake_inputs=True)(*given)(*given)

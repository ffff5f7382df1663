"""The ops that torch.nn.MultiheadAttention and TransformerEncoderLayer call in inference, as others. Traces
of torch.jit record them; torch.export does not."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any


@functools.cache
def fast_paths() -> Mapping[Any, Callable[..., Any]]:
    import torch

    aten = torch.ops.aten
    return {
        aten._native_multi_head_attention.default: _attention,
        aten._transformer_encoder_layer_fwd.default: _encoder_layer,
    }


def _attention(
    query: Any,
    key: Any,
    value: Any,
    embed_dim: int,
    num_head: int,
    qkv_weight: Any,
    qkv_bias: Any,
    proj_weight: Any,
    proj_bias: Any,
    mask: Any = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> tuple[Any, Any]:
    """The result, [batch, queries, embed_dim], and the weights of attention, if they are needed."""
    import torch

    functional = torch.nn.functional
    parts = zip((query, key, value), qkv_weight.chunk(3), qkv_bias.chunk(3), strict=True)
    heads = [
        functional.linear(x, weight, bias).unflatten(-1, (num_head, -1)).transpose(1, 2)
        for x, weight, bias in parts
    ]
    allowed = _allowed(mask, mask_type)
    joined = functional.scaled_dot_product_attention(*heads, attn_mask=allowed)
    result = functional.linear(joined.transpose(1, 2).flatten(2), proj_weight, proj_bias)
    if not need_weights:
        return result, query.new_empty(0)
    scores = heads[0] @ heads[1].transpose(-2, -1) * heads[0].shape[-1] ** -0.5
    if allowed is not None:
        scores = torch.where(allowed, scores, float("-inf"))
    weights = scores.softmax(-1)
    return result, weights.mean(1) if average_attn_weights else weights


def _allowed(mask: Any, mask_type: int | None) -> Any:
    """The mask of scaled_dot_product_attention, in which true is seen. In the op's true is not; it is of
    queries and keys (0), of batches and keys (1), or of all (2)."""
    if mask is None:
        return None
    seen = mask.logical_not()
    return seen[:, None, None, :] if mask_type == 1 else seen


def _encoder_layer(
    src: Any,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Any,
    qkv_bias: Any,
    proj_weight: Any,
    proj_bias: Any,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Any,
    norm_bias_1: Any,
    norm_weight_2: Any,
    norm_bias_2: Any,
    ffn_weight_1: Any,
    ffn_bias_1: Any,
    ffn_weight_2: Any,
    ffn_bias_2: Any,
    mask: Any = None,
    mask_type: int | None = None,
) -> Any:
    import torch

    functional = torch.nn.functional

    def normalized(x: Any, weight: Any, bias: Any) -> Any:
        return functional.layer_norm(x, (embed_dim,), weight, bias, eps)

    def attended(x: Any) -> Any:
        projections = qkv_weight, qkv_bias, proj_weight, proj_bias
        return _attention(x, x, x, embed_dim, num_heads, *projections, mask, False, mask_type=mask_type)[0]

    def expanded(x: Any) -> Any:
        activation = functional.gelu if use_gelu else functional.relu
        inner = activation(functional.linear(x, ffn_weight_1, ffn_bias_1))
        return functional.linear(inner, ffn_weight_2, ffn_bias_2)

    if norm_first:
        x = src + attended(normalized(src, norm_weight_1, norm_bias_1))
        return x + expanded(normalized(x, norm_weight_2, norm_bias_2))
    x = normalized(src + attended(src), norm_weight_1, norm_bias_1)
    return normalized(x + expanded(x), norm_weight_2, norm_bias_2)

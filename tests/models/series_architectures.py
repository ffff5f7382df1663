"""The architectures of transformers for time series and trajectories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from architecture import Architecture, Inputs, transformers_row


def series(
    name: str, prefix: str, inputs: Callable[[], Inputs], suffix: str = "Model", **options: Any
) -> Architecture:
    return transformers_row(name, "time series", prefix + suffix, f"{prefix}Config", inputs, **options)


def history() -> Inputs:
    return {
        "past_values": torch.randn(2, 19),
        "past_time_features": torch.randn(2, 19, 2),
        "past_observed_mask": torch.ones(2, 19),
        "future_values": torch.randn(2, 4),
        "future_time_features": torch.randn(2, 4, 2),
    }


FORECAST: dict[str, Any] = {
    "prediction_length": 4,
    "context_length": 12,
    "num_time_features": 2,
    "lags_sequence": [1, 2, 7],
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
}
SERIES = [
    series("autoformer", "Autoformer", history, **FORECAST, label_length=4),
    series("informer", "Informer", history, **FORECAST),
    series(
        "patchtsmixer",
        "PatchTSMixer",
        lambda: {"past_values": torch.randn(2, 32, 3)},
        context_length=32,
        patch_length=8,
        patch_stride=8,
        num_input_channels=3,
        d_model=16,
        num_layers=2,
    ),
    series(
        "patchtst",
        "PatchTST",
        lambda: {"past_values": torch.randn(2, 32, 3)},
        context_length=32,
        patch_length=8,
        patch_stride=8,
        num_input_channels=3,
        d_model=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        ffn_dim=32,
    ),
    series("time_series_transformer", "TimeSeriesTransformer", history, **FORECAST),
    transformers_row(
        "decision_transformer",
        "reinforcement",
        "DecisionTransformerModel",
        "DecisionTransformerConfig",
        lambda: {
            "states": torch.randn(1, 5, 6),
            "actions": torch.randn(1, 5, 3),
            "rewards": torch.randn(1, 5, 1),
            "returns_to_go": torch.randn(1, 5, 1),
            "timesteps": torch.arange(5)[None],
            "attention_mask": torch.ones(1, 5),
        },
        state_dim=6,
        act_dim=3,
        hidden_size=32,
        n_layer=2,
        n_head=2,
        n_positions=64,
        max_ep_len=32,
    ),
]

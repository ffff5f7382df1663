"""The architectures of diffusers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from architecture import Architecture, Inputs
from torch import nn


def diffusion(
    name: str, model: str, inputs: Callable[[], Inputs], kind: str = "diffusion", **options: Any
) -> Architecture:
    def make() -> nn.Module:
        import diffusers

        return getattr(diffusers, model)(**options)

    return Architecture(name, "diffusers", kind, make, inputs)


def noisy(
    channels: int = 4, size: int = 16, context: int = 32, **others: Callable[[], Any]
) -> Callable[[], Inputs]:
    return lambda: {
        "sample": torch.randn(2, channels, size, size),
        "timestep": torch.tensor([3, 500]),
        **({"encoder_hidden_states": torch.randn(2, 5, context)} if context else {}),
        **{name: make() for name, make in others.items()},
    }


DIFFUSION = [
    diffusion(
        "autoencoder_kl",
        "AutoencoderKL",
        lambda: (torch.randn(1, 3, 32, 32),),
        block_out_channels=[16, 32],
        down_block_types=["DownEncoderBlock2D"] * 2,
        up_block_types=["UpDecoderBlock2D"] * 2,
        norm_num_groups=8,
    ),
    diffusion(
        "autoencoder_tiny",
        "AutoencoderTiny",
        lambda: (torch.randn(1, 3, 32, 32),),
        encoder_block_out_channels=(16, 16),
        decoder_block_out_channels=(16, 16),
        num_encoder_blocks=(1, 1),
        num_decoder_blocks=(1, 1),
    ),
    diffusion(
        "controlnet",
        "ControlNetModel",
        noisy(controlnet_cond=lambda: torch.randn(2, 3, 32, 32), conditioning_scale=lambda: 1.0),
        block_out_channels=(16, 32),
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        layers_per_block=1,
        cross_attention_dim=32,
        attention_head_dim=8,
        norm_num_groups=8,
        conditioning_embedding_out_channels=(8, 16),
    ),
    diffusion(
        "dit",
        "DiTTransformer2DModel",
        lambda: {
            "hidden_states": torch.randn(2, 4, 16, 16),
            "timestep": torch.tensor([3, 500]),
            "class_labels": torch.tensor([1, 2]),
        },
        num_attention_heads=2,
        attention_head_dim=16,
        in_channels=4,
        out_channels=8,
        num_layers=2,
        sample_size=16,
        num_embeds_ada_norm=10,
        norm_num_groups=8,
    ),
    diffusion(
        "flux",
        "FluxTransformer2DModel",
        lambda: {
            "hidden_states": torch.randn(1, 16, 4),
            "encoder_hidden_states": torch.randn(1, 5, 32),
            "pooled_projections": torch.randn(1, 32),
            "timestep": torch.tensor([0.5]),
            "img_ids": torch.zeros(16, 3),
            "txt_ids": torch.zeros(5, 3),
        },
        in_channels=4,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=32,
        pooled_projection_dim=32,
        axes_dims_rope=[4, 4, 8],
    ),
    diffusion(
        "pixart",
        "PixArtTransformer2DModel",
        lambda: {
            "hidden_states": torch.randn(2, 4, 16, 16),
            "encoder_hidden_states": torch.randn(2, 5, 32),
            "timestep": torch.tensor([3, 500]),
            "added_cond_kwargs": {"resolution": None, "aspect_ratio": None},
        },
        num_attention_heads=2,
        attention_head_dim=16,
        num_layers=2,
        cross_attention_dim=32,
        caption_channels=32,
        sample_size=16,
        norm_num_groups=8,
    ),
    diffusion(
        "sd3",
        "SD3Transformer2DModel",
        lambda: {
            "hidden_states": torch.randn(1, 4, 16, 16),
            "encoder_hidden_states": torch.randn(1, 5, 32),
            "pooled_projections": torch.randn(1, 64),
            "timestep": torch.tensor([3]),
        },
        sample_size=16,
        patch_size=2,
        in_channels=4,
        num_layers=2,
        attention_head_dim=8,
        num_attention_heads=4,
        caption_projection_dim=32,
        joint_attention_dim=32,
        pooled_projection_dim=64,
        out_channels=4,
        pos_embed_max_size=16,
    ),
    diffusion(
        "unet_2d",
        "UNet2DModel",
        noisy(3, context=0),
        sample_size=16,
        block_out_channels=(16, 32),
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
        layers_per_block=1,
        attention_head_dim=8,
        norm_num_groups=8,
    ),
    diffusion(
        "unet_2d_condition",
        "UNet2DConditionModel",
        noisy(),
        sample_size=16,
        block_out_channels=(16, 32),
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        layers_per_block=1,
        cross_attention_dim=32,
        attention_head_dim=8,
        norm_num_groups=8,
    ),
]

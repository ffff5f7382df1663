"""The detectors of transformers."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch
from architecture import PATCHES, TEXT_WIDTHS, Architecture, Inputs, transformers_row
from families import tokens
from image_architectures import SMALL_SWIN_BACKBONE, vision

RESNET: dict[str, Any] = {
    "model_type": "resnet",
    "embedding_size": 8,
    "hidden_sizes": [8, 16, 24, 32],
    "depths": [1, 1, 1, 1],
    "out_features": ["stage2", "stage3", "stage4"],
}
LAST = {**RESNET, "out_features": ["stage4"]}
HYBRID = {
    "model_type": "rt_detr_resnet",
    "embedding_size": 8,
    "hidden_sizes": [16, 32, 48, 64],
    "depths": [1, 1, 1, 1],
    "out_features": ["stage2", "stage3", "stage4"],
    "layer_type": "bottleneck",
    "downsample_in_bottleneck": False,
}
DETR: dict[str, Any] = {
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "num_queries": 5,
    "use_timm_backbone": False,
    "use_pretrained_backbone": False,
    "backbone": None,
}
HEAD = "ForObjectDetection"
RT_DETR: dict[str, Any] = {
    "backbone_config": HYBRID,
    "encoder_hidden_dim": 32,
    "encoder_in_channels": [32, 48, 64],
    "feat_strides": [8, 16, 32],
    "encoder_ffn_dim": 64,
    "encoder_attention_heads": 4,
    "d_model": 32,
    "num_queries": 10,
    "decoder_in_channels": [32, 32, 32],
    "decoder_ffn_dim": 64,
    "decoder_layers": 2,
    "decoder_attention_heads": 4,
}


def precise(row: Architecture) -> Architecture:
    """In float64: queries are the places with the best scores, too close for float32 with random weights."""

    def inputs() -> Inputs:
        return {name: tensor.double() for name, tensor in row.inputs().items()}

    return dataclasses.replace(row, make=lambda: row.make().double(), inputs=inputs)


DETECTION = [
    vision("conditional_detr", "ConditionalDetr", 64, HEAD, "detection", base=DETR, backbone_config=LAST),
    precise(
        vision(
            "d_fine",
            "DFine",
            64,
            HEAD,
            "detection",
            base=RT_DETR,
            decoder_n_points=[4, 4, 4],
            backbone_config={
                "model_type": "hgnet_v2",
                "hidden_sizes": [16, 32, 48, 64],
                "stem_channels": [3, 8, 16],
                "stage_in_channels": [16, 16, 32, 48],
                "stage_mid_channels": [8, 8, 8, 8],
                "stage_out_channels": [16, 32, 48, 64],
                "stage_num_blocks": [1, 1, 1, 1],
                "stage_numb_of_layers": [1, 1, 1, 1],
                "out_features": ["stage2", "stage3", "stage4"],
            },
        )
    ),
    vision(
        "dab_detr", "DabDetr", 64, HEAD, "detection", base={**DETR, "hidden_size": 32}, backbone_config=LAST
    ),
    vision(
        "deformable_detr",
        "DeformableDetr",
        64,
        HEAD,
        "detection",
        base=DETR,
        backbone_config=RESNET,
        num_feature_levels=3,
    ),
    vision("detr", "Detr", 64, HEAD, "detection", base=DETR, backbone_config=LAST),
    transformers_row(
        "grounding_dino",
        "detection",
        "GroundingDinoForObjectDetection",
        "GroundingDinoConfig",
        lambda: {"pixel_values": torch.randn(1, 3, 64, 64), "input_ids": tokens(1, 6)},
        **DETR,
        backbone_config={**SMALL_SWIN_BACKBONE, "out_features": ["stage2", "stage3", "stage4"]},
        text_config={"model_type": "bert", **TEXT_WIDTHS},
        num_feature_levels=3,
        max_text_len=16,
    ),
    transformers_row(
        "owlvit",
        "detection",
        "OwlViTForObjectDetection",
        "OwlViTConfig",
        lambda: {
            "pixel_values": torch.randn(1, 3, 32, 32),
            "input_ids": tokens(2, 6),
            "attention_mask": torch.ones(2, 6, dtype=torch.long),
        },
        text_config=TEXT_WIDTHS,
        vision_config=PATCHES,
        projection_dim=32,
    ),
    precise(vision("rt_detr", "RTDetr", 64, HEAD, "detection", base=RT_DETR)),
    precise(vision("rt_detr_v2", "RTDetrV2", 64, HEAD, "detection", base=RT_DETR)),
    vision("table_transformer", "TableTransformer", 64, HEAD, "detection", base=DETR, backbone_config=LAST),
    vision("yolos", "Yolos", 32, HEAD, "detection", image_size=[32, 32], num_detection_tokens=5),
]

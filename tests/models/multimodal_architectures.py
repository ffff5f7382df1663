"""The architectures of transformers for several media."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from architecture import PATCHES, TEXT_WIDTHS, WIDTHS, Architecture, Inputs, transformers_row
from families import VOCABULARY, tokens


def image_and_text(size: int = 32, length: int = 6, **others: Callable[[], Any]) -> Callable[[], Inputs]:
    return lambda: {
        "input_ids": tokens(2, length),
        "pixel_values": torch.randn(2, 3, size, size),
        "attention_mask": torch.ones(2, length, dtype=torch.long),
        **{name: make() for name, make in others.items()},
    }


TWO: dict[str, Any] = {"text_config": TEXT_WIDTHS, "vision_config": PATCHES}
LLAMA: dict[str, Any] = {"model_type": "llama", **TEXT_WIDTHS, "num_key_value_heads": 2}
IMAGE_TOKEN = VOCABULARY - 1


def with_places(places: int, size: int = 32, **others: Callable[[], Any]) -> Callable[[], Inputs]:
    """A prompt in which tokens stand for an image."""

    def make() -> Inputs:
        ids = torch.cat([torch.full((2, places), IMAGE_TOKEN), torch.randint(3, 90, (2, 4))], 1)
        given = {
            "input_ids": ids,
            "pixel_values": torch.randn(2, 3, size, size),
            "attention_mask": torch.ones_like(ids),
        }
        return given | {name: value() for name, value in others.items()}

    return make


def several(name: str, model: str, config: str, inputs: Callable[[], Inputs], **options: Any) -> Architecture:
    return transformers_row(name, "multimodal", model, config, inputs, **options)


MULTIMODAL = [
    several(
        "align",
        "AlignModel",
        "AlignConfig",
        image_and_text(64),
        text_config=TEXT_WIDTHS,
        vision_config={
            "image_size": 64,
            "width_coefficient": 0.25,
            "depth_coefficient": 0.3,
            "hidden_dim": 80,
        },
        projection_dim=80,
    ),
    several(
        "altclip",
        "AltCLIPModel",
        "AltCLIPConfig",
        image_and_text(),
        text_config={**TEXT_WIDTHS, "project_dim": 16},
        vision_config=PATCHES,
        projection_dim=16,
    ),
    several(
        "blip",
        "BlipModel",
        "BlipConfig",
        image_and_text(),
        text_config={**TEXT_WIDTHS, "encoder_hidden_size": 32},
        vision_config=PATCHES,
        projection_dim=16,
    ),
    several(
        "blip2",
        "Blip2ForConditionalGeneration",
        "Blip2Config",
        with_places(4),
        vision_config=PATCHES,
        qformer_config={**TEXT_WIDTHS, "encoder_hidden_size": 32, "cross_attention_frequency": 1},
        text_config={"model_type": "opt", **TEXT_WIDTHS, "ffn_dim": 64, "word_embed_proj_dim": 32},
        num_query_tokens=4,
        image_token_index=IMAGE_TOKEN,
    ),
    several(
        "bridgetower",
        "BridgeTowerModel",
        "BridgeTowerConfig",
        image_and_text(),
        text_config={**TEXT_WIDTHS, "hidden_size": 64},
        vision_config={"hidden_size": 64, "num_hidden_layers": 2, "image_size": 32, "patch_size": 8},
        hidden_size=64,
        num_attention_heads=4,
        num_hidden_layers=1,
    ),
    several(
        "chinese_clip", "ChineseCLIPModel", "ChineseCLIPConfig", image_and_text(), **TWO, projection_dim=16
    ),
    several("clip", "CLIPModel", "CLIPConfig", image_and_text(), **TWO, projection_dim=16),
    several(
        "clipseg",
        "CLIPSegForImageSegmentation",
        "CLIPSegConfig",
        image_and_text(),
        **TWO,
        projection_dim=16,
        extract_layers=[0, 1],
        reduce_dim=16,
        decoder_num_attention_heads=2,
        decoder_intermediate_size=32,
    ),
    several(
        "flava",
        "FlavaModel",
        "FlavaConfig",
        image_and_text(),
        image_config=PATCHES,
        text_config=TEXT_WIDTHS,
        multimodal_config=WIDTHS,
        hidden_size=32,
        projection_dim=16,
    ),
    several(
        "git",
        "GitForCausalLM",
        "GitConfig",
        image_and_text(),
        **TEXT_WIDTHS,
        vision_config=PATCHES,
        bos_token_id=1,
        eos_token_id=2,
    ),
    several(
        "groupvit",
        "GroupViTModel",
        "GroupViTConfig",
        image_and_text(),
        text_config=TEXT_WIDTHS,
        vision_config={**PATCHES, "depths": [1, 1], "num_group_tokens": [4, 0], "num_output_groups": [4, 2]},
        projection_dim=16,
        projection_intermediate_dim=32,
    ),
    several(
        "idefics3",
        "Idefics3ForConditionalGeneration",
        "Idefics3Config",
        lambda: {
            "input_ids": torch.cat([torch.full((1, 4), IMAGE_TOKEN), tokens(1, 4) % 90], 1),
            "pixel_values": torch.randn(1, 1, 3, 32, 32),
        },
        text_config=LLAMA,
        vision_config=PATCHES,
        scale_factor=2,
        image_token_id=IMAGE_TOKEN,
    ),
    several(
        "kosmos2",
        "Kosmos2Model",
        "Kosmos2Config",
        lambda: {
            "pixel_values": torch.randn(2, 3, 32, 32),
            "input_ids": tokens(2, 8),
            "image_embeds_position_mask": (torch.arange(8) < 4).repeat(2, 1),
        },
        text_config={
            "vocab_size": VOCABULARY,
            "embed_dim": 32,
            "layers": 2,
            "ffn_dim": 64,
            "attention_heads": 4,
            "max_position_embeddings": 64,
        },
        vision_config=PATCHES,
        latent_query_num=4,
    ),
    several(
        "layoutlmv3",
        "LayoutLMv3Model",
        "LayoutLMv3Config",
        lambda: {
            "input_ids": tokens(2, 6),
            "bbox": torch.randint(0, 9, (2, 6, 4)).sort(-1).values,
            "pixel_values": torch.randn(2, 3, 32, 32),
        },
        **TEXT_WIDTHS,
        input_size=32,
        patch_size=8,
        coordinate_size=6,
        shape_size=4,
        rel_pos_bins=8,
        rel_2d_pos_bins=8,
    ),
    several(
        "llava",
        "LlavaForConditionalGeneration",
        "LlavaConfig",
        with_places(16),
        text_config=LLAMA,
        vision_config={"model_type": "clip_vision_model", **PATCHES},
        image_token_index=IMAGE_TOKEN,
    ),
    several(
        "lxmert",
        "LxmertModel",
        "LxmertConfig",
        lambda: {
            "input_ids": tokens(2, 6),
            "visual_feats": torch.randn(2, 4, 16),
            "visual_pos": torch.rand(2, 4, 4),
        },
        **TEXT_WIDTHS,
        l_layers=1,
        x_layers=1,
        r_layers=1,
        visual_feat_dim=16,
    ),
    several(
        "paligemma",
        "PaliGemmaForConditionalGeneration",
        "PaliGemmaConfig",
        with_places(16, token_type_ids=lambda: torch.zeros(2, 20, dtype=torch.long)),
        text_config={"model_type": "gemma", **TEXT_WIDTHS, "num_key_value_heads": 1, "head_dim": 8},
        vision_config={"model_type": "siglip_vision_model", **PATCHES, "projection_dim": 32},
        image_token_index=IMAGE_TOKEN,
        projection_dim=32,
    ),
    several(
        "siglip",
        "SiglipModel",
        "SiglipConfig",
        image_and_text(),
        text_config={**TEXT_WIDTHS, "projection_size": 32},
        vision_config=PATCHES,
    ),
    several(
        "trocr",
        "VisionEncoderDecoderModel",
        "VisionEncoderDecoderConfig",
        lambda: {"pixel_values": torch.randn(2, 3, 32, 32), "decoder_input_ids": tokens(2, 5)},
        encoder={"model_type": "vit", **PATCHES},
        decoder={
            "model_type": "trocr",
            "vocab_size": VOCABULARY,
            "d_model": 32,
            "decoder_layers": 2,
            "decoder_attention_heads": 4,
            "decoder_ffn_dim": 64,
            "cross_attention_hidden_size": 32,
            "is_decoder": True,
            "add_cross_attention": True,
        },
    ),
    several("vilt", "ViltModel", "ViltConfig", image_and_text(), **{**TEXT_WIDTHS, **PATCHES}),
    several(
        "vipllava",
        "VipLlavaForConditionalGeneration",
        "VipLlavaConfig",
        with_places(16),
        text_config=LLAMA,
        vision_config={"model_type": "clip_vision_model", **PATCHES},
        image_token_index=IMAGE_TOKEN,
        vision_feature_layers=[-2, -1],
    ),
    several(
        "visual_bert",
        "VisualBertModel",
        "VisualBertConfig",
        lambda: {
            "input_ids": tokens(2, 6),
            "visual_embeds": torch.randn(2, 4, 16),
            "visual_attention_mask": torch.ones(2, 4),
        },
        **TEXT_WIDTHS,
        visual_embedding_dim=16,
    ),
    several(
        "xclip",
        "XCLIPModel",
        "XCLIPConfig",
        lambda: {
            "input_ids": tokens(2, 6),
            "pixel_values": torch.randn(1, 4, 3, 32, 32),
            "attention_mask": torch.ones(2, 6, dtype=torch.long),
        },
        text_config=TEXT_WIDTHS,
        vision_config={
            **PATCHES,
            "num_frames": 4,
            "mit_hidden_size": 32,
            "mit_intermediate_size": 64,
            "mit_num_attention_heads": 4,
            "mit_num_hidden_layers": 1,
        },
        projection_dim=32,
        prompt_layers=1,
        prompt_num_attention_heads=4,
    ),
]

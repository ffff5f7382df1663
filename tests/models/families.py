"""Models of every family that we claim: how each is made, what it takes, and which sizes may change."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.export import Dim

BATCH = Dim("batch", min=1, max=32)
# torch ties sizes of images by more guards than it can prove of a named dimension.
HEIGHT, WIDTH = Dim.AUTO(min=64, max=512), Dim.AUTO(min=64, max=512)
LENGTH = Dim("length", min=2, max=40)
TARGET = Dim("target", min=2, max=40)


@dataclasses.dataclass(frozen=True)
class Family:
    """A model with random weights, and the inputs that it is exported and called with."""

    name: str
    make: Callable[[], nn.Module]
    inputs: Callable[..., tuple[torch.Tensor, ...]]  # of the sizes, each of which may change
    shapes: tuple[dict[int, Any], ...]  # torch.export's dynamic_shapes
    exported_with: tuple[int, ...]  # sizes
    called_with: tuple[tuple[int, ...], ...]  # sizes of the calls: at least two batches

    def __str__(self) -> str:
        return self.name


def torchvision_model(name: str, module: str = "", **options: Any) -> Callable[[], nn.Module]:
    def make() -> nn.Module:
        import torchvision

        models = torchvision.models
        return getattr(getattr(models, module) if module else models, name)(weights=None, **options)

    return make


def images(batch: int, height: int, width: int) -> tuple[torch.Tensor, ...]:
    return (torch.randn(batch, 3, height, width),)


def square(size: int) -> Callable[[int], tuple[torch.Tensor, ...]]:
    """Images of one size, in batches of several."""
    return lambda batch: images(batch, size, size)


def of_any_size(name: str, sizes: tuple[int, int] = (96, 128), module: str = "", **options: Any) -> Family:
    """A model of images of any size."""
    small, large = sizes
    return Family(
        name,
        torchvision_model(name, module, **options),
        images,
        ({0: BATCH, 2: HEIGHT, 3: WIDTH},),
        (3, small, small),
        ((2, small, large), (5, large, small)),
    )


def of_one_size(name: str, size: int, module: str = "", **options: Any) -> Family:
    """A model that is made for images of one size."""
    return Family(
        name,
        torchvision_model(name, module, **options),
        square(size),
        ({0: BATCH},),
        (3,),
        ((2,), (5,)),
    )


def video(name: str, frames: int, size: int, **options: Any) -> Family:
    return Family(
        name,
        torchvision_model(name, "video", **options),
        lambda batch: (torch.randn(batch, 3, frames, size, size),),
        ({0: BATCH},),
        (3,),
        ((2,), (4,)),
    )


def multiscale_transformer(version: int) -> nn.Module:
    """MViT with few blocks: its builders take only clips of 16 frames of 224 by 224."""
    from torchvision.models.video.mvit import MSBlockConfig, MViT

    def block(channels: int, out: int, stride: int, over: int) -> MSBlockConfig:
        kernel = [3, 3, 3]
        return MSBlockConfig(
            channels // 16, channels, out, kernel, kernel, [1, stride, stride], [1, over, over]
        )

    return MViT(
        spatial_size=(32, 32),
        temporal_size=4,
        block_setting=[block(16, 32, 1, 4), block(32, 32, 2, 2), block(32, 32, 1, 2)],
        residual_pool=version == 2,
        residual_with_cls_embed=version == 1,
        rel_pos_embed=version == 2,
        proj_after_attn=version == 2,
    )


def separable_network() -> nn.Module:
    """S3D with a last window for clips of 64 by 64: its own is for 224 by 224, ten times the work."""
    model = torchvision_model("s3d", "video")()
    model.avgpool = nn.AvgPool3d((2, 2, 2), stride=1)
    return model


CLASSIFICATION = [
    of_any_size("alexnet"),
    of_any_size("convnext_tiny"),
    of_any_size("densenet121"),
    of_any_size("efficientnet_b0"),
    of_any_size("efficientnet_v2_s"),
    of_any_size("googlenet", init_weights=False, aux_logits=False),
    of_any_size("inception_v3", (128, 160), init_weights=False, aux_logits=False),
    of_one_size("maxvit_t", 224),
    of_any_size("mnasnet0_5"),
    of_any_size("mobilenet_v2"),
    of_any_size("mobilenet_v3_small"),
    of_any_size("regnet_y_400mf"),
    of_any_size("resnet18"),
    of_any_size("resnext50_32x4d"),
    of_any_size("shufflenet_v2_x0_5"),
    of_any_size("squeezenet1_0"),
    of_one_size("swin_t", 64),
    of_one_size("swin_v2_t", 64),
    of_any_size("vgg11"),
    of_one_size("vit_b_32", 64, image_size=64),
    of_any_size("wide_resnet50_2"),
]

SEGMENTATION = [
    of_any_size("deeplabv3_mobilenet_v3_large", module="segmentation", weights_backbone=None),
    of_any_size("fcn_resnet50", module="segmentation", weights_backbone=None),
    of_any_size("lraspp_mobilenet_v3_large", module="segmentation", weights_backbone=None),
]

VIDEO = [
    video("r3d_18", 4, 32),
    video("mc3_18", 4, 32),
    video("r2plus1d_18", 4, 32),
    dataclasses.replace(video("mvit_v1", 4, 32), make=lambda: multiscale_transformer(version=1)),
    dataclasses.replace(video("mvit_v2", 4, 32), make=lambda: multiscale_transformer(version=2)),
    video("swin3d_t", 4, 32),
    dataclasses.replace(video("s3d", 16, 64), make=separable_network),
]


class Trunk(nn.Module):
    """A detector up to its heads' outputs: backbone and heads, without anchors and suppression."""

    def __init__(self, detector: nn.Module):
        super().__init__()
        self.backbone = detector.backbone
        self.head = detector.rpn.head if hasattr(detector, "rpn") else detector.head

    def forward(self, image):
        features = self.backbone(image)
        return self.head(list(features.values()))


class RegionHeads(nn.Module):
    """What a two-stage detector does with pooled regions."""

    def __init__(self, detector: nn.Module):
        super().__init__()
        heads = detector.roi_heads
        self.box, self.boxes = heads.box_head, heads.box_predictor
        self.mask, self.masks = heads.mask_head, heads.mask_predictor

    def forward(self, regions, larger):
        return self.boxes(self.box(regions)), self.masks(self.mask(larger))


def detector(name: str, wrapper: type[nn.Module]) -> Callable[[], nn.Module]:
    make = torchvision_model(name, "detection", weights_backbone=None)
    return lambda: wrapper(make())


def trunk(name: str, sizes: tuple[int, int] = (96, 128)) -> Family:
    like = of_any_size(name, sizes)
    return dataclasses.replace(like, name=f"{name}_trunk", make=detector(name, Trunk))


DETECTION = [
    trunk("fasterrcnn_resnet50_fpn"),
    trunk("retinanet_resnet50_fpn"),
    trunk("fcos_resnet50_fpn"),
    trunk("ssdlite320_mobilenet_v3_large"),
    dataclasses.replace(
        of_one_size("ssd300_vgg16", 300), name="ssd300_vgg16_trunk", make=detector("ssd300_vgg16", Trunk)
    ),
    Family(
        "maskrcnn_region_heads",
        detector("maskrcnn_resnet50_fpn", RegionHeads),
        lambda regions: (torch.randn(regions, 256, 7, 7), torch.randn(regions, 256, 14, 14)),
        ({0: BATCH}, {0: BATCH}),
        (3,),
        ((2,), (5,)),
    ),
]

TORCHVISION = CLASSIFICATION + SEGMENTATION + VIDEO + DETECTION


class Call(nn.Module):
    """A model of transformers as a function of tensors alone."""

    def __init__(self, model: nn.Module, call: Callable[..., torch.Tensor]):
        super().__init__()
        self.model, self.call = model, call

    def forward(self, first, second=None):
        return self.call(self.model, first) if second is None else self.call(self.model, first, second)


def transformers_model(
    name: str, config: str, call: Callable[..., torch.Tensor], **options: Any
) -> Callable[[], nn.Module]:
    def make() -> nn.Module:
        import transformers

        made = getattr(transformers, config)(**options)
        return Call(getattr(transformers, name)(made), call)

    return make


VOCABULARY = 99


def tokens(batch: int, length: int) -> torch.Tensor:
    return torch.randint(3, VOCABULARY, (batch, length))


TEXT_SIZES: dict[str, Any] = {"exported_with": (3, 7), "called_with": ((2, 5), (4, 11))}
SMALL: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
}


def decoder(name: str, model: str, config: str, **options: Any) -> Family:
    """A model that says what comes next, without its cache."""
    return Family(
        name,
        transformers_model(
            model,
            config,
            lambda model, ids: model(input_ids=ids, use_cache=False).logits,
            vocab_size=VOCABULARY,
            **options,
        ),
        lambda batch, length: (tokens(batch, length),),
        ({0: BATCH, 1: LENGTH},),
        **TEXT_SIZES,
    )


TRANSFORMERS = [
    Family(
        "bert",
        transformers_model(
            "BertModel",
            "BertConfig",
            lambda model, ids, mask: model(input_ids=ids, attention_mask=mask).last_hidden_state,
            vocab_size=VOCABULARY,
            max_position_embeddings=64,
            **SMALL,
        ),
        lambda batch, length: (
            tokens(batch, length),
            (torch.arange(length) < length - 1).long().expand(batch, -1),
        ),
        ({0: BATCH, 1: LENGTH}, {0: BATCH, 1: LENGTH}),
        **TEXT_SIZES,
    ),
    decoder("gpt2", "GPT2LMHeadModel", "GPT2Config", n_embd=32, n_layer=2, n_head=4, n_positions=64),
    Family(
        "vit",
        transformers_model(
            "ViTModel",
            "ViTConfig",
            lambda model, pixels: model(pixel_values=pixels).last_hidden_state,
            **SMALL,
            image_size=32,
            patch_size=8,
        ),
        square(32),
        ({0: BATCH},),
        (3,),
        ((2,), (5,)),
    ),
    Family(
        "t5",
        transformers_model(
            "T5ForConditionalGeneration",
            "T5Config",
            lambda model, ids, target: model(input_ids=ids, decoder_input_ids=target, use_cache=False).logits,
            vocab_size=VOCABULARY,
            d_model=32,
            d_kv=8,
            d_ff=64,
            num_layers=2,
            num_heads=4,
            decoder_start_token_id=0,
        ),
        lambda batch, length, target: (tokens(batch, length), tokens(batch, target)),
        ({0: BATCH, 1: LENGTH}, {0: BATCH, 1: TARGET}),
        (3, 7, 10),
        ((2, 5, 4), (4, 11, 13)),
    ),
    Family(
        "whisper",
        transformers_model(
            "WhisperForConditionalGeneration",
            "WhisperConfig",
            lambda model, sound, ids: (
                model(input_features=sound, decoder_input_ids=ids, use_cache=False).logits
            ),
            vocab_size=VOCABULARY,
            d_model=32,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=64,
            decoder_ffn_dim=64,
            num_mel_bins=16,
            max_source_positions=20,
            max_target_positions=64,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            decoder_start_token_id=1,
        ),
        lambda batch, length: (torch.randn(batch, 16, 40), tokens(batch, length)),
        ({0: BATCH}, {0: BATCH, 1: LENGTH}),
        **TEXT_SIZES,
    ),
    decoder(
        "llama",
        "LlamaForCausalLM",
        "LlamaConfig",
        max_position_embeddings=64,
        num_key_value_heads=2,
        **SMALL,
    ),
]

# What the common run takes of them. They were chosen by what reaches the lowering: these have every ATen op
# of the others, and come to every StableHLO op; maskrcnn has the transposed convolutions.
COMMON = {
    "inception_v3",
    "mobilenet_v2",
    "squeezenet1_0",
    "swin_v2_t",
    "lraspp_mobilenet_v3_large",
    "mc3_18",
    "mvit_v2",
    "s3d",
    "fcos_resnet50_fpn_trunk",
    "maskrcnn_region_heads",
    "bert",
    "gpt2",
    "t5",
    "whisper",
    "llama",
}

"""The architectures of torchvision and timm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from architecture import Architecture, images
from families import RegionHeads, Trunk, detector, multiscale_transformer, torchvision_model
from torch import nn


def torchvision_row(
    name: str, kind: str = "classification", size: int = 64, module: str = "", **options: Any
) -> Architecture:
    return Architecture(name, "torchvision", kind, torchvision_model(name, module, **options), images(size))


def segmentation(name: str) -> Architecture:
    return torchvision_row(name, "segmentation", module="segmentation", weights_backbone=None, num_classes=5)


def video(name: str, frames: int, size: int, make: Callable[[], nn.Module] | None = None) -> Architecture:
    make = make or torchvision_model(name, "video", num_classes=10)
    return Architecture(name, "torchvision", "video", make, lambda: (torch.randn(1, 3, frames, size, size),))


def trunk(name: str, size: int = 64) -> Architecture:
    """A detector up to the outputs of its heads; the operators of what follows are in its extension."""
    return Architecture(f"{name}_trunk", "torchvision", "detection", detector(name, Trunk), images(size))


def small_maxvit() -> nn.Module:
    from torchvision.models import MaxVit

    return MaxVit(
        input_size=(64, 64),
        stem_channels=16,
        partition_size=4,
        block_channels=[16, 32],
        block_layers=[1, 1],
        head_dim=8,
        stochastic_depth_prob=0.1,
        num_classes=10,
    )


def raft() -> nn.Module:
    """Optical flow in two steps."""

    class TwoSteps(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = torchvision_model("raft_small", "optical_flow")()

        def forward(self, first, second):
            return self.model(first, second, num_flow_updates=2)

    return TwoSteps()


TORCHVISION = [
    torchvision_row("alexnet"),
    torchvision_row("convnext_tiny"),
    torchvision_row("densenet121"),
    torchvision_row("efficientnet_b0"),
    torchvision_row("efficientnet_v2_s"),
    torchvision_row("googlenet", init_weights=False, aux_logits=False),
    torchvision_row("inception_v3", size=96, init_weights=False, aux_logits=False),
    Architecture("maxvit", "torchvision", "classification", small_maxvit, images()),
    torchvision_row("mnasnet0_5"),
    torchvision_row("mobilenet_v2"),
    torchvision_row("mobilenet_v3_small"),
    torchvision_row("regnet_x_400mf"),
    torchvision_row("regnet_y_400mf"),
    torchvision_row("resnet18"),
    torchvision_row("resnet50"),
    torchvision_row("resnext50_32x4d"),
    torchvision_row("shufflenet_v2_x0_5"),
    torchvision_row("squeezenet1_1"),
    torchvision_row("swin_t"),
    torchvision_row("swin_v2_t"),
    torchvision_row("vgg11_bn"),
    torchvision_row("vit_b_32", image_size=64),
    segmentation("deeplabv3_mobilenet_v3_large"),
    segmentation("deeplabv3_resnet50"),
    segmentation("fcn_resnet50"),
    segmentation("lraspp_mobilenet_v3_large"),
    video("r3d_18", 4, 32),
    video("mc3_18", 4, 32),
    video("r2plus1d_18", 4, 32),
    video("mvit_v1", 4, 32, lambda: multiscale_transformer(version=1)),
    video("mvit_v2", 4, 32, lambda: multiscale_transformer(version=2)),
    video("swin3d_t", 4, 32),
    video("s3d", 16, 224),
    trunk("fasterrcnn_mobilenet_v3_large_fpn"),
    trunk("fcos_resnet50_fpn"),
    trunk("retinanet_resnet50_fpn"),
    trunk("ssdlite320_mobilenet_v3_large"),
    Architecture(
        "maskrcnn_region_heads",
        "torchvision",
        "detection",
        detector("maskrcnn_resnet50_fpn", RegionHeads),
        lambda: (torch.randn(2, 256, 7, 7), torch.randn(2, 256, 14, 14)),
    ),
    Architecture(
        "raft_small",
        "torchvision",
        "optical flow",
        raft,
        lambda: (torch.randn(1, 3, 128, 128), torch.randn(1, 3, 128, 128)),
    ),
]


def timm_row(name: str, size: int = 64, kind: str = "classification", **options: Any) -> Architecture:
    def make() -> nn.Module:
        import timm

        return timm.create_model(name, pretrained=False, num_classes=10, **options)

    return Architecture(name, "timm", kind, make, images(size))


SIZED: dict[str, Any] = {"img_size": 64}
NARROW: dict[str, Any] = {"embed_dim": 48, "depth": 2, "num_heads": 3}

TIMM = [
    timm_row("beit_base_patch16_224", **SIZED, **NARROW),
    timm_row("botnet26t_256", 256),
    timm_row("cait_xxs24_224", **SIZED, embed_dim=48, depth=2, num_heads=4),
    timm_row("coat_lite_tiny", **SIZED),
    timm_row("coatnet_pico_rw_224", **SIZED),
    timm_row("convit_tiny", **SIZED, depth=3, local_up_to_layer=2),
    timm_row("convmixer_768_32"),
    timm_row("convnext_atto"),
    timm_row("convnextv2_atto"),
    timm_row("crossvit_tiny_240", 240, depth=[[1, 2, 0]]),
    timm_row("cspresnet50"),
    timm_row("davit_tiny", depths=(1, 1, 1, 1)),
    timm_row("deit3_small_patch16_224", **SIZED, **NARROW),
    timm_row("deit_tiny_distilled_patch16_224", **SIZED, **NARROW),
    timm_row("densenetblur121d"),
    timm_row("dla34"),
    timm_row("dpn48b"),
    timm_row("eca_nfnet_l0"),
    timm_row("edgenext_xx_small"),
    timm_row("efficientformer_l1", 224, depths=(1, 1, 1, 2)),
    timm_row("efficientformerv2_s0", 224, depths=(1, 1, 2, 2)),
    timm_row("efficientvim_m1"),
    timm_row("efficientvit_b0"),
    timm_row("efficientvit_m0", 224),
    timm_row("ese_vovnet19b_dw"),
    timm_row("eva02_tiny_patch14_224", 56, img_size=56, **NARROW),
    timm_row("fasternet_t0"),
    timm_row("fastvit_t8"),
    timm_row("fbnetc_100"),
    timm_row("focalnet_tiny_srf"),
    timm_row("gcvit_xxtiny", 224),
    timm_row("ghostnet_050"),
    timm_row("ghostnetv2_100"),
    timm_row("gmlp_ti16_224", **SIZED),
    timm_row("halonet26t", 256),
    timm_row("hgnetv2_b0"),
    timm_row("hiera_tiny_224", 224, embed_dim=24, stages=(1, 1, 1, 1)),
    timm_row("hrnet_w18_small"),
    timm_row("iformer_t"),
    timm_row("inception_next_atto"),
    timm_row("lambda_resnet26t"),
    timm_row("lcnet_050"),
    timm_row("levit_128s", 224),
    timm_row("maxvit_rmlp_pico_rw_256", **SIZED),
    timm_row("mambaout_femto"),
    timm_row("mixer_s32_224", **SIZED),
    timm_row("mixnet_s"),
    timm_row("mobilenetv4_conv_small"),
    timm_row("mobilenetv4_hybrid_medium"),
    timm_row("mobilevit_xxs"),
    timm_row("mobilevitv2_050"),
    timm_row("mvitv2_tiny", **SIZED),
    timm_row("naflexvit_base_patch16_gap", 64, **NARROW),
    timm_row("nest_tiny", **SIZED),
    timm_row("nextvit_small"),
    timm_row("nf_regnet_b0"),
    timm_row("pit_ti_224", 224),
    timm_row("poolformer_s12"),
    timm_row("pvt_v2_b0"),
    timm_row("rdnet_tiny", num_blocks_list=(1, 1, 1, 1, 1, 1, 1)),
    timm_row("regnetz_b16"),
    timm_row("repghostnet_050"),
    timm_row("repvgg_a0"),
    timm_row("repvit_m0_9"),
    timm_row("res2net50_26w_4s"),
    timm_row("resmlp_12_224", **SIZED),
    timm_row("resnest14d"),
    timm_row("resnet10t"),
    timm_row("resnetv2_50x1_bit"),
    timm_row("rexnet_100"),
    timm_row("samvit_base_patch16_224", **SIZED, **NARROW),
    timm_row("selecsls42b"),
    timm_row("sequencer2d_s", **SIZED, layers=(1, 1, 1, 1)),
    timm_row("seresnext26d_32x4d"),
    timm_row("shvit_s1", 128),
    timm_row("skresnet18"),
    timm_row("starnet_s1"),
    timm_row("swiftformer_xs", 224),
    timm_row(
        "swinv2_cr_tiny_ns_224",
        **SIZED,
        window_size=4,
        depths=(1, 1, 1, 1),
        num_heads=(1, 2, 3, 4),
        embed_dim=24,
    ),
    timm_row("tf_efficientnetv2_b0"),
    timm_row("tinynet_e"),
    timm_row("tiny_vit_5m_224", 224, depths=(1, 1, 1, 1)),
    timm_row("tnt_s_patch16_224", **SIZED, depth=2),
    timm_row("twins_pcpvt_small", **SIZED, depths=(1, 1, 1, 1)),
    timm_row("visformer_tiny", **SIZED),
    timm_row("vit_relpos_small_patch16_224", **SIZED, **NARROW),
    timm_row("vitamin_small_224", **SIZED),
    timm_row("volo_d1_224", **SIZED),
    timm_row("xception41"),
    timm_row("xcit_nano_12_p16_224", depth=2),
]

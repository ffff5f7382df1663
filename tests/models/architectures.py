"""The table of architectures that `make test-models` tries, and how far those come that fall short."""

from __future__ import annotations

from cache_architectures import CACHED
from detection_architectures import DETECTION
from diffusion_architectures import DIFFUSION
from image_architectures import DENSE, VISION
from multimodal_architectures import MULTIMODAL
from series_architectures import SERIES
from sound_architectures import AUDIO
from text_architectures import TEXT
from vision_architectures import TIMM, TORCHVISION

ARCHITECTURES = [
    *TORCHVISION,
    *TIMM,
    *TEXT,
    *CACHED,
    *VISION,
    *DENSE,
    *DETECTION,
    *AUDIO,
    *MULTIMODAL,
    *SERIES,
    *DIFFUSION,
]

_BRANCHES = "torch cannot capture a branch on a tensor's element"

# Row -> (the last step that it comes to, why not further). A stale entry fails.
LIMITS: dict[str, tuple[str, str]] = {
    "transformers-audio-encodec": ("made", _BRANCHES),
    "transformers-audio-mimi": ("made", _BRANCHES),
    "transformers-encoder-longformer": ("made", _BRANCHES),
    "transformers-encoder-decoder-led": ("made", _BRANCHES),
    "transformers-multimodal-vilt": ("made", _BRANCHES),
    "transformers-static_cache-opt": ("made", "torch cannot capture a size that is an element of a tensor"),
    "transformers-time_series-autoformer": (
        "made",
        "the model makes masks while it is traced that do not fit its scores",
    ),
}

# Rows whose sizes depend on data, which XLA's plugin refuses to run: the interpreter does.
ON_INTERPRETER: dict[str, str] = {
    "transformers-encoder-xmod": "`x[mask]`",
    "transformers-keypoints-superpoint": "`nonzero`: as many keypoints as the data has",
    "transformers-mixture_of_experts-jetmoe": "splits by numbers that are data",
    "transformers-multimodal-idefics3": "`x[mask]`",
}

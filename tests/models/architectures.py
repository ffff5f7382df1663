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
_SELECTS = "`x[mask]`: a size that depends on the data"

# Row -> (the last step that it comes to, why not further). A stale entry fails.
LIMITS: dict[str, tuple[str, str]] = {
    "transformers-audio-encodec": ("made", _BRANCHES),
    "transformers-audio-mimi": ("made", _BRANCHES),
    "transformers-encoder-longformer": ("made", _BRANCHES),
    "transformers-encoder-decoder-led": ("made", _BRANCHES),
    "transformers-encoder-xmod": ("captured", _SELECTS),
    "transformers-keypoints-superpoint": ("captured", "`nonzero`: as many keypoints as the data has"),
    "transformers-mixture_of_experts-jetmoe": ("captured", "splits by numbers that are data"),
    "transformers-multimodal-idefics3": ("captured", _SELECTS),
    "transformers-multimodal-vilt": ("made", _BRANCHES),
    "transformers-static_cache-opt": ("made", "torch cannot capture a size that is an element of a tensor"),
    "transformers-time_series-autoformer": (
        "made",
        "the model makes masks while it is traced that do not fit its scores",
    ),
}

"""Which ops take indices, and which change no element: generated kernels check what is known of indices."""

from __future__ import annotations

from torchgen.model import NativeFunction

# The indices, the tensor that they count in, its dimension, and an index that stands for none.
_SELF = ("index", "self", "dim", "")
INDICES = {
    "_embedding_bag": ("indices", "weight", "0", ""),
    "_embedding_bag_forward_only": ("indices", "weight", "0", ""),
    "embedding": ("indices", "weight", "0", ""),
    "gather": _SELF,
    "index_reduce": _SELF,
    "index_select": _SELF,
    "nll_loss2d_forward": ("target", "self", "1", "ignore_index"),
    "nll_loss_forward": ("target", "self", "-1", "ignore_index"),
    "scatter.reduce": _SELF,
    "scatter.src": _SELF,
    "scatter.value": _SELF,
    "scatter.value_reduce": _SELF,
    "scatter_add": _SELF,
    "scatter_reduce.two": _SELF,
}

_KEEPING = (
    "_unsafe_view",
    "alias_copy",
    "clone",
    "detach_copy",
    "expand_copy",
    "permute_copy",
    "repeat",
    "squeeze_copy",
    "squeeze_copy.dim",
    "squeeze_copy.dims",
    "t_copy",
    "transpose_copy.int",
    "unsqueeze_copy",
    "view_copy",
)


def index_check(function: NativeFunction, name: str) -> list[str]:
    """The statements that check the op's indices; `name` is the op's in errors."""
    if not (rule := INDICES.get(str(function.func.name))):
        return []
    arguments = ", ".join(part for part in rule if part)
    return [f'  checkIndices("{name}", {arguments});']


def keeps_elements(function: NativeFunction) -> bool:
    """Whether the result has the elements of `self` and no others."""
    return str(function.func.name) in _KEEPING

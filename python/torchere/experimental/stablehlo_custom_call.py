"""stablehlo.custom_call from a model's code; PyTorch/XLA's torch_xla.experimental.stablehlo_custom_call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from torchere.errors import UnimplementedError
from torchere.experimental.xla_marker import XLA_LIB

__all__ = [
    "extract_custom_call_outputs_shape_dtype",
    "place_to_device",
    "place_to_host",
    "stablehlo_custom_call",
]

_DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in vars(torch).values()
    if isinstance(dtype, torch.dtype)
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


def stablehlo_custom_call(
    args: Sequence[Any],
    call_target: str,
    output_shapes: Sequence[Sequence[Any]],
    output_dtypes: Sequence[Any],
    has_side_effect: bool = False,
    backend_config: str = "",
    api_version: int = 0,
    frontend_attributes: Mapping[str, str] | None = None,
) -> Any:
    """A stablehlo.custom_call with these fields, in a program that is exported: its result, or a list of
    them where there is not exactly one.

    The call stays where nothing reads its results if it has a side effect. With an `api_version` of 4,
    `backend_config` is a JSON object, whose members are the attributes of the kernel.
    """
    results = torch.ops.xla.stablehlo_custom_call(
        list(args),
        call_target,
        [size for shape in output_shapes for size in shape],
        [len(shape) for shape in output_shapes],
        [_NAMES[dtype] for dtype in output_dtypes],
        has_side_effect,
        backend_config,
        api_version,
        [text for pair in (frontend_attributes or {}).items() for text in pair],
    )
    return results[0] if len(output_shapes) == 1 else results


def extract_custom_call_outputs_shape_dtype(n: Any) -> tuple[Any, Any]:
    """The shapes and the dtypes of the results of a torch.fx.Node."""
    value = n.meta["val"]
    if isinstance(value, torch.Tensor):
        return [value.shape], [value.dtype]
    return tuple(tensor.shape for tensor in value), tuple(tensor.dtype for tensor in value)


def _call_fake(
    args: Any, call_target: str, output_sizes: Any, output_ranks: Any, output_dtypes: Any, *_: Any
) -> list[Any]:
    sizes = iter(output_sizes)
    device = args[0].device if args else "cpu"
    return [
        torch.empty([next(sizes) for _ in range(rank)], dtype=_DTYPES[dtype], device=device)
        for rank, dtype in zip(output_ranks, output_dtypes, strict=True)
    ]


def _call_eager(args: Any, call_target: str, *_: Any) -> list[Any]:
    raise UnimplementedError(
        f"[stablehlo_custom_call] '{call_target}' is called in eager mode: expected a call in a program that "
        "is exported"
    )


def _placement(kind: str) -> Any:
    def place(t: Any) -> Any:
        return stablehlo_custom_call(
            [t],
            "annotate_device_placement",
            [t.shape],
            [t.dtype],
            has_side_effect=True,
            frontend_attributes={"_xla_buffer_placement": kind},
        )

    return place


def place_to_host(t: Any) -> Any:
    """The tensor in the host's memory. A compiler that has memories of several kinds places it there."""
    return torch.ops.xla.place_to_host(t)


def place_to_device(t: Any) -> Any:
    """The tensor in the device's memory."""
    return torch.ops.xla.place_to_device(t)


def _register_placement(name: str, kind: str) -> None:
    XLA_LIB.define(f"{name}(Tensor t) -> Tensor")
    torch.library.impl(XLA_LIB, name, "CompositeExplicitAutograd")(lambda t: t.clone())
    torch.library.impl(XLA_LIB, name, "XLA")(_placement(kind))
    torch.library.register_fake(f"xla::{name}", lambda t: torch.empty_like(t), lib=XLA_LIB)
    torch.library.register_autograd(f"xla::{name}", lambda context, gradient: gradient, lib=XLA_LIB)


def _register() -> None:
    XLA_LIB.define(
        "stablehlo_custom_call(Tensor[] args, str call_target, SymInt[] output_sizes, int[] output_ranks, "
        "str[] output_dtypes, bool has_side_effect, str backend_config, int api_version, "
        "str[] frontend_attributes) -> Tensor[]"
    )
    torch.library.impl(XLA_LIB, "stablehlo_custom_call", "CompositeExplicitAutograd")(_call_eager)
    torch.library.register_fake("xla::stablehlo_custom_call", _call_fake, lib=XLA_LIB)
    # torch does not know which of them have an effect.
    torch.fx.node.has_side_effect(torch.ops.xla.stablehlo_custom_call.default)
    _register_placement("place_to_host", "pinned_host")
    _register_placement("place_to_device", "device")


_register()

"""Import before torchvision where its C++ extension does not load, as with its CUDA wheel beside a CPU torch.

torchvision's Python registers shapes and autocast rules for its own operators when it is imported, and that
needs their schemas, which the extension would bring. Here they are declared when they are missing; the
operators themselves stay unavailable, and the classification models do not use them.
"""

import importlib.util

import torch

ROI = "Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width"
BACKWARD = "SymInt batch_size, SymInt channels, SymInt height, SymInt width"
DEFORM = "SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w"
DEFORM += ", SymInt groups, SymInt offset_groups, bool use_mask"
WEIGHTS = "Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias"
GRAD_ROI = ROI.replace("Tensor input", "Tensor grad")
GRAD_MAPPED = GRAD_ROI.replace("rois,", "rois, Tensor channel_mapping,")

SCHEMAS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    f"roi_align({ROI}, int sampling_ratio, bool aligned) -> Tensor",
    f"roi_pool({ROI}) -> (Tensor, Tensor)",
    f"ps_roi_align({ROI}, int sampling_ratio) -> (Tensor, Tensor)",
    f"ps_roi_pool({ROI}) -> (Tensor, Tensor)",
    f"deform_conv2d({WEIGHTS}, {DEFORM}) -> Tensor",
    f"_roi_align_backward({GRAD_ROI}, {BACKWARD}, int sampling_ratio, bool aligned) -> Tensor",
    f"_roi_pool_backward({GRAD_ROI.replace('rois,', 'rois, Tensor argmax,')}, {BACKWARD}) -> Tensor",
    f"_ps_roi_align_backward({GRAD_MAPPED}, int sampling_ratio, {BACKWARD}) -> Tensor",
    f"_ps_roi_pool_backward({GRAD_MAPPED}, {BACKWARD}) -> Tensor",
    f"_deform_conv2d_backward(Tensor grad, {WEIGHTS}, {DEFORM}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
)


def extension_loads() -> bool:
    """Whether torchvision's own extension can be loaded beside this torch."""
    found = importlib.util.find_spec("torchvision")
    if found is None or not found.submodule_search_locations:
        return False
    folders = list(found.submodule_search_locations)
    for name in ("_C", "_C_stable"):  # before and from torchvision 0.29
        library = importlib.machinery.PathFinder.find_spec(name, folders)
        if library is None or library.origin is None:
            continue
        try:
            torch.ops.load_library(library.origin)
        except OSError:
            continue
        return True
    return False


def declare() -> torch.library.Library | None:
    """Declares the schemas unless the extension brings them; what it returns must stay alive."""
    if extension_loads():
        return None
    library = torch.library.Library("torchvision", "DEF")
    for schema in SCHEMAS:
        library.define(schema)
    return library


LIBRARY = declare()

"""An op lowers to the same StableHLO whether it was exported or traced: one sample of each generated op."""

import re

import pytest
import torch
import torch.utils._pytree as pytree
from lazy_table import NUMBERS, compared_ops, on_device, overload_of, row_of, samples_of
from rows import overload
from sample_choice import first_dtype
from sample_programs import exported
from samples import Sample

import torchere
from torchere import lazy

BATCH = 40

# The op, and why its two texts differ.
_SIZES = "torch.export's shapes of results that only serve gradients are others than those of the Meta kernel"
DIFFERENT = {
    "_embedding_bag": _SIZES,
    "_embedding_bag_forward_only": _SIZES,
    "fake_quantize_per_channel_affine_cachemask": "its sample makes operands of others, so that arguments "
    "have another order",
    "_pdist_backward": "its sample derives operands by numbers, which are arguments when traced",
    "_native_batch_norm_legit_no_training": "torch.export gives empty saved statistics, as the CPU does; "
    "torch's Meta kernel, whose word the device takes, does not",
}


def normalised(text: str) -> str:
    """Without what names things: the module, arguments' names, places in the source."""
    text = re.sub(r"^module @\S+ (attributes \{.*\} )?", "module ", text, flags=re.MULTILINE)
    text = re.sub(r"func\.func public @\w+", "func.func public @main", text)
    text = re.sub(r" loc\(.*?\)|^#loc.*$", "", text, flags=re.MULTILINE)
    # Attributes of arguments and results, as in `%arg0: tensor<3xf32> {jax.arg_info = "x"}`.
    text = re.sub(r"(tensor<[^>]*>) \{[^{}\n]*\}", r"\1", text)
    return text.strip()


def sample_of(op: str) -> Sample:
    """A sample whose numbers are 1 where the device makes others operands: both texts have constants."""
    dtype = first_dtype(row_of(op))
    assert dtype, f"{op} has no sample"
    sample = samples_of(op, dtype, 1)[0]
    names = [argument.name for argument in overload_of(op)._schema.arguments]
    args = tuple(
        type(value)(1) if name in NUMBERS.get(op, ()) and isinstance(value, int | float) else value
        for name, value in zip(names, sample.args, strict=False)
    )
    kwargs = {name: 1 if name in NUMBERS.get(op, ()) else value for name, value in sample.kwargs.items()}
    args, kwargs = pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.contiguous(), (args, kwargs))
    function = overload(row_of(op))
    try:
        function(*args, **kwargs)
    except RuntimeError:
        function = sample.function  # which derives the op's operands
    return Sample(sample.row, sample.dtype, function, args, kwargs)


def texts_of(op: str) -> tuple[str, str]:
    """Of the exported program and of the traced one."""
    sample = sample_of(op)
    results = on_device(sample)
    is_recorded = lazy.statistics()["pending_ops"] > 0  # an alias is not: it shows its operand's value
    traced = lazy.get_stablehlo(None if is_recorded else results)
    del results
    program = torchere.export(exported([sample]), checks=False)  # the device makes none
    return normalised(program.get_stablehlo_text()), normalised(traced)


@pytest.mark.parametrize("start", range(0, len(compared_ops()), BATCH))
def test_both_ways_give_one_text(start):
    differing = []
    for op in compared_ops()[start : start + BATCH]:
        exported_text, traced = texts_of(op)
        assert "func.func public @main" in traced
        if (exported_text == traced) == (op in DIFFERENT):
            differing.append(f"{op}\n--- exported\n{exported_text}\n--- traced\n{traced}")
    assert not differing, "\n".join(differing)


def test_the_list_of_differences_names_generated_ops():
    assert set(DIFFERENT) <= set(compared_ops())

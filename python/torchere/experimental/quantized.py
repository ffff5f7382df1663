"""Importing this module makes exported_program_to_stablehlo write the ops of quantized_decomposed, of which
torch.ao's quantized models consist, with StableHLO's quantized types: stablehlo.uniform_quantize and
stablehlo.uniform_dequantize. Without it they are arithmetic on integers, which any plugin runs."""

from __future__ import annotations

import torch.ao.quantization.fx._decomposed as quantized_decomposed

#: What defines the ops, so that importing this module is enough to call torch.ops.quantized_decomposed.
quantized_decomposed_lib = quantized_decomposed.quantized_decomposed_lib

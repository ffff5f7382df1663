"""How tests have XLA's CPU compiler compile: each op rounded, quickly."""

from __future__ import annotations

from jaxlib import xla_client

# Newer instructions have fused multiply-adds (of f16 with AVX512-FP16), with which a product and the sum that
# it goes into are rounded once. A flag of the process: XLA takes no notice of it as an option of a compile.
OLD_INSTRUCTIONS = "--xla_cpu_max_isa=AVX"
PORTABLE = [
    # What is between ops of types narrower than f32 is not kept in f32.
    ("xla_allow_excess_precision", False),
    # What runs once need not be fast.
    ("xla_backend_optimization_level", 0),
]
# Emitters that compile in a third of the time; they lack some ops of bools and of integers of two bits.
QUICK = [("xla_cpu_use_fusion_emitters", False)]


def compile_options(quick: bool = False) -> xla_client.CompileOptions:
    options = xla_client.CompileOptions()
    options.env_option_overrides = PORTABLE + QUICK if quick else PORTABLE
    return options

"""The CPU engine on the interpreter's corpus: each module gives what the interpreter gives, on random and on
extreme numbers, by the rules of tests/interpreter/corpus_test.py; and the same bits once it was stored and
loaded."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("jaxlib")
import corpus_test

pytestmark = pytest.mark.slow

# Where the engine and the interpreter differ on purpose, by source, as in corpus_test.DEVIATIONS.
# What is not run is refused by the interpreter too, in the same words.
DEVIATIONS: dict[str, dict[str, str]] = {
    "lit": {
        r"stablehlo.all_gather/[12]#0: not run: the plugin crashed": "jaxlib aborts before it calls a plugin",
        r"stablehlo.collective_broadcast/0#0: not run: .* no process 2": "one process runs",
        r"stablehlo.collective_permute/0#0: not run: .* no process 1": "one process runs",
        r"stablehlo.composite/0#0: not run: the plugin crashed": "jaxlib aborts before it calls a plugin",
        r"stablehlo.constant/0#0: not run: .* builtin attribute of code 16": "a resource",
        r"stablehlo.cross-replica-sum/0#0: not run: .* no process 1": "one process runs",
        r"stablehlo.reduce_scatter/[01]#0: not run: .* no process 1": "one process runs",
        r"stablehlo.rng_bit_generator/1#0: not run: .* initial_state: got 1": "a state of another size",
        r"stablehlo.set_dimension_size/0#0: not run: .* got -4, expected it in": "a size beyond the bound",
        r"stablehlo.torch_index_select/": "an index outside, which is not defined; the engine clamps it",
    },
    "jax_control": {
        r"nn.gelu#0( extremes)?: result 0: .* got -0.00525\d*, expected -0.00525\d*$": "1 + tanh(x) of"
        " negative numbers loses digits; the engine computes that sum from the exponential",
    },
    "jax_contractions": {
        r"conv_transpose#0 extremes": "a dilation's zeros, which with infinities are NaN, are left out",
        r"fft/RFFT#0 extremes: .* got \(-inf\+nanj\), expected \(-inf\+0j\)": "the imaginary part of"
        " a real line's first number is 0; by the definition an infinity times the zero of a root is NaN",
    },
    "torch_rows": {
        r"rows/\S+: aten._linalg_eigh.default": "vectors have any sign",
        r"rows/\S+: aten.(_native_batch_norm_legit_no_training|gelu_backward).default": "a product and a sum"
        " that nearly cancel are rounded once",
        r"rows/\S+ extremes: aten.(geqrf|linalg_qr|ormqr).default": "infinities meet the reflectors in"
        " another order",
        r"rows/\S+ extremes: aten.scaled_dot_product_attention.default": "keys that the mask leaves out are"
        " not read, and by the definition their weight of zero times NaN is NaN",
        r"rows/\S+( extremes)?: aten.(grid_sampler_2d|upsample_\w+).": "a kernel adds the parts of pixels in"
        " another order, of which little may be left",
    },
}

# Sources whose modules are as many as the ops times the dtypes: `make test` takes some.
STEP = {"jax_elementwise": 4, "jax_arrays": 3}


def check(engine, programs, source):
    verdicts = [corpus_test.judge(engine, program, source) for program in programs]
    found = [line for lines, _ in verdicts for line in lines]
    unexpected = corpus_test.unlisted(found, DEVIATIONS.get(source, {}))
    assert not unexpected, "\n".join(unexpected)
    # Nothing that is listed has come to agree.
    listed = DEVIATIONS.get(source, {})
    assert [each for each in listed if not any(re.match(each, line) for line in found)] == []


@pytest.mark.parametrize(
    "source", ["lit", "jax_control", "jax_contractions", "jax_elementwise", "jax_arrays"]
)
def test_agrees_with_the_interpreter(engine, source):
    programs = corpus_test.runnable(source)[:: STEP.get(source, 1)]
    assert len(programs) > 20
    check(engine, programs, source)


@pytest.mark.sweep
@pytest.mark.parametrize("source", ["torch_models", "torch_rows", *STEP])
def test_agrees_on_all(engine, source):
    check(engine, corpus_test.runnable(source), source)

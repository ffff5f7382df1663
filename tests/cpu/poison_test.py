"""The CPU engine with poisoned memory: nothing reads what nobody wrote, nor beyond its buffers."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_test import BEGINNING, LIBRARY, MODELS, run

MODES = ["arena", "buffers"]


@pytest.mark.parametrize("mode", MODES)
def test_models_are_right(mode):
    source = BEGINNING + "\n".join(MODELS[name] for name in ("mlp", "attention", "convolution", "lstm"))
    lines, _ = run(source, TORCHERE_CPU_POISON=mode)
    assert lines == ["right"] * 4


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_a_slice_of_the_corpus_agrees_with_the_interpreter(mode, monkeypatch):
    pytest.importorskip("jaxlib")
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[1] / "interpreter"))
    corpus_test, xla = (__import__(name) for name in ("corpus_test", "xla"))
    from engine_corpus_test import DEVIATIONS

    environment = {
        "JAX_PLATFORMS": "torchere_cpu",
        "PJRT_NAMES_AND_LIBRARY_PATHS": f"torchere_cpu:{LIBRARY}",
        "TORCHERE_CPU_POISON": mode,
    }
    plugin = xla.Plugin(platform="torchere_cpu", environment=environment)
    try:
        for source, step in (("jax_control", 2), ("jax_contractions", 3), ("jax_arrays", 12)):
            for program in corpus_test.runnable(source)[::step]:
                lines, _ = corpus_test.judge(plugin, program, source)
                assert corpus_test.unlisted(lines, DEVIATIONS.get(source, {})) == []
    finally:
        plugin.close()

"""JAX's random numbers on the CPU engine: what of them becomes one op, by the names in the log, and the
results beside those of JAX's own platform."""

from __future__ import annotations

import pytest
from fusion_log import JAX, log_of, run_jax

WORDS = """
def words(x):
    return lax.bitcast_convert_type(x, jnp.uint32)

def cipher(x, number=0x1BD11BDA, last=5, turn=13):
    "Threefry of the first half of x as counters, by the first two words as the key; as numbers from 0 to 1."
    bits = words(x)
    keys = [bits[0], bits[1], bits[0] ^ bits[1] ^ numpy.uint32(number)]
    first, second = bits[: len(x) // 2] + keys[0], bits[len(x) // 2 :] + keys[1]
    for group in range(5):
        for each in ((turn, 15, 26, 6), (17, 29, 16, 24))[group % 2]:
            first = first + second
            second = first ^ ((second << numpy.uint32(each)) | (second >> numpy.uint32(32 - each)))
        first = first + keys[(group + 1) % 3]
        second = second + keys[(group + 2) % 3] + numpy.uint32(last if group == 4 else group + 1)
    return jnp.stack([first, second]).astype(jnp.float32) / 2.0**32
"""

#: By name: the call of check() without it, and what is fused.
CASES = {
    "uniform": ("lambda x: jax.random.uniform(words(x), (30, 70)), (2,)", "three_fry=1"),
    "normal": ("lambda x: jax.random.normal(words(x), (30, 70)), (2,)", "three_fry=1 erf=1"),
    "keys of a batch": (
        "lambda x: jax.vmap(lambda key: jax.random.uniform(key, (1500,)))(words(x)), (5, 2)",
        "three_fry=1",
    ),
    "spelled out": ("cipher, (200,)", "three_fry=1"),
    "another third key": ("lambda x: cipher(x, number=0x1BD11BDB), (200,)", "none"),
    "another last number": ("lambda x: cipher(x, last=6), (200,)", "none"),
    "another rotation": ("lambda x: cipher(x, turn=14), (200,)", "none"),
}


@pytest.fixture(scope="module")
def fused():
    return log_of(run_jax, JAX + WORDS, CASES)


@pytest.mark.parametrize("name", CASES)
def test_fused(fused, name):
    assert fused[name] == CASES[name][1]

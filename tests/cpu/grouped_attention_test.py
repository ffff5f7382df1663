"""Attention whose keys serve several heads, as JAX writes it: in five dimensions, which the engine fuses like
others. Forms that only look like it are left alone. All are compared with JAX's own platform."""

from __future__ import annotations

import pytest
from fusion_log import ATTENTION, CAUSAL, JAX, log_of, run_jax

BEGINNING = (
    JAX
    + """
def grouped(scores, q, k, v, mask=None):
    q = q.reshape(*q.shape[:2], k.shape[2], -1, q.shape[3])  # [batch][query][key head][head of it][element]
    found = jnp.einsum(f"btkgh,bskh->{scores}", q, k) / 4
    found = nn.softmax(found if mask is None else found + mask, -1)
    return jnp.einsum(f"{scores},bskh->btkgh", found, v)

def seen(*sizes):
    return jnp.arange(numpy.prod(sizes)).reshape(sizes) % 3 > 0
"""
)

SIZES = "(2, 18, 8, 16), (2, 22, 2, 16), (2, 22, 2, 16)"

CASES = {
    "grouped heads": (f"nn.dot_product_attention, {SIZES}", ATTENTION),
    "causal": (
        "lambda q, k, v: nn.dot_product_attention(q, k, v, is_causal=True), (2, 40, 6, 16), "
        "*[(2, 40, 2, 16)] * 2",
        CAUSAL,
    ),
    "causal, of one item": (
        "lambda q, k, v: nn.dot_product_attention(q, k, v, is_causal=True), (1, 40, 6, 16), "
        "*[(1, 40, 3, 16)] * 2",
        CAUSAL,
    ),
    "one key head": (
        "nn.dot_product_attention, (2, 18, 8, 16), (2, 22, 1, 16), (2, 22, 1, 16)",
        ATTENTION,
    ),
    "one query": ("nn.dot_product_attention, (2, 1, 8, 16), (2, 22, 2, 16), (2, 22, 2, 16)", ATTENTION),
    "values of other sizes": (
        "lambda q, k, v: grouped('bkgts', q, k, v), (2, 18, 8, 16), (2, 22, 2, 16), (2, 22, 2, 5)",
        ATTENTION,
    ),
    "a mask of keys": (
        f"lambda q, k, v: nn.dot_product_attention(q, k, v, mask=seen(1, 1, 1, 22)), {SIZES}",
        ATTENTION,
    ),
    "a mask of heads and queries": (
        f"lambda q, k, v: nn.dot_product_attention(q, k, v, mask=seen(2, 8, 18, 22)), {SIZES}",
        ATTENTION,
    ),
    "a bias of heads": (
        f"lambda q, k, v, b: nn.dot_product_attention(q, k, v, bias=b), {SIZES}, (1, 8, 18, 22)",
        ATTENTION,
    ),
    "heads in front of queries": (f"lambda q, k, v: grouped('bkgts', q, k, v), {SIZES}", ATTENTION),
    "heads behind queries": (f"lambda q, k, v: grouped('bktgs', q, k, v), {SIZES}", ATTENTION),
    "queries in front": (f"lambda q, k, v: grouped('btkgs', q, k, v), {SIZES}", ATTENTION),
    "heads in front of all": (f"lambda q, k, v: grouped('gbkts', q, k, v), {SIZES}", ATTENTION),
    "a mask of grouped heads": (
        f"lambda q, k, v, m: grouped('bkgts', q, k, v, m), {SIZES}, (2, 4, 1, 22)",
        ATTENTION,
    ),
    "weights that are used twice": (
        "lambda q, k, v: (lambda w: (jnp.einsum('bkgts,bskh->btkgh', w, v).sum(0), w.sum()))(nn.softmax("
        "jnp.einsum('btkgh,bskh->bkgts', q.reshape(2, 18, 2, 4, 16), k), -1))[0], " + SIZES,
        ATTENTION,  # JAX leaves the sum out
    ),
    "the second product over heads": (
        "lambda q, k, v: jnp.einsum('bkgts,bskh->btkh', nn.softmax("
        "jnp.einsum('btkgh,bskh->bkgts', q.reshape(2, 18, 2, 4, 16), k), -1), v), " + SIZES,
        "softmax=1",
    ),
    "softmax over queries": (
        "lambda q, k, v: jnp.einsum('bkgst,bskh->btkgh', nn.softmax("
        "jnp.einsum('btkgh,bskh->bkgst', q.reshape(2, 18, 2, 4, 16), k), -1), v), " + SIZES,
        "softmax=1",
    ),
    "three dimensions of queries": (
        "lambda q, k, v: jnp.einsum('bkgxts,bskh->bxtkgh', nn.softmax("
        "jnp.einsum('bxtkgh,bskh->bkgxts', q.reshape(2, 3, 6, 2, 4, 16), k), -1), v), " + SIZES,
        "softmax=1",
    ),
    "maxima of other rows": (
        "lambda x: jnp.exp(x.transpose(1, 0, 2) - x.max(-1).T[..., None][:, ::-1]), (4, 4, 9)",
        "none",
    ),
}


@pytest.fixture(scope="module")
def fused():
    pytest.importorskip("jax")
    return log_of(run_jax, BEGINNING, CASES)


@pytest.mark.parametrize("name", CASES)
def test_grouped_heads(fused, name):
    assert fused[name] == CASES[name][1]

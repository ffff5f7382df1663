"""State that the plugin keeps in place: caches of keys and values, statistics of batch norms."""

import math
import os
from pathlib import Path

import pytest
import torch
from warm_process import run_python

import torchere

HEADS, WIDTH, LAYERS, WORDS = 4, 32, 2, 50

# How a decoder writes what belongs to a position into its cache.
WRITES = {
    "index_copy": lambda cache, position, new: cache.index_copy_(2, position, new),
    "index_put": lambda cache, position, new: cache.__setitem__((slice(None), slice(None), position), new),
    "where": lambda cache, position, new: cache.copy_(
        torch.where((torch.arange(cache.shape[2]) == position)[:, None], new, cache)
    ),
}


class Attention(torch.nn.Module):
    """Of one new token to all before it, whose keys and values are buffers."""

    def __init__(self, length, write, key_heads):
        super().__init__()
        self.write, self.key_heads = WRITES[write], key_heads
        size = HEADS * WIDTH
        self.queries, self.out = torch.nn.Linear(size, size), torch.nn.Linear(size, size)
        self.keys_values = torch.nn.Linear(size, 2 * key_heads * WIDTH)
        self.register_buffer("keys", torch.zeros(1, key_heads, length, WIDTH))
        self.register_buffer("values", torch.zeros(1, key_heads, length, WIDTH))

    def heads(self, x):
        return x.view(1, 1, -1, WIDTH).transpose(1, 2)

    def repeated(self, cache):
        """A head of keys for each head of queries."""
        times = HEADS // self.key_heads
        length = cache.shape[2]
        return (
            cache[:, :, None].expand(1, self.key_heads, times, length, WIDTH).reshape(1, HEADS, length, WIDTH)
        )

    def forward(self, x, position):
        query = self.heads(self.queries(x))
        key, value = (self.heads(part) for part in self.keys_values(x).chunk(2, -1))
        self.write(self.keys, position, key)
        self.write(self.values, position, value)
        seen = torch.arange(self.keys.shape[2]) <= position
        scores = query @ self.repeated(self.keys).transpose(2, 3) / math.sqrt(WIDTH)
        weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
        return self.out((weights @ self.repeated(self.values)).transpose(1, 2).reshape(1, 1, HEADS * WIDTH))


class Decoder(torch.nn.Module):
    """A step of a decoder in the manner of GPT-2: a token and its position in, the next one's logits out."""

    def __init__(self, length, write, key_heads):
        super().__init__()
        size = HEADS * WIDTH
        self.words, self.places = torch.nn.Embedding(WORDS, size), torch.nn.Embedding(length, size)
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(size) for _ in range(LAYERS))
        self.attentions = torch.nn.ModuleList(Attention(length, write, key_heads) for _ in range(LAYERS))

    def forward(self, token, position):
        x = self.words(token) + self.places(position)
        for norm, attention in zip(self.norms, self.attentions, strict=True):
            x = x + attention(norm(x), position)
        return x @ self.words.weight.T


def addresses(program):
    """Where the state's buffers lie."""
    session = program._ready_session()
    return {name: session.read_weight(name).data_ptr() for name in session.state_names()}


def step(program, token, position):
    return program(torch.tensor([[token]]), torch.tensor([position]))


def export_decoder(length, write="index_copy", key_heads=HEADS):
    torch.manual_seed(0)
    module = Decoder(length, write, key_heads).eval()
    return module, torchere.export(module, (torch.tensor([[1]]), torch.tensor([0])))


@pytest.mark.usefixtures("on_engine_and_xla")
def test_the_cache_of_a_decoder_stays_where_it_is():
    module, program = export_decoder(24)
    places = []
    for position in range(24):
        logits = step(program, position % WORDS, position)
        with torch.no_grad():
            expected = step(module, position % WORDS, position)
        torch.testing.assert_close(logits, expected, atol=1e-4, rtol=1e-4)
        places.append(addresses(program))
    assert len(places[0]) == 2 * LAYERS
    assert all(place == places[0] for place in places)


@pytest.mark.usefixtures("on_engine_and_xla")
@pytest.mark.parametrize(
    ("write", "key_heads"), [("index_copy", HEADS), ("index_copy", 2), ("index_put", HEADS), ("where", HEADS)]
)
def test_a_step_of_a_decoder_copies_no_cache(write, key_heads):
    length = 512
    module, program = export_decoder(length, write, key_heads)
    for position in range(3):
        with torch.no_grad():
            expected = step(module, position, position)
        torch.testing.assert_close(step(program, position, position), expected, atol=1e-4, rtol=1e-4)
    memory = program.memory_statistics(torch.tensor([[1]]), torch.tensor([0]))
    cache = key_heads * length * WIDTH * 4  # the keys, or the values, of a layer
    assert memory["aliases"] == 2 * LAYERS * cache
    assert memory["results"] >= memory["aliases"]
    assert memory["temporaries"] < cache / 2


def test_what_memory_a_call_takes_is_told_without_calling():
    program = torchere.export(torch.nn.Linear(4, 3), (torch.ones(2, 4),))
    memory = program.memory_statistics(torch.ones(2, 4))
    assert memory["arguments"] == 4 * (4 * 3 + 3 + 2 * 4)
    assert memory["results"] == 4 * 2 * 3
    assert memory["aliases"] == 0
    assert program._ready_session().counts(0) == {"calls": 0, "refinements": 0, "preparations": 1}
    with pytest.raises(ValueError, match=r"\[input\] wrong size of dimension 0: got 3, expected 2"):
        program.memory_statistics(torch.ones(3, 4))


@pytest.mark.usefixtures("on_engine_and_xla")
def test_statistics_of_batch_norm_stay_where_they_are():
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU())
    program = torchere.export(module, (torch.randn(2, 3, 8, 8),))
    places = []
    for _ in range(3):
        x = torch.randn(2, 3, 8, 8)
        torch.testing.assert_close(program(x), module(x).detach(), atol=1e-4, rtol=1e-4)
        places.append(addresses(program))
    assert set(places[0]) == {"1.running_mean", "1.running_var", "1.num_batches_tracked"}
    assert all(place == places[0] for place in places)
    for name, value in program.state_dict().items():
        if "running" in name:
            torch.testing.assert_close(value, module.state_dict()[name], atol=1e-5, rtol=1e-5)


def test_a_value_that_somebody_holds_is_not_overwritten():
    _, program = export_decoder(8)
    step(program, 1, 0)
    held = program.state_dict()["attentions.0.keys"]
    copy = held.clone()
    step(program, 2, 1)
    assert torch.equal(held, copy)
    assert not torch.equal(program.state_dict()["attentions.0.keys"], copy)


DECODE = """
import sys
sys.path[:0] = sys.argv[1:]
import donation_test, torchere
_, program = donation_test.export_decoder(24)
places = []
for position in range(5):
    donation_test.step(program, 1, position)
    places.append(donation_test.addresses(program))
print(all(place == places[0] for place in places), torchere.plugins.client().compile_counts["loaded"])
"""


@pytest.mark.slow
def test_donation_survives_the_cache_on_disk(tmp_path):
    variables = os.environ | {"TORCHERE_CACHE": "1", "TORCHERE_CACHE_DIR": str(tmp_path)}
    for loaded in (0, 1):  # a process that compiles, and one that finds what it compiled
        done = run_python("-c", DECODE, *Path(__file__).parents[:2], env=variables)
        assert done.stdout == f"True {loaded}\n", done.stderr

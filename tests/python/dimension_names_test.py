"""The user's names of dynamic dimensions, in errors and saved signatures."""

from __future__ import annotations

import json

import pytest
import torch

import torchere


class Nested(torch.nn.Module):
    def forward(self, x, pair, *, mask):
        return x + pair[0].sum(0) + pair[1].sum() + mask.sum(), x.shape[0]


def nested_program():
    batch, rows, length = (torch.export.Dim(name, min=2, max=50) for name in ("batch", "rows", "length"))
    shapes = {
        "x": {0: batch},
        "pair": [{0: rows}, (2 * length, None)],
        "mask": {0: torch.export.Dim.AUTO},
    }
    arguments = (torch.ones(3), [torch.ones(4, 3), torch.ones(10, 2)])
    shapes["pair"][0][1] = batch
    return torchere.export(Nested(), arguments, {"mask": torch.ones(6)}, dynamic_shapes=shapes)


def test_errors_name_the_dimension():
    program = nested_program()
    first = torch.ones(3)
    with pytest.raises(torchere.Error, match=r"dimension 0 \(batch\) out of range: got 51, expected 2 to 50"):
        program(torch.ones(51), [torch.ones(4, 51), torch.ones(10, 2)], mask=torch.ones(6))
    with pytest.raises(torchere.Error, match=r"dimension 0 \(rows\) out of range: got 1, expected 2 to 50"):
        program(first, [torch.ones(1, 3), torch.ones(10, 2)], mask=torch.ones(6))
    result, size = program(first, [torch.ones(5, 3), torch.ones(8, 2)], mask=torch.ones(7))
    assert torch.equal(result, torch.full((3,), 1.0 + 5 + 16 + 7))
    assert size == 3


def test_the_saved_signature_has_the_names(tmp_path):
    nested_program().save(tmp_path / "program")
    text = (tmp_path / "program" / "functions" / "forward.signature.json").read_text()
    json.loads(text)
    assert '"batch"' in text and '"rows"' in text and "2*length" in text

"""Every op of torch's core set has a row, or is taken without one as core_ops.py says."""

import pytest
import torch
from core_ops import TAKEN, X, core_ops
from rows import schemas

import torchere


def test_every_core_op_has_a_row_or_an_entry():
    core, rows = set(core_ops()), set(schemas())
    others = {f"aten.{name}" for name in TAKEN}
    assert len(core) >= 190
    assert not core - rows - others
    assert not others & rows


@pytest.mark.parametrize("name", TAKEN)
def test_programs_that_hold_them_are_right(name):
    entry = TAKEN[name]
    program = entry.program()
    assert f"aten.{name}" in {str(node.target) for node in program.graph.nodes}
    x = torch.rand(6, 5) if entry.is_dynamic else X.flip(0)
    expected = entry.function(x.clone(), *(tensor.clone() for tensor in entry.others))
    torch.testing.assert_close(torchere.export(program)(x, *entry.others), expected)

"""An export warns of nothing that its user cannot change."""

import warnings

import torch

import torchere


class Mapped(torch.nn.Module):
    """Torch decomposes it as a whole."""

    def forward(self, pair):
        return {"sum": torch.vmap(lambda a: a + pair[1])(pair[0])}


class Nested(torch.nn.Module):
    def forward(self, pair):
        return {"sum": pair[0] + pair[1], "norm": torch.linalg.vector_norm(pair[0], 3)}


def test_an_export_warns_of_nothing():
    pair = (torch.ones(3), torch.ones(3))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program = torchere.export(Nested(), (pair,))
        torchere.stablehlo.exported_program_to_stablehlo(torch.export.export(Nested(), (pair,)))
        assert "run_decompositions" in torchere.export(Mapped(), (pair,)).timings
    assert [str(warning.message) for warning in caught if "LeafSpec" in str(warning.message)] == []
    assert program(pair)["sum"].tolist() == [2, 2, 2]


def test_other_warnings_are_let_through(monkeypatch):
    pair = (torch.ones(3), torch.ones(3))
    exported = torch.export.export(Mapped(), (pair,))
    decompose = torch.export.ExportedProgram.run_decompositions

    def warn(self, table):
        warnings.warn("of another kind", FutureWarning, stacklevel=1)
        return decompose(self, table)

    monkeypatch.setattr(torch.export.ExportedProgram, "run_decompositions", warn)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torchere.export(exported)
    assert "of another kind" in {str(warning.message) for warning in caught}

"""The lists of the lazy device's ops: complete, without contradictions, and as docs/lazy_ops.md tells.

Run as a program, it writes docs/lazy_ops.md.
"""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
sys.path[:0] = [str(ROOT / "src/lazy/generator"), str(ROOT / "tests/ops")]

import op_list  # noqa: E402
from rows import schemas  # noqa: E402

DOCUMENT = ROOT / "docs/lazy_ops.md"


def test_every_row_is_on_the_device_or_listed_with_a_reason():
    _, complaints = op_list.lists(schemas())
    assert not complaints, "\n".join(complaints)


def test_the_document_is_up_to_date():
    ops, _ = op_list.lists(schemas())
    assert DOCUMENT.read_text() == op_list.document(ops), "run .venv/bin/python tests/lazy/op_list_test.py"


@pytest.mark.parametrize(
    ("full_codegen", "absent", "complaint"),
    [
        ("[abs]", "", "'exp' has a row and is neither in ops.yaml nor, with a reason, in not_on_device.yaml"),
        (
            "[abs]",
            "exp:",
            "'exp' has a row and is neither in ops.yaml nor, with a reason, in not_on_device.yaml",
        ),
        ("[abs, exp]", "exp: slow", "'exp' is in full_codegen and in not_on_device.yaml"),
        ("[abs, exp]", "sin: slow", "not_on_device.yaml: 'sin' has no row in the op table"),
    ],
)
def test_what_is_wrong_with_the_lists_is_said(tmp_path, monkeypatch, full_codegen, absent, complaint):
    (tmp_path / "ops.yaml").write_text(f"full_codegen: {full_codegen}\n")
    (tmp_path / "not_on_device.yaml").write_text(absent)
    monkeypatch.setattr(op_list, "LAZY", tmp_path)
    assert op_list.lists(["aten.abs.default", "aten.exp.default"])[1] == [complaint]


def test_a_view_needs_its_copy(tmp_path, monkeypatch):
    (tmp_path / "not_on_device.yaml").write_text("")
    monkeypatch.setattr(op_list, "LAZY", tmp_path)
    (tmp_path / "ops.yaml").write_text("full_codegen: [select_copy.int]\n")
    ops, complaints = op_list.lists(["aten.select.int"])
    assert ops["select.int"] == ("none", "a view: functionalization calls `select_copy.int`")
    assert not complaints
    (tmp_path / "ops.yaml").write_text("full_codegen: []\n")
    assert op_list.lists(["aten.select.int"])[1]


if __name__ == "__main__":
    ops, complaints = op_list.lists(schemas())
    print(*complaints, sep="\n", end="\n" if complaints else "")
    DOCUMENT.write_text(op_list.document(ops))

"""The check of switches: what it accepts and what it refuses, and this tree."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def switches():
    spec = importlib.util.spec_from_file_location("check_switches", ROOT / "scripts/check_switches.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_default_over_an_enum_of_ours_is_named(switches, tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src/kind.h").write_text("enum class Kind { A, B };\n")
    (tmp_path / "src/kind.cpython-311.pyc").write_bytes(b"\xa7\r")
    (tmp_path / "src/kind.cpp").write_text(
        "// default: none\nint of(Kind k, Json::value_t j, int i) {\n"
        "  switch (k) {\n  case Kind::A: {\n"
        "    switch (i) {\n    case 1: return 1;\n    default: break;\n    }\n  }\n"
        "  case Kind::B: break;\n  }\n"
        "  switch (j) {\n  case Json::value_t::null: break;\n  default: break;\n  }\n"
        "  switch (k) {\n  case ours::Kind::A:\n    return 2;\n  default:\n    return 3;\n  }\n}\n"
    )
    assert switches.check(tmp_path) == ["src/kind.cpp:19: a switch over an enum of ours has a default"]


def test_this_tree(switches):
    assert switches.check(ROOT) == []

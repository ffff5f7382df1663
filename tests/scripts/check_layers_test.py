"""The layering check: what it accepts and what it refuses, on small trees of its own and on this one."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

TABLE = """
| folder | what lives there | may use | libraries |
|---|---|---|---|
| `base/` | errors | nothing | |
| `dialect/` | ops | `base` | MLIR |
| `dialect/ops/` | more ops | `dialect` | MLIR |
| `runtime/` | plugins | `base`, `dialect` | |
| `python/bindings/` | the extension | `runtime` | nanobind |
"""


@pytest.fixture(scope="module")
def layers():
    spec = importlib.util.spec_from_file_location("check_layers", ROOT / "scripts/check_layers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path):
    """A tree that keeps to TABLE; the value writes one more file into it."""

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return tmp_path

    write("src/base/error.h", "#include <string>\n")
    write("src/dialect/ops.h", '#include "base/error.h"\n#include <mlir/IR/Builders.h>\n')
    write("src/dialect/ops/unary.cpp", '#include "dialect/ops.h"\n')
    write("src/runtime/client.h", '#include "base/error.h"\n')
    write("src/runtime/client.cpp", '#include "runtime/client.h"\n#include "dialect/ops.h"\n')
    write("python/bindings/module.h", "#include <nanobind/nanobind.h>\n")
    write("python/bindings/module.cpp", '#include "bindings/module.h"\n#include "runtime/client.h"\n')
    return write


def test_a_clean_tree_has_no_complaint(layers, tree):
    root = tree("src/base/file.h", '#include "base/error.h"\n')
    assert layers.check(root, TABLE) == []


@pytest.mark.parametrize(
    ("name", "include", "complaint"),
    [
        (
            "src/base/up.h",
            '"runtime/client.h"',
            "src/base/up.h: includes runtime/client.h, but the row of base/ does not name runtime/",
        ),
        (
            "src/dialect/up.h",
            '"dialect/ops/unary.h"',
            "src/dialect/up.h: includes dialect/ops/unary.h, "
            "but the row of dialect/ does not name dialect/ops/",
        ),
        (
            "src/runtime/deep.cpp",
            '"dialect/ops/unary.h"',
            "src/runtime/deep.cpp: includes dialect/ops/unary.h, "
            "but the row of runtime/ does not name dialect/ops/",
        ),
        (  # what a folder may use is no leave to use it through that folder
            "src/dialect/ops/through.cpp",
            '"base/error.h"',
            "src/dialect/ops/through.cpp: includes base/error.h, "
            "but the row of dialect/ops/ does not name base/",
        ),
        (
            "src/runtime/raw.cpp",
            "<llvm/ADT/StringRef.h>",
            "src/runtime/raw.cpp: includes llvm/ADT/StringRef.h, but runtime/ may not use MLIR",
        ),
        (
            "src/runtime/torch.cpp",
            "<ATen/ATen.h>",
            "src/runtime/torch.cpp: includes ATen/ATen.h, but runtime/ may not use torch",
        ),
        (
            "src/runtime/bare.cpp",
            '"client.h"',
            'src/runtime/bare.cpp: includes "client.h", which is in no folder of the table',
        ),
        ("src/novel/a.h", "<string>", "src/novel/a.h: its folder has no row in docs/architecture.md"),
    ],
)
def test_a_wrong_include_is_named(layers, tree, name, include, complaint):
    root = tree(name, f"// a file\n#  include {include}\n")
    assert layers.check(root, TABLE) == [complaint]


def test_a_stale_entry_is_named(layers, tree):
    root = tree("src/base/file.h", "")
    table = TABLE.replace("| more ops | `dialect` |", "| more ops | `base`, `dialect` |")
    assert layers.check(root, table) == [
        "docs/architecture.md: the row of dialect/ops/ names base/, of which it includes nothing"
    ]


def test_a_row_without_sources_is_named(layers, tree):
    root = tree("src/base/file.h", "")
    table = TABLE + "| `serve/` | the server | `runtime` | |\n"
    assert layers.check(root, table) == ["docs/architecture.md: the folder serve/ holds no source"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("| `a/` | x | `b` | |\n| `b/` | x | `c` | |\n| `c/` | x | `b` | |", "cycle: b -> c -> b"),
        ("| `a/` | x | `b` | |", "a: may use b, which has no row"),
        ("| `a/` | x | nothing | |\n| `a/` | y | nothing | |", "a: two rows"),
        ("| `a/` | x | nothing |", "a: got 3 columns, expected 4"),
        ("no table", "no table of layers found"),
    ],
)
def test_a_wrong_table_is_refused(layers, tmp_path, table, message):
    with pytest.raises(layers.LayerError) as error:
        layers.check(tmp_path, table)
    assert str(error.value) == message


def test_this_tree_keeps_to_its_table(layers):
    assert layers.check(ROOT, (ROOT / layers.TABLE).read_text()) == []

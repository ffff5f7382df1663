"""docs/cpp.md: its first program does what the page says, and all of its C++ and C compiles."""

import os
import re
import subprocess
from pathlib import Path

import pytest

import torchere

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/cpp.md").read_text()
LIBRARIES = Path(torchere.__file__).parent.resolve() / "lib"
FLAGS = ["-Wall", "-Werror", "-Wno-unused-variable", f"-I{ROOT / 'include'}"]


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_the_first_program_prints_what_the_page_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (saving,) = blocks("python")
    exec(compile(saving, "cpp.md", "exec"), {})
    first = blocks("cpp")[0]
    (expected,) = re.findall(r"// ([\d ]+)$", first, re.MULTILINE)
    Path("main.cpp").write_text(first)
    library = [f"-L{LIBRARIES}", f"-Wl,-rpath,{LIBRARIES}", "-ltorchere"]
    subprocess.run(["c++", "-std=c++20", *FLAGS, "main.cpp", *library, "-o", "first"], check=True)
    environment = os.environ | {"PJRT_DEVICE": "interpreter"}
    told = subprocess.run(["./first"], check=True, capture_output=True, text=True, env=environment).stdout
    assert told.split() == expected.split()


@pytest.mark.slow
def test_the_other_blocks_compile(tmp_path):
    _, *cpp = blocks("cpp")
    assert len(cpp) == 5
    functions = [f"void block{index}() {{\n{text}}}\n" for index, text in enumerate(cpp)]
    source = tmp_path / "blocks.cpp"
    source.write_text("#include <torchere/torchere.hpp>\n#include <iostream>\n" + "".join(functions))
    subprocess.run(["c++", "-std=c++20", "-fsyntax-only", *FLAGS, source], check=True)
    (c,) = blocks("c")
    source = tmp_path / "block.c"
    source.write_text(
        f"#include <torchere/torchere.h>\n#include <stdio.h>\nvoid block(void);\nvoid block(void) {{\n{c}}}\n"
    )
    subprocess.run(["cc", "-std=c11", "-fsyntax-only", *FLAGS, source], check=True)


def test_the_page_names_functions_that_there_are():
    declared = set(re.findall(r"\b(torchere_\w+)\(", (ROOT / "include/torchere/torchere.h").read_text()))
    last_prefix = ""
    named = set()
    for whole, suffix in re.findall(r"`(torchere_\w+)`|`(_\w+)`", PAGE.split("## The C interface")[1]):
        if whole:
            last_prefix = re.match(r"torchere_(?:program|result|array|plugins|client)?", whole)[0]
        named.add(whole or last_prefix + suffix)
    assert len(named) > 40
    assert named - declared == set()
    unnamed = {name for name in declared - named if not re.match("torchere_(plugins|client)_", name)}
    assert unnamed == set()

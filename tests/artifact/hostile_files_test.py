"""Files of a program that deceive: refused with the place; classes are rebuilt where the caller allows it."""

import collections
import dataclasses
import shutil

import numpy as np
import pytest
import torch
import torch.utils._pytree as pytree

import torchere
from torchere.errors import Error

Out = collections.namedtuple("Out", ["half", "twice"])


@dataclasses.dataclass
class Pair:
    first: torch.Tensor
    second: torch.Tensor


pytree.register_dataclass(Pair, serialized_type_name="classes_test.Pair")


class Results(torch.nn.Module):
    def forward(self, x):
        return {"out": Out(x / 2, x * 2), "pair": Pair(x + 1, x - 1)}


@pytest.fixture(scope="module")
def program():
    return torchere.export(Results(), (torch.ones(2),))


def classes_of(results):
    return type(results["out"]), type(results["pair"])


def test_the_exporting_process_has_its_classes(program):
    results = program(torch.ones(2))
    assert classes_of(results) == (Out, Pair)
    assert results["pair"].first.tolist() == [2, 2] and results["out"].twice.tolist() == [2, 2]


def test_a_loaded_program_rebuilds_what_is_allowed(program, tmp_path):
    program.save(tmp_path / "p")
    x = torch.ones(2)
    assert classes_of(torchere.load(tmp_path / "p")(x)) == (tuple, dict)
    assert classes_of(torchere.load(tmp_path / "p", classes=[Out])(x)) == (Out, dict)
    results = torchere.load(tmp_path / "p", classes=[Out, Pair])(x)
    assert classes_of(results) == (Out, Pair)
    assert results["pair"].second.tolist() == [0, 0] and results["out"].half.tolist() == [0.5, 0.5]


def test_messages_quote_bytes_that_are_no_text(program, tmp_path):
    class Weight(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(2))

        def forward(self, x):
            return x + self.weight

    torchere.export(Weight(), (torch.ones(2),)).save(tmp_path / "p")
    file = tmp_path / "p/data/weight"
    file.write_bytes(file.read_bytes().replace(b"'<f4'", b"'<\xff4'"))
    with pytest.raises(Error) as error:
        torchere.load(tmp_path / "p")
    assert r"has the type '<\xff4', expected bools, numbers" in str(error.value)


def test_modules_that_are_no_text_are_refused(program, tmp_path):
    program.save(tmp_path / "p")
    (tmp_path / "p/functions/forward.bytecode").unlink()
    file = tmp_path / "p/functions/forward.mlir"
    file.write_bytes(b"// \xff\n" + file.read_bytes())
    with pytest.raises(Error, match=r"^\[forward\] the module's text is not UTF-8$"):
        torchere.load(tmp_path / "p").get_stablehlo_text()


def test_constants_that_torch_lacks_are_named(tmp_path):
    torchere.export(lambda x, mode: (x, mode), (torch.ones(2), "up")).save(tmp_path / "p")
    file = tmp_path / "p/functions/forward.signature.json"
    text = file.read_text()
    file.write_text(
        text.replace('{"position":1,"value":"up"}', '{"position":1,"value":{"device":"nowhere:7"}}')
    )
    with pytest.raises(Error, match=r"^\[forward: output 1\] a constant that torch refuses: RuntimeError: "):
        torchere.load(tmp_path / "p")(torch.ones(2), "up")


def test_a_hostile_tree_is_refused_at_load(program, tmp_path):
    program.save(tmp_path / "p")
    file = tmp_path / "p/functions/forward.signature.json"
    file.write_text(file.read_text().replace('"keys":["half","twice"]', '"keys":["half"]'))
    with pytest.raises(Error) as error:
        torchere.load(tmp_path / "p")
    assert str(error.value).endswith(
        "functions/forward.signature.json] output_tree.tree.children[0].keys: got 1 keys, expected one for "
        "each of the 2 children"
    )


def test_names_of_files_that_are_no_text_are_refused(program, tmp_path):
    program.save(tmp_path / "p")
    (tmp_path / "p/manifest.json").unlink()
    (tmp_path / "p/functions/forward.signature.json").unlink()
    shutil.rmtree(tmp_path / "p/data", ignore_errors=True)
    (tmp_path / "p/data").mkdir()
    with open(bytes(tmp_path / "p/data") + b"/\xff", "wb") as file:
        np.save(file, np.ones(2, np.float32))
    with pytest.raises(Error, match="the name is not UTF-8"):
        torchere.load(tmp_path / "p")

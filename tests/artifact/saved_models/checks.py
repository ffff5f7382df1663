"""What else TensorFlow is asked by saved_model_test.py, in one process.

usage: checks.py FOLDER RESULTS.json    {check: error, or "" if all is well}
"""

from __future__ import annotations

import json
import shutil
import sys
import traceback
from pathlib import Path

import numpy as np
import tensorflow as tf
import torch
from loaders import C, Session, Signatures
from torch import nn

import torchere
from torchere.tf_saved_model_integration import make_tf_function

# In the footer: the place of a block that no loader reads, and what is left free.
UNREAD = [*range(-48, -28), *range(-17, -8)]


def is_noticed(loader, model):
    try:
        loader(model)
    except Exception:
        return True
    return False


def damage(folder):
    """Every third byte of both files, in the loader that is quickest; some in the others."""
    model, copy = folder / "training" / "model", folder / "damaged"
    shutil.copytree(model, copy)
    assert not is_noticed(C, copy)
    for file in sorted((copy / "variables").iterdir()):
        intact = file.read_bytes()
        places = [place for place in range(0, len(intact), 3) if place - len(intact) not in UNREAD]
        for number, place in enumerate(places):
            damaged = bytearray(intact)
            damaged[place] ^= 0xFF
            file.write_bytes(damaged)
            loaders = [C, Signatures, Session] if number % 40 == 20 else [C]
            for loader in loaders:
                assert is_noticed(loader, copy), f"{loader.__name__}: {file.name}, byte {place}"
        file.write_bytes(intact)


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x, factor: int):
        self.calls += 1
        return self.linear(x) * factor, self.calls + 0


def tf_function(folder):
    """make_tf_function, called eagerly and inside a tf.function."""
    module, x = Counter(), torch.randn(4, 3)
    program = torchere.export(module, (x, 2))
    expected = module.linear(x).detach().numpy() * 2
    given = tf.constant(x.numpy())
    function = make_tf_function(program)
    graph = tf.function(function)
    for call, step in ((function, 1), (function, 2), (lambda *args: graph(*args), 3)):
        y, calls = call(given, 2)
        np.testing.assert_allclose(y.numpy(), expected, rtol=1e-5, atol=1e-5)
        assert int(calls) == step, int(calls)
    try:
        function(given, 3)
    except tf.errors.InvalidArgumentError as error:
        assert "[factor] another value" in str(error)
    else:
        raise AssertionError("another factor was accepted")


def tf_function_with_variables(folder):
    """The weights are the caller's: TensorFlow's variables, which may change."""
    module, x = nn.Linear(3, 2), torch.randn(4, 3)
    program = torchere.export(module, (x,))
    bundle = program._bundle
    bundle.state_dict = {name: tf.Variable(value) for name, value in bundle.state_dict.items()}
    function = make_tf_function(program, bundle)
    bundle.state_dict["bias"].assign([1.0, 2.0])
    (y,) = function(tf.constant(x.numpy()))
    expected = x @ module.weight.detach().T + torch.tensor([1.0, 2.0])
    np.testing.assert_allclose(y.numpy(), expected.numpy(), rtol=1e-5, atol=1e-5)


def other_numbers(folder):
    """A number that the program was not exported with fails, in every loader."""
    for loader in (Signatures, Session, C):
        calls = json.loads((folder / "arguments" / "case.json").read_text())["calls"]
        from loaders import read

        inputs = {name: read(folder / "arguments", entry) for name, entry in calls[0]["inputs"].items()}
        inputs["args_3"] = np.array(4, np.int32)
        try:
            loader(folder / "arguments" / "model").call(calls[0], inputs)
        except Exception as error:
            assert "[args_3] another value than the program was exported with" in str(error), error
        else:
            raise AssertionError(f"{loader.__name__}: another number was accepted")


def alias(folder):
    """The functions' names, and the alias of the first."""
    from tensorflow.core.protobuf import saved_model_pb2

    model = saved_model_pb2.SavedModel()
    model.ParseFromString((folder / "two_signatures/model/saved_model.pb").read_bytes())
    assert dict(model.meta_graphs[0].meta_info_def.function_aliases) == {"__inference_encode_0": "reader"}
    loaded = tf.saved_model.load(str(folder / "two_signatures/model"))
    assert sorted(loaded.signatures) == ["decode", "serving_default"]
    names = sorted(variable.name for variable in loaded._variables)
    assert names == ["calls:0", "shared.bias:0", "shared.weight:0"], names


def assertions(folder):
    """A size that the module asserts."""
    for loader in (Signatures, Session, C):
        loaded = loader(folder / "assertions" / "model")
        try:
            loaded.call({"key": "serving_default"}, {"args_0": np.ones(5, np.float32)})
        except Exception as error:
            assert "size 5 is above 4" in str(error), error
        else:
            raise AssertionError(f"{loader.__name__}: five were accepted")


CHECKS = [damage, tf_function, tf_function_with_variables, other_numbers, alias, assertions]


def main(folder, results):
    torch.manual_seed(0)
    outcomes = {}
    for check in CHECKS:
        try:
            check(Path(folder))
            outcomes[check.__name__] = ""
        except Exception:
            outcomes[check.__name__] = traceback.format_exc(limit=4)[-3000:]
    Path(results).write_text(json.dumps(outcomes))


if __name__ == "__main__":
    main(*sys.argv[1:])

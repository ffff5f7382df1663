"""`torchere verify-files` and load(verify=True): damage is named, and the program exits with 1."""

import json

import pytest
import torch

import torchere as package


@pytest.fixture
def saved(tmp_path):
    program = package.export(torch.nn.Linear(2, 3), (torch.ones(1, 2),))
    program.save(tmp_path / "p", digests=True)
    return tmp_path / "p"


def test_every_file_is_listed(torchere, saved):
    code, out, error = torchere("verify-files", saved)
    assert (code, error) == (0, "")
    files = sorted(str(path.relative_to(saved)) for path in saved.rglob("*") if path.is_file())
    files.remove("manifest.json")
    assert [line.split() for line in out.splitlines()] == [["ok", name] for name in files]
    assert package.load(saved, verify=True)(torch.ones(1, 2)).shape == (1, 3)


def test_damage_is_named(torchere, saved):
    weight = saved / "data/weight"
    data = bytearray(weight.read_bytes())
    data[-1] ^= 1
    weight.write_bytes(data)
    (saved / "data/bias").unlink()
    (saved / "notes").write_text("mine")
    code, out, error = torchere("verify-files", saved)
    assert code == 1
    assert error == f"torchere: [{saved}/data/bias] is missing (and 1 more)\n"
    lines = {line.split()[1]: line for line in out.splitlines()}
    assert lines["data/bias"].split() == ["missing", "data/bias", "is", "missing"]
    assert lines["data/weight"].startswith("damaged   data/weight")
    assert " wrong digest: got " in lines["data/weight"]
    assert lines["notes"].endswith("is no part of the program")
    code, out, _ = torchere("verify-files", saved, "--json")
    assert code == 1
    document = json.loads(out)
    assert {file["name"]: file["state"] for file in document["files"]} | {
        "data/bias": "missing",
        "data/weight": "damaged",
        "notes": "unlisted",
        "functions/forward.meta": "ok",
    } == {file["name"]: file["state"] for file in document["files"]}
    assert document["error"]["message"] == f"[{saved}/data/bias] is missing (and 1 more)"
    with pytest.raises(package.Error, match=r"data/bias\] is missing \(and 1 more\)"):
        package.load(saved, verify=True)


def test_a_program_without_digests_is_refused(torchere, affine):
    message = (
        f"[{affine}] has no digests to compare with: expected a program that was saved with digests=True"
    )
    assert torchere("verify-files", affine) == (1, "", f"torchere: {message}\n")
    with pytest.raises(package.Error) as caught:
        package.load(affine, verify=True)
    assert str(caught.value) == message

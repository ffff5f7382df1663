"""Programs in one file: what is written, who can read it, what is refused."""

from __future__ import annotations

import copy
import itertools
import os
import shutil
import struct
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import torchere
from torchere.errors import AlreadyExistsError, Error

X = torch.randn(2, 4)


class Model(nn.Module):
    """Tied weights, a state, a constant, dtypes that numpy lacks, a weight without elements."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
        self.second.weight = self.first.weight
        self.register_buffer("calls", torch.zeros(()))
        self.register_buffer("scale", torch.rand(4).to(torch.bfloat16))
        self.register_buffer("nothing", torch.zeros(0, 3))
        self.table = torch.arange(100.0)

    def forward(self, x):
        self.calls.add_(1)
        return self.second(self.first(x)) * self.scale + self.calls + self.table.sum() + self.nothing.sum()


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return Model().eval()


@pytest.fixture(scope="module")
def program(model):
    return torchere.export(model, X)


@pytest.fixture
def archive(program, tmp_path):
    program.save(tmp_path / "model.torchere", digests=True)
    return tmp_path / "model.torchere"


def expected(model):
    with torch.no_grad():
        return copy.deepcopy(model)(X)  # the program saves the model's buffers


def test_round_trip(model, archive):
    loaded = torchere.load(archive, verify=True)
    torch.testing.assert_close(loaded(X), expected(model))
    weights = loaded.state_dict()
    assert weights["first.weight"].data_ptr() == weights["second.weight"].data_ptr()
    assert all(tensor.data_ptr() % 64 == 0 for name, tensor in weights.items() if name != "calls")
    assert weights["scale"].dtype == torch.bfloat16 and weights["scale"].equal(model.scale)


def test_other_programs_read_it(archive):
    with zipfile.ZipFile(archive) as zipped:
        assert zipped.testzip() is None
        names = zipped.namelist()
        assert "data/first.weight" in names and "data/second.weight" not in names  # tied: stored once
        for info in zipped.infolist():
            assert info.compress_type == zipfile.ZIP_STORED and info.date_time[:3] == (1980, 1, 1)
            local = archive.read_bytes()[info.header_offset :]
            name_size, extra_size = struct.unpack("<HH", local[26:30])
            assert (info.header_offset + 30 + name_size + extra_size) % 64 == 0
        with zipped.open("data/first.bias") as file:
            assert np.load(file).shape == (4,)
    if shutil.which("unzip"):
        assert subprocess.run(["unzip", "-tqq", archive]).returncode == 0


def test_weights_are_mapped(archive):
    loaded = torchere.load(archive)
    address = loaded.state_dict()["first.weight"].data_ptr()
    maps = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
    owners = [
        line[-1]
        for line in maps
        if int(line[0].split("-")[0], 16) <= address < int(line[0].split("-")[1], 16)
    ]
    assert owners == [str(archive)]


def test_files_depend_on_the_program_only(program, archive, tmp_path):
    first = archive.read_bytes()
    time.sleep(0.01)
    program.save(tmp_path / "other.torchere", digests=True)
    assert (tmp_path / "other.torchere").read_bytes() == first


def test_unpacked_it_is_a_directory_and_packed_a_file(model, archive, tmp_path):
    with zipfile.ZipFile(archive) as zipped:
        zipped.extractall(tmp_path / "unpacked")
    torch.testing.assert_close(torchere.load(tmp_path / "unpacked", verify=True)(X), expected(model))
    shutil.make_archive(str(tmp_path / "deflated"), "zip", tmp_path / "unpacked")
    with pytest.raises(Error, match=r"is compressed \(method 8\): expected stored entries, as of `zip -0`"):
        torchere.load(tmp_path / "deflated.zip")
    with zipfile.ZipFile(tmp_path / "stored.zip", "w") as zipped:  # not aligned: copied
        for file in sorted((tmp_path / "unpacked").rglob("*")):
            zipped.write(file, file.relative_to(tmp_path / "unpacked"))
    torch.testing.assert_close(torchere.load(tmp_path / "stored.zip")(X), expected(model))


def test_overwriting(program, archive, tmp_path):
    with pytest.raises(AlreadyExistsError, match=r"exists: expected a new file, or overwrite=True"):
        program.save(archive)
    program.save(archive, overwrite=True)
    with zipfile.ZipFile(archive, "a") as zipped:
        zipped.writestr("mine.txt", "keep me")
    before = archive.read_bytes()
    with pytest.raises(Error, match=r'is not overwritten: it holds "mine.txt", which is no part of a saved'):
        program.save(archive, overwrite=True)
    assert archive.read_bytes() == before
    (tmp_path / "text.torchere").write_text("mine")
    with pytest.raises(Error, match=r"is not overwritten: .* is no zip file"):
        program.save(tmp_path / "text.torchere", overwrite=True)
    (tmp_path / "folder.torchere").mkdir()
    with pytest.raises(
        Error, match=r"is a directory: expected a file, or a name that does not end in .torch"
    ):
        program.save(tmp_path / "folder.torchere", overwrite=True)
    (tmp_path / "empty.torchere").touch()
    program.save(tmp_path / "empty.torchere")
    program.save(tmp_path / "new/parents/model.torchere")
    assert not list(tmp_path.rglob("*.tmp"))


def test_stale_files_are_removed(program, archive):
    stale = archive.parent / f".{archive.name}.999999.0.tmp"
    stale.write_text("cut off")
    program.save(archive, overwrite=True)
    assert not stale.exists()


def test_a_failed_save_leaves_nothing(tmp_path):
    class Weight(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("w" * 70000, torch.zeros(1))

        def forward(self, x):
            return x + getattr(self, "w" * 70000)

    with pytest.raises(
        Error, match=r"a name is too long for a zip file: got 70005 bytes, expected 65535 at mo"
    ):
        torchere.export(Weight(), torch.ones(1)).save(tmp_path / "model.torchere")
    assert not list(tmp_path.iterdir())


def test_damage_is_found(archive):
    with zipfile.ZipFile(archive) as zipped:
        info = zipped.getinfo("data/first.weight")
    data = bytearray(archive.read_bytes())
    start = data.index(b"\x93NUMPY", info.header_offset)
    data[start + 130] ^= 1
    archive.write_bytes(data)
    torchere.load(archive)  # weights are mapped, not read
    with pytest.raises(Error, match=r"model\.torchere/data/first\.weight\] wrong digest: got .*, expected"):
        torchere.load(archive, verify=True)
    command = [sys.executable, "-m", "torchere", "verify-files", archive]
    told = subprocess.run(command, capture_output=True, text=True)
    assert told.returncode == 1 and "damaged  data/first.weight" in told.stdout
    data[data.index(b"{", 0)] = ord("[")
    archive.write_bytes(data)
    with pytest.raises(Error, match=r"is damaged: got the checksum [0-9a-f]{8}, expected"):
        torchere.load(archive)


def test_command_line(archive, tmp_path):
    np.save(tmp_path / "x.npy", X.numpy())
    for arguments in (["inspect"], ["verify-files"], ["run", "--input", tmp_path / "x.npy"]):
        command = [sys.executable, "-m", "torchere", arguments[0], archive, *arguments[1:]]
        ran = subprocess.run(command, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr


def test_all_readers_agree(tmp_path):
    """C++ (the command), Python without torch, and JAX without torch."""
    pytest.importorskip("jax")
    model, x = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 3)).eval(), torch.randn(2, 4)
    archive = tmp_path / "model.torchere"
    torchere.export({"apply": (model, x), "twice": (lambda x: model(x) * 2, x)}).save(archive)
    np.save(tmp_path / "x.npy", x.numpy())
    command = [sys.executable, "-m", "torchere", "run", archive, "--function", "twice"]
    files = ["--input", tmp_path / "x.npy", "--output", tmp_path / "native.npy"]
    ran = subprocess.run([*command, *files], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    packages = tmp_path / "packages"  # an environment without torch
    packages.mkdir()
    site = Path(np.__file__).parents[1]
    names = ("numpy", "numpy.libs", "jax", "jaxlib", "ml_dtypes", "opt_einsum", "scipy", "scipy.libs")
    for home in [Path(torchere.__file__).parent, *(site / name for name in names)]:
        if home.exists():
            (packages / home.name).symlink_to(home)
    code = """
import importlib.util
import numpy as np, torchere
assert importlib.util.find_spec("torch") is None
x = np.load("x.npy")
np.save("plain.npy", torchere.load("model.torchere")["twice"](x))
np.save("jax.npy", torchere.jax.load("model.torchere")["twice"](x))
"""
    ran = subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    expected = (model(x) * 2).detach()
    for reader in ("native", "plain", "jax"):
        torch.testing.assert_close(torch.from_numpy(np.load(tmp_path / f"{reader}.npy")), expected)


class Zip:
    """A zip file, record by record, with what a test wants to be wrong."""

    def __init__(self):
        self.data, self.directory, self.count = b"", b"", 0

    def add(
        self, name, text, *, flags=0, method=0, local=None, mode=0o100644, size=None, offset=None, **other
    ):
        name = name if isinstance(name, bytes) else name.encode()
        local_name = other.get("local_name", name)
        sizes = struct.pack("<III", zipfile.crc32(text), len(text), len(text) if size is None else size)
        fields = struct.pack("<HHHHH", 20, flags, method, 0, 0x21) + sizes
        begin = len(self.data) if offset is None else offset
        if local is not False:
            lengths = struct.pack("<HH", len(local_name), 0)
            self.data += b"PK\3\4" + fields + lengths + local_name + text
        lengths = struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, mode << 16, begin)
        self.directory += b"PK\1\2" + struct.pack("<H", 3 << 8 | 20) + fields + lengths + name
        self.count += 1
        return self

    def bytes(self, count=None, size=None, comment=b"", between=b"", disk=0):
        count = self.count if count is None else count
        size = len(self.directory) if size is None else size
        end = struct.pack("<HHHHIIH", disk, 0, count, count, size, len(self.data), len(comment))
        return self.data + self.directory + between + b"PK\5\6" + end + comment


def good():
    return Zip().add("a", b"text")


HOSTILE = {
    "twice": (good().add("a", b"other").bytes(), r'has two entries called "a"'),
    "overlapping": (good().add("b", b"text", local=False, offset=0).bytes(), "overlaps the one before it"),
    "inside": (
        Zip().add("a", Zip().add("b", b"x").data).add("b", b"x", local=False, offset=31).bytes(),
        'entry "b" overlaps the one before it',
    ),
    "parent": (Zip().add("../a", b"x").bytes(), r'may not have "\.\." as a component'),
    "absolute": (Zip().add("/a", b"x").bytes(), 'the name "/a" is absolute'),
    "empty name": (Zip().add("", b"x").bytes(), "the name is empty"),
    "NUL": (Zip().add("a\0b", b"x").bytes(), "has a NUL byte"),
    "not UTF-8": (Zip().add(b"\xff", b"x").bytes(), "is not UTF-8"),
    "encrypted": (Zip().add("a", b"x", flags=1).bytes(), 'entry "a" is encrypted'),
    "masked": (Zip().add("a", b"x", flags=1 << 13).bytes(), 'entry "a" is encrypted'),
    "compressed": (Zip().add("a", b"x", method=8).bytes(), r'entry "a" is compressed \(method 8\)'),
    "size": (
        Zip().add("a", b"x", size=1 << 30).bytes(),
        "wrong size: got 1 bytes stored, expected 1073741824",
    ),
    "link": (Zip().add("a", b"/etc/passwd", mode=0o120777).bytes(), 'entry "a" is no plain file'),
    "folder with data": (Zip().add("a/", b"x").bytes(), "wrong size"),
    "another local name": (Zip().add("a", b"x", local_name=b"b").bytes(), 'headers of entry "a" disagree'),
    "no local header": (Zip().add("a", b"x", local=False, offset=0).bytes(), 'entry "a" has no header at 0'),
    "offset": (Zip().add("a", b"x", offset=1 << 31).bytes(), "has no header at 2147483648"),
    "too few": (good().bytes(count=2), "directory is too short|wrong number of entries"),
    "too many": (good().add("b", b"x").bytes(count=1), "wrong number of entries: got 2, expected 1"),
    "gap": (good().bytes(between=b"gap"), "its directory does not lie before its end"),
    "directory size": (good().bytes(size=1 << 31), "its directory does not lie before its end"),
    "prefix": (b"#!/bin/sh\n" + good().bytes(), "its directory does not lie before its end"),
    "parts": (good().bytes(disk=1), "is one of several parts of a zip file"),
    "no end": (good().bytes()[:-3], "is no zip file, or was cut off: its end record is missing"),
    "empty": (b"", "is no zip file, or was cut off"),
    "no program": (good().bytes(), "functions] is no saved program's directory"),
    "comment": (good().bytes(comment=b"hello"), "functions] is no saved program's directory"),
    "ZIP64 size is missing": (Zip().add("a", b"x", size=0xFFFFFFFF).bytes(), "has no ZIP64 size or offset"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_files(kind, tmp_path):
    data, message = HOSTILE[kind]
    (tmp_path / "bad.torchere").write_bytes(data)
    with pytest.raises(Error, match=message) as raised:
        torchere.load(tmp_path / "bad.torchere")
    assert str(tmp_path / "bad.torchere") in str(raised.value)


def test_a_file_of_torch_is_named_as_one(tmp_path):
    torch = pytest.importorskip("torch")
    torch.export.save(torch.export.export(torch.nn.Linear(2, 3), (torch.ones(4, 2),)), tmp_path / "a.pt2")
    with pytest.raises(Error, match=r"a.pt2\] is a file of torch.export.save: expected a saved program, as"):
        torchere.load(tmp_path / "a.pt2")


def test_every_cut_is_noticed(archive, tmp_path):
    data = archive.read_bytes()
    cut = tmp_path / "cut.torchere"
    for size in itertools.chain(range(0, len(data), 997), range(len(data) - 60, len(data))):
        cut.write_bytes(data[:size])
        with pytest.raises(Error, match=r"cut\.torchere"):
            torchere.load(cut)


def test_more_entries_than_16_bits_count(tmp_path):
    """ZIP64's end record."""

    class Many(nn.Module):
        def __init__(self):
            super().__init__()
            self.items = nn.ParameterList([torch.zeros(1)])

        def forward(self, x):
            return x + self.items[0]

    torchere.export(Many(), torch.ones(1)).save(tmp_path / "model.torchere")
    files = {}
    with zipfile.ZipFile(tmp_path / "model.torchere") as zipped:
        files = {name: zipped.read(name) for name in zipped.namelist() if name != "manifest.json"}
    del files["functions/forward.signature.json"]
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as zipped:
        for name, data in files.items():
            zipped.writestr(name, data)
        for index in range(66000):
            zipped.writestr(f"data/.hidden{index}", b"")
    assert torchere.load(tmp_path / "many.zip")(torch.ones(1)).tolist() == [1.0]


@pytest.mark.sweep
def test_beyond_4_gib(tmp_path):
    class Large(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", torch.zeros((1 << 32) + 5, dtype=torch.int8))
            self.register_buffer("small", torch.arange(3))

        def forward(self, x):
            return x + self.table[-1] + self.small

    module = Large()
    module.table[-1] = 7
    torchere.export(module, torch.zeros(3)).save(tmp_path / "large.torchere", digests=True)
    with zipfile.ZipFile(tmp_path / "large.torchere") as zipped:
        assert zipped.getinfo("data/table").file_size > 1 << 32 and zipped.testzip() is None
    loaded = torchere.load(tmp_path / "large.torchere", verify=True)
    assert loaded.state_dict()["table"][-1] == 7 and loaded.state_dict()["small"].tolist() == [0, 1, 2]
    os.unlink(tmp_path / "large.torchere")

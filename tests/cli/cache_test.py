"""torchere cache: what it shows and clears."""

import json


def test_the_cache_is_shown_and_cleared(torchere, affine, x, plugin, tmp_path):
    folder = tmp_path / "cache"
    variables = {"TORCHERE_CACHE_DIR": str(folder), "TORCHERE_CACHE": "1"}
    assert torchere("cache", **variables) == (0, f"{folder}\n0 entries, 0 B of 1.1 GB\n", "")
    for expected in (1, 1):  # the second run finds the first one's
        code, _, error = torchere("run", affine, "--input", x[1], "--plugin", plugin, **variables)
        assert code == 0, error
        document = json.loads(torchere("cache", "--json", **variables)[1])
        assert document.pop("entries") == expected
        size = document.pop("bytes")
        assert size == sum(file.stat().st_size for file in folder.iterdir()) > 0
        assert document == {"enabled": True, "folder": str(folder), "limit": 1 << 30}
    (folder / "notes").write_text("mine")
    code, out, _ = torchere("cache", "clear", "--json", **variables)
    assert code == 0
    assert json.loads(out) == {"folder": str(folder), "removed": {"entries": 1, "bytes": size}}
    assert [file.name for file in folder.iterdir()] == ["notes"]
    assert torchere("cache", "clear", **variables)[1] == "removed 0 entries, 0 B\n"


def test_the_second_run_compiles_nothing(torchere, affine, x, plugin, tmp_path):
    variables = {"TORCHERE_CACHE_DIR": str(tmp_path / "c"), "TORCHERE_CACHE": "1", "TORCHERE_LOG": "info"}
    arguments = ("run", affine, "--input", x[1], "--plugin", plugin)
    code, first, log = torchere(*arguments, **variables)
    assert code == 0 and "torchere info [compile] compiled " in log
    code, second, log = torchere(*arguments, **variables)
    assert code == 0 and "torchere info [cache] loaded " in log and "compiled" not in log
    assert first == second


def test_without_a_cache(torchere, tmp_path):
    off = {"TORCHERE_CACHE": "0"}
    assert torchere("cache", **off)[1] == "off: TORCHERE_CACHE is 0, or there is no folder for it\n"
    assert json.loads(torchere("cache", "--json", **off)[1]) == {"enabled": False}
    assert torchere("cache", "clear", **off)[1] == "removed 0 entries, 0 B\n"


def test_packed_weights_are_shown_and_cleared(torchere, tmp_path):
    folder = tmp_path / "packed"
    folder.mkdir(mode=0o700)
    variables = {"TORCHERE_CPU_PACKED_CACHE": str(folder), "TORCHERE_CPU_PACKED_CACHE_SIZE": "2K"}
    variables |= {"TORCHERE_CACHE_DIR": str(tmp_path / "cache"), "TORCHERE_CACHE": "1"}
    (folder / f"{'0' * 64}.packed").write_bytes(bytes(1500))
    (folder / "notes").write_text("mine")
    shown = f"{tmp_path / 'cache'}\n0 entries, 0 B of 1.1 GB\n"
    shown += f"packed weights:\n{folder}\n1 entry, 1.5 kB of 2.0 kB\n"
    assert torchere("cache", **variables)[1] == shown
    document = json.loads(torchere("cache", "--json", **variables)[1])
    assert document["packed_weights"] == {"folder": str(folder), "entries": 1, "bytes": 1500, "limit": 2048}
    document = json.loads(torchere("cache", "clear", "--json", **variables)[1])
    assert document["packed_weights"] == {"folder": str(folder), "removed": {"entries": 1, "bytes": 1500}}
    assert document["removed"] == {"entries": 0, "bytes": 0}
    assert [file.name for file in folder.iterdir()] == ["notes"]
    cleared = "removed 0 entries, 0 B\npacked weights: removed 0 entries, 0 B\n"
    assert torchere("cache", "clear", **variables)[1] == cleared


def test_packed_weights_without_a_cache_of_executables(torchere, tmp_path):
    variables = {"TORCHERE_CACHE": "0", "TORCHERE_CPU_PACKED_CACHE": str(tmp_path / "packed")}
    shown = "off: TORCHERE_CACHE is 0, or there is no folder for it\n"
    shown += f"packed weights:\n{tmp_path / 'packed'}\n0 entries, 0 B of 8.6 GB\n"
    assert torchere("cache", **variables)[1] == shown


def test_a_folder_that_is_not_safe_is_an_error(torchere, tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o777)
    code, out, error = torchere("cache", TORCHERE_CACHE_DIR=str(folder), TORCHERE_CACHE="1")
    assert (code, out) == (1, "")
    message = "can be written to by other users: got mode 0777, expected 0700; the compile cache is not used"
    assert error == f"torchere: [{folder}] {message}\n"

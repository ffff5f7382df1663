"""The program `torchere`: usage, what it lists, and its exit codes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DEVICE_EXPECTED = "expected the id of a device: an integer of at least 0"
PACKAGE = Path(__file__).resolve().parents[2] / "python/torchere"


def test_help_names_the_subcommands_and_shows_examples(torchere):
    code, out, _ = torchere("--help")
    assert code == 0
    for text in ("run ", "inspect ", "ops ", "devices ", "plugins ", "verify-files "):
        assert f"\n  {text}" in out
    assert "Exit codes: 0 success, 1 failure, 2 wrong usage." in out
    assert "torchere run resnet18/ --input image.npy --output logits.npy" in out
    code, out, _ = torchere("run", "--help")
    assert code == 0
    assert "NAME=FILE.npy" in out


def test_version(torchere):
    assert re.fullmatch(r"torchere \d+\.\d+\.\d+\n", torchere("--version")[1])


@pytest.mark.parametrize(
    "option, file",
    [
        ("--cmake-dir", "TorchereConfig.cmake"),
        ("--include-dir", "torchere/torchere.hpp"),
        ("--library-dir", "libtorchere.so"),
    ],
)
def test_folders_for_those_who_build_on_the_library(torchere, option, file):
    code, out, _ = torchere(option)
    assert code == 0
    assert (Path(out.strip()) / file).is_file()


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "A subcommand is required"),
        (["run"], "DIR is required"),
        (["fly"], "The following argument was not expected: fly"),
        (["inspect", "d", "--color"], "The following argument was not expected: --color"),
        (
            ["run", "d", "--device", "-3"],
            f"--device: got -3, {DEVICE_EXPECTED}\n",
        ),
        (
            ["run", "d", "--device", "x"],
            f"--device: got x, {DEVICE_EXPECTED}\n",
        ),
        (["run", "d", "--values", "-1"], "--values: got -1, expected a count of elements: an integer of"),
        (["run", "d", "--values", "nan"], "--values: got nan, expected a count of elements"),
        (
            ["verify", "d", "--tolerance", "-1"],
            "--tolerance: got -1, expected a part of the largest float: a",
        ),
        (["verify", "d", "--tolerance", "nan"], "--tolerance: got nan, expected a part of the largest float"),
        (["verify", "d", "--tolerance", "inf"], "--tolerance: got inf, expected a part of the largest float"),
        (["verify", "d", "--seed", "-1"], "--seed: got -1, expected a seed: an integer of at least 0"),
    ],
)
def test_wrong_usage_exits_with_2(torchere, arguments, message):
    code, out, error = torchere(*arguments)
    assert code == 2
    assert message in error
    assert out == ""


def test_failures_exit_with_1_and_say_why(torchere, tmp_path):
    code, out, error = torchere("inspect", tmp_path / "none")
    assert code == 1
    assert out == ""
    expected = f"[{tmp_path}/none] does not exist: expected the directory or the file of a saved program"
    assert error == f"torchere: {expected}\n"
    code, out, error = torchere("inspect", tmp_path / "none", "--json")
    assert code == 1
    assert json.loads(out) == {"error": {"code": "NOT_FOUND", "message": expected, "where": ""}}


def test_output_that_cannot_be_written_is_a_failure(binary):
    with open("/dev/full", "w") as full:
        done = subprocess.run([binary, "ops"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "torchere: [stdout] cannot be written\n"


def test_a_closed_output_is_a_failure():
    command = f"{sys.executable} -m torchere ops >&-"
    done = subprocess.run(command, shell=True, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "torchere: [stdout] cannot be written\n")


def test_ops(torchere):
    code, out, _ = torchere("ops", "--json")
    assert code == 0
    ops = {op["name"]: op["schema"] for op in json.loads(out)["ops"]}
    assert ops["aten.add.Tensor"].startswith("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1)")
    assert list(ops) == sorted(ops)
    code, out, _ = torchere("ops", "aten.add.")
    assert code == 0
    assert {line.split()[0] for line in out.splitlines()} == {name for name in ops if "aten.add." in name}


def test_ops_without_a_match(torchere):
    code, _, error = torchere("ops", "aten.fly")
    assert code == 1
    assert error == 'torchere: [ops] no op with a lowering has "aten.fly" in its name\n'


def test_plugins(torchere, tmp_path):
    environment = {"XDG_DATA_HOME": str(tmp_path), "PJRT_NAMES_AND_LIBRARY_PATHS": "mine:/opt/mine.so"}
    code, out, _ = torchere("plugins", "--json", **environment)
    assert code == 0
    mine, interpreter, engine = json.loads(out)["plugins"]
    assert (mine["name"], mine["path"]) == ("mine", "/opt/mine.so")
    assert (interpreter["name"], interpreter["origin"]) == ("interpreter", "built in")
    assert Path(interpreter["path"]).name == "libtorchere_interpreter.so"
    assert (engine["name"], Path(engine["path"]).name) == ("torchere_cpu", "libtorchere_cpu.so")
    lines = torchere("plugins", **environment)[1].splitlines()
    assert lines[0].split()[:2] == ["mine", "/opt/mine.so"]
    assert lines[1].split() == ["interpreter", interpreter["path"], "built", "in"]
    assert lines[2].split() == ["torchere_cpu", engine["path"], "built", "in"]
    assert lines[3] == "XLA's CPU plugin is not installed: `torchere plugins install cpu` fetches it"
    environment["PJRT_NAMES_AND_LIBRARY_PATHS"] = "cpu:/opt/cpu.so"
    assert "not installed" not in torchere("plugins", **environment)[1]


def test_devices_of_the_interpreter(torchere):
    code, out, _ = torchere("devices", PJRT_DEVICE="interpreter")
    assert code == 0
    assert out.splitlines()[0].startswith("interpreter StableHLO ")
    assert out.splitlines()[1].split() == ["0", "interpreter", "InterpreterDevice(id=0)"]


def test_plugins_of_packages_come_last(torchere):
    """As command_line.py passes them on."""
    packages = "vendor:/opt/vendor.so,interpreter:/opt/other.so"
    _, out, _ = torchere("plugins", "--json", TORCHERE_PACKAGE_PLUGINS=packages)
    found = [(each["name"], each["path"]) for each in json.loads(out)["plugins"]]
    assert found[-2:] == [("vendor", "/opt/vendor.so"), ("interpreter", "/opt/other.so")]
    code, _, error = torchere("devices", "--plugin", "vendor", TORCHERE_PACKAGE_PLUGINS=packages)
    assert code == 1
    assert "/opt/vendor.so" in error


def test_the_help_of_plugins_names_what_python_does(torchere):
    code, out, _ = torchere("plugins", "--help")
    assert code == 0
    assert "\n  install " in out
    assert "\n  uninstall " in out
    # The program beside the package has no Python to do it with.
    code, _, error = torchere("plugins", "install", "cpu", "--force")
    assert code == 1
    assert error == (
        "torchere: [plugins install] needs Python: expected as the first arguments of the package's command, "
        "`torchere plugins install cpu`\n"
    )


def test_a_log_level_that_is_none_is_said_once(torchere):
    warning = (
        'torchere warning [TORCHERE_LOG] is no level: got "verbose", '
        "expected off, error, warning, info or debug\n"
    )
    assert torchere("ops", "aten.add.", TORCHERE_LOG="verbose")[2] == warning
    assert torchere("ops", "aten.add.", TORCHERE_LOG="debug")[2] == ""
    script = "import torchere; torchere.load(__import__('sys').argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", script, "/none"],
        capture_output=True,
        text=True,
        env=os.environ | {"TORCHERE_LOG": "verbose", "PYTHONPATH": str(PACKAGE.parent)},
    )
    assert done.stderr.startswith(warning)
    assert done.stderr.count("TORCHERE_LOG") == 1


def test_devices(torchere, plugin):
    code, out, _ = torchere("devices", "--plugin", plugin, "--json")
    assert code == 0
    document = json.loads(out)
    assert document["platform"] == "torchere_cpu"
    assert document["devices"][0]["id"] == 0
    code, out, _ = torchere("devices", "--plugin", plugin)
    assert len(out.splitlines()) == 1 + len(document["devices"])
    assert torchere("devices", PJRT_DEVICE=document["plugin"])[0] == 0
    assert torchere("devices")[1] == out
    _, several, _ = torchere("devices", "--json", CPU_NUM_DEVICES="3")
    assert [device["id"] for device in json.loads(several)["devices"]] == [0, 1, 2]


def test_devices_of_a_plugin_that_is_missing(torchere):
    code, _, error = torchere("devices", "--plugin", "/none.so")
    assert code == 1
    assert error.startswith("torchere: [/none.so] ")

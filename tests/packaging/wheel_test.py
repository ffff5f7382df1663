"""What the wheel holds, and that it works in an environment of its own, away from the source tree."""

import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this tree, packed from the release build that the tests run on."""
    target = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "--no-build-isolation", "-q"]
    command += ["-w", str(target), f"--config-settings=build-dir={ROOT / 'build/release'}"]
    command += ["--config-settings=cmake.define.TORCHERE_BUILD_TESTS=ON"]
    # The cmake and ninja that made the build tree: others would build all of it again.
    environment = os.environ | {"PATH": f"{ROOT / '.venv/bin'}:/usr/bin:{os.environ['PATH']}"}
    subprocess.run(command, check=True, cwd=ROOT, env=environment)
    (path,) = target.glob("*.whl")
    return path


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    libraries = {"torchere/lib/libtorchere.so", "torchere/lib/libtorchere_interpreter.so"}
    development = {
        "torchere/include/torchere/torchere.h",
        "torchere/include/torchere/torchere.hpp",
        "torchere/lib/cmake/Torchere/TorchereConfig.cmake",
        "torchere/lib/cmake/Torchere/TorchereConfigVersion.cmake",
        "torchere/lib/pkgconfig/torchere.pc",
    }
    binaries = {f"torchere/_core{suffix}", "torchere/bin/torchere"} | libraries
    assert binaries <= set(names)
    sources = {
        path.relative_to(ROOT / "python").as_posix()
        for pattern in ("*.py", "*.pyi", "py.typed")
        for path in (ROOT / "python/torchere").rglob(pattern)
    }
    assert "torchere/py.typed" in sources
    metadata = {name for name in names if re.match(r"torchere-[0-9.]+\.dist-info/", name)}
    assert set(names) == binaries | development | sources | metadata
    assert {name.rsplit("/", 1)[1] for name in metadata} >= {"LICENSE", "THIRD_PARTY_NOTICES", "METADATA"}


def test_the_wheel_depends_on_numpy_alone(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        metadata = archive.read(name).decode()
    required = re.findall(r"^Requires-Dist: (.*)$", metadata, re.MULTILINE)
    assert [re.split(r"[<>=; ]", requirement)[0] for requirement in required] == ["numpy"]


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A virtual environment that holds the wheel, and of this one's packages all but torchere."""
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment)
    pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin/python"), "install", "-q"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True)
    # A path in a .pth file is searched, but the .pth files in it, such as the tree's own, are not read.
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return environment


def run(installed, directory, *command):
    """Runs a command of the environment and gives the lines it printed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    program = str(installed / "bin" / command[0])
    result = subprocess.run(
        [program, *command[1:]], capture_output=True, text=True, env=environment, cwd=directory
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def test_the_wheel_runs_in_an_environment_of_its_own(installed, tmp_path):
    source = f"""
import torch, torchere
assert torchere.__file__.startswith({str(installed)!r}), torchere.__file__
maps = open("/proc/self/maps").read()
assert {str(installed)!r} in maps
assert {str(ROOT / "build")!r} not in maps
assert "libMLIR" not in maps
model = torch.nn.Linear(4, 3)
x = torch.randn(2, 4)
program = torchere.export(model, (x,))
program.save("saved")
for each in (program, torchere.load("saved")):
    torch.testing.assert_close(each(x), model(x).detach())
print("done")
"""
    assert run(installed, tmp_path, "python", "-c", source)[-1] == "done"


def test_the_wheel_s_command_runs(installed, tmp_path):
    assert any(line.startswith("aten.add.Tensor") for line in run(installed, tmp_path, "torchere", "ops"))

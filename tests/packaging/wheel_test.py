"""What the wheel holds, and that it works in an environment of its own, away from the source tree."""

import os
import re
import shutil
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
    libraries = {
        f"torchere/lib/{name}.so" for name in ("libtorchere", "libtorchere_interpreter", "libtorchere_cpu")
    }
    development = {
        *(
            f"torchere/include/torchere/{name}"
            for name in ("call.hpp", "lazy.h", "lowering.h", "tensor.hpp", "torchere.h", "torchere.hpp")
        ),
        "torchere/lib/cmake/Torchere/TorchereConfig.cmake",
        "torchere/lib/cmake/Torchere/TorchereConfigVersion.cmake",
        "torchere/lib/pkgconfig/torchere.pc",
    }
    binaries = {f"torchere/_core{suffix}", "torchere/bin/torchere"} | libraries
    assert binaries <= set(names)
    sources = {
        path.relative_to(ROOT / "python").as_posix()
        for pattern in ("*.py", "*.pyi", "py.typed")
        for package in ("torchere", "jax_plugins")
        for path in (ROOT / "python" / package).rglob(pattern)
    }
    assert "torchere/py.typed" in sources
    metadata = {name for name in names if re.match(r"torchere-[0-9.]+\.dist-info/", name)}
    # What `python -m torchere.lazy build` compiles, and the headers of the core that it includes.
    lazy = {name for name in names if name.startswith("torchere/lazy/sources/")}
    tree = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src/lazy").rglob("*.[chy]*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {f"torchere/lazy/sources/{name}" for name in tree} <= lazy
    assert {Path(name).suffix for name in lazy} == {".cpp", ".h", ".hpp", ".yaml", ".py"}
    assert set(names) == binaries | development | sources | metadata | lazy
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


# What C and C++ users do. They have the wheel, a compiler and cmake; Python only saved the programs.


@pytest.fixture(scope="module")
def saved_examples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    script = ROOT / "examples/cpp/save_programs.py"
    subprocess.run([sys.executable, script, folder], check=True, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def built_examples(installed, tmp_path_factory):
    """examples/cpp, built as a project of its own by find_package(Torchere)."""
    folder = tmp_path_factory.mktemp("project")
    for source in (ROOT / "examples/cpp").iterdir():
        shutil.copy(source, folder)
    lines = (folder / "CMakeLists.txt").read_text().splitlines()
    assert len(lines) <= 10
    (package,) = run(installed, folder, "torchere", "--cmake-dir")
    assert package.startswith(str(installed))
    environment = os.environ | {"PATH": f"/usr/bin:{os.environ['PATH']}"}
    configure = ["cmake", "-S", folder, "-B", folder / "build", f"-DTorchere_DIR={package}"]
    subprocess.run(configure, check=True, env=environment)
    subprocess.run(["cmake", "--build", folder / "build"], check=True, env=environment)
    return folder / "build"


@pytest.mark.parametrize("example", ["resnet18", "decoder", "two_threads"])
def test_the_examples_in_cpp_run_and_agree_with_eager(installed, built_examples, saved_examples, example):
    program = built_examples / example
    result = subprocess.run([program, saved_examples], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    needed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    assert str(installed) in needed  # the wheel's library
    assert not re.search(r"libpython|libtorch(_\w+)?\.so|libc10|libMLIR|libLLVM|tensorflow", needed)
    again = subprocess.run([program, saved_examples / "none"], capture_output=True, text=True)
    assert again.returncode == 1
    assert "does not exist: expected the directory or the file of a saved program" in again.stderr


def test_pkg_config_builds_a_c_program(installed, tmp_path):
    (tmp_path / "main.c").write_text(
        "#include <stdio.h>\n#include <torchere/torchere.h>\n"
        "int main(void) {\n"
        "  torchere_program program = 0;\n"
        '  torchere_status status = torchere_program_load("/none", 0, &program);\n'
        '  printf("%s %s: ", torchere_version(), torchere_status_name(status));\n'
        "  puts(torchere_error_message());\n"
        "  return 0;\n}\n"
    )
    (library,) = run(installed, tmp_path, "torchere", "--library-dir")
    (include,) = run(installed, tmp_path, "torchere", "--include-dir")
    assert Path(include, "torchere/torchere.h").is_file()
    environment = os.environ | {"PKG_CONFIG_PATH": f"{library}/pkgconfig"}
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "torchere"],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    ).stdout.split()
    subprocess.run(
        ["cc", "-std=c11", "-Wall", "-Werror", "main.c", *flags, "-o", "main"], check=True, cwd=tmp_path
    )
    told = subprocess.run([tmp_path / "main"], check=True, capture_output=True, text=True).stdout
    assert re.match(r"\d+\.\d+\.\d+ NOT_FOUND: \[/none\] does not exist", told)

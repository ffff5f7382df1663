"""torchere.plugins: what is fetched and unpacked, and what of installed packages is found."""

import hashlib
import os
import subprocess
import sys
import zipfile
from dataclasses import replace

import pytest
from warm_process import run_python

from torchere import _core, command_line, errors, plugins


@pytest.fixture
def data_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("PJRT_NAMES_AND_LIBRARY_PATHS", raising=False)
    monkeypatch.delenv("PJRT_DEVICE", raising=False)
    monkeypatch.delenv("TORCHERE_PLUGIN", raising=False)
    return tmp_path / "data"


def make_wheel(path, monkeypatch, members):
    """A wheel of these members, published as the CPU plugin from here on."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    sha256 = dict.fromkeys(plugins.PUBLISHED["cpu"].sha256, digest)
    monkeypatch.setitem(plugins.PUBLISHED, "cpu", replace(plugins.PUBLISHED["cpu"], sha256=sha256))
    return path


MEMBERS = {
    "lammps_jax_pjrt_cpu/__init__.py": "",
    "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so": "library",
    "lammps_jax_pjrt_cpu-0.11.2.dist-info/licenses/LICENSE": "licence",
    "lammps_jax_pjrt_cpu-0.11.2.dist-info/METADATA": "",
}


def test_install_keeps_the_library_and_the_licence(data_home, tmp_path, monkeypatch):
    wheel = make_wheel(tmp_path / "a.whl", monkeypatch, MEMBERS)
    library = plugins.install("cpu", wheel=wheel)
    assert library == data_home / "torchere/plugins/cpu/0.11.2/pjrt_c_api_cpu_plugin.so"
    assert library.read_text() == "library"
    assert sorted(path.name for path in library.parent.iterdir()) == ["LICENSE", "pjrt_c_api_cpu_plugin.so"]
    assert [path.name for path in (data_home / "torchere/plugins/cpu").iterdir()] == ["0.11.2"]
    assert plugins.find("cpu").path == str(library)
    assert plugins.find("cpu").origin == "installed"
    assert plugins.find().name == "torchere_cpu"


def test_install_does_nothing_when_it_is_there(data_home, tmp_path, monkeypatch):
    wheel = make_wheel(tmp_path / "a.whl", monkeypatch, MEMBERS)
    library = plugins.install("cpu", wheel=wheel)
    library.write_text("changed")
    assert plugins.install("cpu", wheel=tmp_path / "missing.whl").read_text() == "changed"
    assert plugins.install("cpu", wheel=wheel, force=True).read_text() == "library"
    assert plugins.uninstall("cpu")
    assert not plugins.uninstall("cpu")
    assert not library.exists()


def test_install_refuses_a_wheel_of_another_hash(data_home, tmp_path, monkeypatch):
    wheel = make_wheel(tmp_path / "a.whl", monkeypatch, MEMBERS)
    wheel.write_bytes(wheel.read_bytes() + b"x")
    with pytest.raises(
        errors.Error, match=r"\[a.whl\] wrong sha256: got [0-9a-f]{64}, expected [0-9a-f]{64}"
    ):
        plugins.install("cpu", wheel=wheel)
    assert not (data_home / "torchere/plugins/cpu/0.11.2").exists()


def test_install_refuses_a_wheel_without_the_library(data_home, tmp_path, monkeypatch):
    wheel = make_wheel(
        tmp_path / "a.whl", monkeypatch, {"other/plugin.so": "", "../lammps_jax_pjrt_cpu/x.so": ""}
    )
    message = r"\[a.whl\] unexpected contents: got 0 libraries in lammps_jax_pjrt_cpu/, expected 1"
    with pytest.raises(errors.Error, match=message):
        plugins.install("cpu", wheel=wheel)
    assert [*data_home.rglob("*.so")] == []


def test_the_command_prints_the_path_or_the_error(data_home, tmp_path, monkeypatch, capsys):
    wheel = make_wheel(tmp_path / "a.whl", monkeypatch, MEMBERS)
    assert plugins.main(["install", "cpu", "--wheel", str(wheel)]) == 0
    assert capsys.readouterr().out == f"{data_home}/torchere/plugins/cpu/0.11.2/pjrt_c_api_cpu_plugin.so\n"
    assert plugins.main(["install", "cpu", "--force", "--wheel", str(tmp_path / "b.whl")]) == 1
    assert capsys.readouterr().err == f"torchere: [{tmp_path}/b.whl] no such file\n"
    assert command_line.main(["plugins", "uninstall", "cpu"]) == 0
    assert not (data_home / "torchere/plugins/cpu").exists()
    assert command_line.main(["plugins", "uninstall", "cpu"]) == 0
    assert capsys.readouterr().out == "[cpu] the plugin is not installed: nothing was removed\n"


def test_install_names_what_is_wrong(data_home, tmp_path, monkeypatch):
    with pytest.raises(
        errors.NotFoundError, match=r"\[cuda\] not a plugin that can be installed: expected cpu"
    ):
        plugins.install("cuda")
    with pytest.raises(errors.NotFoundError, match=r"nowhere.whl\] no such file"):
        plugins.install("cpu", wheel=tmp_path / "nowhere.whl")
    with pytest.raises(errors.InvalidArgumentError, match=r"not the name of a plugin: got '../x'"):
        plugins.uninstall("../x")
    monkeypatch.setattr(plugins.platform, "machine", lambda: "abacus")
    with pytest.raises(
        errors.NotFoundError, match="no wheel of the plugin for this machine: got abacus, expected x86_64"
    ):
        plugins.install("cpu")


def test_a_download_that_fails_says_what_pip_said(data_home, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(
        errors.Error, match=r"(?s)\[lammps-jax-pjrt-cpu\] cannot download the plugin with pip: .*No match"
    ):
        plugins.install("cpu")
    assert [*(data_home / "torchere/plugins/cpu").iterdir()] == []


def test_without_a_home_there_is_nowhere_to_install(monkeypatch):
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("HOME")
    with pytest.raises(
        errors.NotFoundError, match="no directory for the user's data: set XDG_DATA_HOME or HOME"
    ):
        plugins.install("cpu")


def test_packages_are_found_where_jax_finds_them(data_home, tmp_path, monkeypatch):
    packages = tmp_path / "packages"
    for name in (
        "jax_plugins/xla_fancy12/xla_fancy_plugin.so",
        "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so",
    ):
        (packages / name).parent.mkdir(parents=True)
        (packages / name).write_text("")
    # A package is never imported to be found.
    (packages / "jax_plugins/xla_fancy12/__init__.py").write_text("raise RuntimeError('imported')")
    (packages / "lammps_jax_pjrt_cpu/__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(packages)
    fancy, cpu = plugins.find("fancy"), plugins.find("cpu")
    assert fancy.path == str(packages / "jax_plugins/xla_fancy12/xla_fancy_plugin.so")
    assert fancy.origin == "jax_plugins"
    assert (cpu.path, cpu.origin) == (
        str(packages / "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so"),
        "site-packages",
    )
    monkeypatch.setenv("PJRT_DEVICE", "FANCY")
    assert plugins.find().path == fancy.path
    assert {"fancy", "cpu"} <= {location.name for location in plugins.known()}


def test_a_missing_plugin_names_those_there_are(data_home, monkeypatch):
    monkeypatch.setattr(plugins, "installed_packages", list)
    message = (
        r"\[tpu\] no such PJRT plugin: known are interpreter, torchere_cpu; "
        "name one by its path, or in PJRT_NAMES_AND_LIBRARY_PATHS"
    )
    with pytest.raises(errors.NotFoundError, match=message):
        plugins.client("tpu")


COMPUTE = """
import torch, torchere
program = torchere.export(torch.nn.Identity(), (torch.ones(2),))
print(program(torch.ones(2)).tolist(), torchere.plugins.client().platform_name)
"""


@pytest.mark.parametrize("xla", ["installed", "missing"])
def test_cpu_is_the_processor_whichever_plugin_there_is(xla, tmp_path):
    """As scripts for PyTorch/XLA set it, in an environment with XLA's plugin and in one without."""
    environment = os.environ | {"PJRT_DEVICE": "CPU", "TORCHERE_LOG": "info"}
    if xla == "missing":
        environment["XDG_DATA_HOME"] = str(tmp_path)
    done = run_python("-c", COMPUTE, env=environment)
    platform = "cpu" if xla == "installed" else "torchere_cpu"
    assert done.stdout == f"[1.0, 1.0] {platform}\n", done.stderr
    origin = "installed" if xla == "installed" else "built in"
    assert f"torchere info [plugin] CPU is {platform}, {origin}: /" in done.stderr


def test_a_file_that_is_no_plugin_is_refused(tmp_path):
    path = tmp_path / "text.so"
    path.write_text("no library")
    with pytest.raises(errors.InvalidArgumentError, match=r"text.so\] not a PJRT plugin: "):
        plugins.client(str(path))


def test_options_have_types():
    with pytest.raises(
        TypeError, match=r"\[x\] wrong type of option: expected str, int, float, bool or a list of int"
    ):
        plugins.client("cpu", {"x": object()})


@pytest.mark.parametrize("name", ["torchere_cpu", "cpu"])
def test_the_client_describes_its_plugin(name):
    client = plugins.client(name)
    assert client.platform_name == name
    assert [device.kind for device in client.devices] == [name]
    assert client.api_version[0] == 0
    assert client.stablehlo_version >= (1, 0, 0)
    assert client.attributes["stablehlo_current_version"] == [*client.stablehlo_version]
    assert plugins.client(name) is client


@pytest.mark.parametrize("variables", [{}, {"CPU_NUM_DEVICES": "3"}], ids=["option", "variable"])
@pytest.mark.parametrize(
    ("name", "option"), [("", "device_count"), ("torchere_cpu", "device_count"), ("cpu", "cpu_device_count")]
)
def test_as_many_devices_as_asked(name, option, variables):
    options = {} if variables else {option: 3}
    source = f"from torchere import plugins; print(len(plugins.client({name!r}, {options}).devices))"
    environment = os.environ | variables
    result = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, env=environment)
    assert result.stdout.strip() == "3", result.stderr
    assert result.stderr == ""  # the plugin's notices are not the user's


def test_a_client_looks_for_packages_only_where_it_has_to(monkeypatch):
    path = plugins.find("cpu").path
    client = plugins.client("cpu")

    def look():
        raise AssertionError("looked for packages")

    with monkeypatch.context() as patched:
        patched.setattr(plugins, "installed_packages", look)
        assert plugins.client(path).platform_name == client.platform_name
    location = _core.PluginLocation("of_a_package", path, "site-packages")
    monkeypatch.setattr(plugins, "installed_packages", lambda: [location])
    assert plugins.client("of_a_package").platform_name == client.platform_name
    with pytest.raises(errors.NotFoundError, match=r"known are .*, of_a_package;"):
        plugins.client("no_such_plugin")

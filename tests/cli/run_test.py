"""`torchere run`: results equal numpy's, files in and out, and the errors of wrong inputs."""

import io
import json
import os
import stat

import numpy as np
import pytest


def expected(x):
    return x @ np.arange(6, dtype=np.float32).reshape(3, 2) + 2 * np.array([1, 2], np.float32)


@pytest.fixture
def run(torchere, plugin):
    return lambda *arguments: torchere("run", *arguments, "--plugin", plugin)


@pytest.fixture
def failure(run):
    """The message of a run that fails."""

    def fail(*arguments):
        code, out, error = run(*arguments)
        assert (code, out) == (1, "")
        assert error.startswith("torchere: ")
        return error.removeprefix("torchere: ").rstrip("\n")

    return fail


def test_the_precision_of_products(run, failure, affine, x):
    _, file = x
    assert run(affine, "--input", file, "--precision", "highest")[0] == 0
    assert (
        failure(affine, "--input", file, "--precision", "best")
        == '[precision] of products: got "best", expected "default", "high" or "highest"'
    )


def test_writes_what_numpy_computes(run, affine, x, tmp_path):
    array, file = x
    code, out, _ = run(affine, "--input", file, "--output", tmp_path / "y.npy")
    assert code == 0
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), expected(array), rtol=1e-6)
    assert out.startswith("output_0  float32 (4, 2)  [")
    assert out.endswith(f"]  -> {tmp_path}/y.npy\n")
    assert "..." not in out  # all eight elements


def test_reports_as_json(run, affine, x):
    array, file = x
    options = ["--function", "forward", "--json", "--values", "3"]
    code, out, _ = run(affine, "--input", f"args_0={file}", *options)
    assert code == 0
    document = json.loads(out)
    assert (document["function"], document["platform"], document["mutations"]) == (
        "forward",
        "torchere_cpu",
        [],
    )
    assert document["seconds"] > 0
    (output,) = document["outputs"]
    assert (output["name"], output["dtype"], output["shape"]) == ("output_0", "float32", [4, 2])
    np.testing.assert_allclose(output["values"], expected(array).ravel()[:3], rtol=1e-6)


def test_reads_fortran_order_and_replaces_an_old_output(run, affine, x, tmp_path):
    array, _ = x
    np.save(tmp_path / "f.npy", np.asfortranarray(array))
    (tmp_path / "y.npy").write_text("old")
    assert run(affine, "--input", tmp_path / "f.npy", "--output", tmp_path / "y.npy")[0] == 0
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), expected(array), rtol=1e-6)


def test_wrong_inputs_are_named(failure, affine, x, tmp_path):
    _, file = x
    assert failure(affine) == "[forward] inputs are missing: got 0, expected 1 more (--input, for args_0)"
    message = failure(affine, "--input", file, "--input", file)
    assert message == "[forward] too many inputs: got 2, expected 1 (args_0)"
    message = failure(affine, "--input", f"args_0={file}", "--input", f"args_0={file}")
    assert message == "[args_0] the input is given twice"
    assert failure(affine, "--input", f"y={file}") == "[y] no such input: expected one of args_0"
    message = failure(affine, "--input", tmp_path / "none.npy")
    assert message == f"[{tmp_path}/none.npy] cannot be opened: No such file or directory"
    message = failure(affine, "--input", file, "--function", "backward")
    assert message == "[backward] no such function in the program: expected one of forward"


@pytest.mark.parametrize(
    "array, message",
    [
        (np.zeros((4, 3)), "[args_0] wrong dtype: got float64, expected float32"),
        (np.zeros((4, 2), np.float32), "[args_0] wrong "),
        (np.zeros(4, np.float32), "[args_0] wrong number of dimensions: got 1, expected 2"),
    ],
    ids=["dtype", "size", "rank"],
)
def test_arrays_that_do_not_fit_are_named(failure, affine, tmp_path, array, message):
    np.save(tmp_path / "x.npy", array)
    assert failure(affine, "--input", tmp_path / "x.npy").startswith(message)


def test_truncated_input_is_named(failure, affine, x):
    _, file = x
    file.write_bytes(file.read_bytes()[:-1])
    message = failure(affine, "--input", file)
    assert message == f"[{file}] wrong size of data: got 47 bytes, expected 48 (the file is cut off)"


def test_outputs_that_cannot_be_written_are_named(failure, affine, x, tmp_path):
    _, file = x
    path = tmp_path / "none" / "y.npy"
    message = failure(affine, "--input", file, "--output", path)
    assert message == f"[{path}] cannot be created: No such file or directory"
    message = failure(affine, "--input", file, "--output", tmp_path)
    assert message == f"[{tmp_path}] is a directory, expected a file"
    message = failure(affine, "--input", file, "--output", "a.npy", "--output", "b.npy")
    assert message == "[forward] too many --output: got 2, expected at most 1"


def test_an_output_that_is_a_link_writes_what_it_names(run, failure, affine, x, tmp_path):
    array, file = x
    (tmp_path / "real").mkdir()
    (tmp_path / "real/y.npy").write_text("old")
    (tmp_path / "y.npy").symlink_to("real/y.npy")
    (tmp_path / "new.npy").symlink_to("real/new.npy")
    for name in ("y.npy", "new.npy"):
        code, _, error = run(affine, "--input", file, "--output", tmp_path / name)
        assert code == 0, error
        assert (tmp_path / name).is_symlink()
        np.testing.assert_allclose(np.load(tmp_path / "real" / name), expected(array), rtol=1e-6)
    assert sorted(path.name for path in (tmp_path / "real").iterdir()) == ["new.npy", "y.npy"]
    (tmp_path / "loop.npy").symlink_to("loop.npy")
    message = failure(affine, "--input", file, "--output", tmp_path / "loop.npy")
    assert message == f"[{tmp_path}/loop.npy] cannot be created: Too many levels of symbolic links"


def test_an_output_that_is_no_file_is_written_through(run, failure, affine, x, tmp_path):
    array, file = x
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    code, _, error = run(affine, "--input", file, "--output", fifo)
    received = os.read(reader, 1 << 16)
    os.close(reader)
    assert code == 0, error
    assert stat.S_ISFIFO(os.stat(fifo).st_mode)
    np.testing.assert_allclose(np.load(io.BytesIO(received)), expected(array), rtol=1e-6)
    # Devices of this test's own, if it may make them: what goes wrong would take those of the machine.
    for name, minor in (("null", 3), ("full", 7)):
        try:
            os.mknod(tmp_path / name, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        except PermissionError:
            pytest.skip("only root makes devices")
    assert run(affine, "--input", file, "--output", tmp_path / "null")[0] == 0
    message = failure(affine, "--input", file, "--output", tmp_path / "full")
    assert message == f"[{tmp_path}/full] cannot be written: No space left on device"
    for name in ("null", "full"):
        assert stat.S_ISCHR(os.stat(tmp_path / name).st_mode)


def test_a_program_without_its_weights_is_not_run(failure, affine, x):
    (affine / "data/weight").unlink()
    (affine / "data").rmdir()
    message = failure(affine, "--input", x[1])
    assert message == (
        "[session] the program was saved without its weights: it cannot be called before "
        "program.with_weights(...)"
    )


def test_state_ints_and_raw_bytes(run, tmp_path):
    """Through the package's own export: an int from the command line, bfloat16 in and out, a fresh state."""
    import torch

    import torchere as package

    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

        def forward(self, x, n, mode):
            self.calls += n
            return x * 2, self.calls + 0

    x = torch.tensor([1.0, -2.5, 3.0], dtype=torch.bfloat16)
    shapes = {"x": None, "n": torch.export.Dim.DYNAMIC, "mode": None}
    package.export(Scaled(), (x, 5, "mean"), dynamic_shapes=shapes).save(tmp_path / "p")
    np.save(tmp_path / "x.npy", x.view(torch.int16).numpy().view("V2"))
    long = str(1 << 63)
    code, _, error = run(tmp_path / "p", "--input", tmp_path / "x.npy", "--input", f"n={long}")
    assert code == 1 and f"[n] wrong value: got {long}, expected an int of 64 bits" in error
    arguments = [tmp_path / "p", "--input", tmp_path / "x.npy", "--input", "n=7"]
    for _ in range(2):  # each run starts from the saved state
        code, out, error = run(*arguments, "--output", tmp_path / "y.npy")
        assert code == 0, error
        assert out.splitlines()[0] == f"output_0  bfloat16 (3,)  [2.0, -5.0, 6.0]  -> {tmp_path}/y.npy"
        assert out.splitlines()[1] == "output_1  int64 ()  [7]"
    written = torch.from_numpy(np.load(tmp_path / "y.npy").view(np.int16)).view(torch.bfloat16)
    assert torch.equal(written, x * 2)

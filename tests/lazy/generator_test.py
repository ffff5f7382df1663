"""The generator: what its linter refuses, and that equal tables give equal bytes."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

LAZY = Path(__file__).parent.parent.parent / "src/lazy"
sys.path.insert(0, str(LAZY / "generator"))

from indices import INDICES  # noqa: E402
from kernels import kernel_sources  # noqa: E402
from table import TableError, read_table  # noqa: E402

NUMBERS = LAZY / "number_operands.yaml"


def table_with(tmp_path: Path, **columns) -> Path:
    content = {"backend": "XLA", "cpp_namespace": "torchere::lazy", "full_codegen": ["abs"], **columns}
    path = tmp_path / "ops.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        ({"full_codegen": ["abs", "exp", "abs"]}, "full_codegen: 'abs' is listed twice"),
        ({"supported": ["abs"]}, "'abs' is in full_codegen and in supported"),
        ({"symint": ["exp"]}, "symint: 'exp' is neither in full_codegen nor in supported"),
        ({"autograd": ["exp"]}, "autograd: 'exp' is neither in full_codegen nor in supported"),
        ({"supported": ["no_such_op"]}, "supported: torch has no op 'no_such_op'"),
        ({"full_codegen": ["add_.Tensor"]}, "'add_.Tensor' writes to an argument: list it in supported"),
        ({"full_codegen": ["view"]}, "'view' gives a view: list it in supported"),
        ({"full_codegen": ["nonzero"]}, "'nonzero' has a result whose size depends on elements"),
        ({"backend": "Lazy"}, "backend: got Lazy, expected XLA"),
        ({"extra": []}, "unknown key 'extra': expected one of backend, cpp_namespace, full_codegen"),
    ],
)
def test_the_linter_refuses(tmp_path, columns, complaint):
    with pytest.raises(TableError, match=re.escape(complaint)):
        read_table(table_with(tmp_path, **columns), NUMBERS)


def test_the_linter_reports_all_at_once(tmp_path):
    with pytest.raises(TableError) as raised:
        read_table(table_with(tmp_path, full_codegen=["view", "nonzero"], symint=["exp"]), NUMBERS)
    assert len(str(raised.value).splitlines()) == 3


def test_a_number_operand_must_be_a_scalar(tmp_path):
    numbers = tmp_path / "numbers.yaml"
    numbers.write_text("add.Tensor: [other]")
    with pytest.raises(TableError, match=re.escape("number operands: 'add.Tensor' has no Scalar 'other'")):
        read_table(table_with(tmp_path), numbers)


def test_equal_tables_give_equal_bytes(tmp_path):
    """Each by a process of its own, in a folder of its own."""
    texts = []
    for folder in (tmp_path / "first", tmp_path / "second/deeper"):
        command = [sys.executable, LAZY / "generator", "--table", LAZY / "ops.yaml", "--numbers", NUMBERS]
        subprocess.run([*command, "--output", folder, "--shards", "2"], check=True)
        texts.append({path.name: path.read_bytes() for path in (folder / "lazy").iterdir()})
    assert texts[0] == texts[1] and len(texts[0]) == 5
    assert not any(str(tmp_path).encode() in text for text in texts[0].values())


def test_shapes_of_structured_ops_need_no_dispatch(tmp_path):
    table = read_table(table_with(tmp_path, full_codegen=["exp", "native_layer_norm"]), NUMBERS)
    text = "".join(kernel_sources(table, 2).values())
    assert "return at::meta::exp(selfShape);" in text
    assert "return at::_ops::native_layer_norm::call(" in text
    assert 'TORCH_LAZY_COUNTER("xla::exp", 1);' in text


def test_the_copy_of_a_view_becomes_the_view(tmp_path):
    table = read_table(table_with(tmp_path, full_codegen=["t_copy"]), NUMBERS)
    text = "".join(kernel_sources(table, 1).values())
    assert '{"aten.t.default",' in text and "return at::_ops::t_copy::call(selfShape);" in text


@pytest.mark.parametrize(
    ("op", "complaint"),
    [
        (
            "zeros_like",
            "'zeros_like' may be asked for on another device than its operand's: list it in supported",
        ),
        ("equal", "'equal' has a result that is no tensor: list it in supported, and write its kernel"),
    ],
)
def test_the_linter_refuses_results_that_no_node_has(tmp_path, op, complaint):
    with pytest.raises(TableError, match=re.escape(complaint)):
        read_table(table_with(tmp_path, full_codegen=[op]), NUMBERS)


def test_a_number_operand_belongs_to_an_op(tmp_path):
    numbers = tmp_path / "numbers.yaml"
    numbers.write_text("no_such_op: [alpha]")
    with pytest.raises(TableError, match=re.escape("number operands: torch has no op 'no_such_op'")):
        read_table(table_with(tmp_path), numbers)


def test_indices_are_arguments_of_generated_ops():
    table = read_table(LAZY / "ops.yaml", NUMBERS)
    generated = {str(function.func.name): function for function in table.full_codegen}
    for op, (index, tensor, dimension, ignored) in INDICES.items():
        names = {argument.name for argument in generated[op].func.arguments.flat_all}
        assert {index, tensor} <= names and ignored in {"", *names}, op
        assert dimension in names or int(dimension) in (-1, 0, 1), op


def test_the_indices_of_an_op_are_checked_before_it_is_recorded(tmp_path):
    table = read_table(table_with(tmp_path, full_codegen=["gather", "exp", "t_copy"]), NUMBERS)
    text = "".join(kernel_sources(table, 1).values())
    assert text.count("checkIndices(") == 1
    assert 'checkIndices("aten.gather.default", index, self, dim);' in text
    assert text.count("return withRangeOf(self, recorder.tensor(") == 1


def test_a_random_op_takes_a_generator(tmp_path):
    table = read_table(table_with(tmp_path, full_codegen=["bernoulli", "native_dropout"]), NUMBERS)
    text = "".join(kernel_sources(table, 1).values())
    assert "recorder.add(generator);" in text and "std::optional<at::Generator> generatorShape;" in text
    assert "recorder.add(std::optional<at::Generator>());" in text
    assert "bool? train, *, Generator? generator=None) -> (Tensor, Tensor)" in text


def generated(tmp_path: Path, lazy: Path, op: str) -> subprocess.CompletedProcess[str]:
    """The generator on a table of one op, with the folder of another source tree."""
    command = [sys.executable, LAZY / "generator", "--table", table_with(tmp_path, full_codegen=[op])]
    command += ["--numbers", lazy / "number_operands.yaml", "--output", tmp_path / "out"]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True)


@pytest.fixture
def lazy(tmp_path):
    folder = tmp_path / "lazy"
    (folder / "shapes").mkdir(parents=True)
    (folder / "kernels").mkdir()
    (folder / "number_operands.yaml").write_text("{}")
    return folder


def test_an_op_without_a_lowering_fails_the_build_and_says_what_to_write(tmp_path, lazy):
    result = generated(tmp_path, lazy, "special_airy_ai")
    assert result.returncode == 1
    assert result.stderr.startswith(
        "full_codegen: 'special_airy_ai' has no lowering: expected in a file of src/lowering/ops/\n"
        "    Result<mlir::Value> special_airy_ai(Context &cx, const Args &args);\n"
        '    table.add("aten::special_airy_ai(Tensor x) -> Tensor", special_airy_ai);\n'
        f"  its kernel, in {tmp_path}/out/lazy/kernels_0.cpp:\n"
        "    at::Tensor special_airy_ai(const at::Tensor & x) {\n"
    )
    assert "special_airy_ai" in (tmp_path / "out/lazy/kernels_0.cpp").read_text()


def test_an_op_without_a_meta_kernel_needs_a_shape(tmp_path, lazy):
    result = generated(tmp_path, lazy, "geqrf")
    assert result.returncode == 1
    assert (
        "full_codegen: 'geqrf' has no Meta kernel in torch to compute its shape: expected\n" in result.stderr
    )
    assert "src/lazy/shapes/geqrf.cpp, which defines in torchere::lazy::shapes" in result.stderr
    assert "::std::tuple<at::Tensor,at::Tensor> geqrf(const at::Tensor & self);" in result.stderr
    (lazy / "shapes/geqrf.cpp").write_text("// the shapes\n")
    assert generated(tmp_path, lazy, "geqrf").returncode == 0
    assert "return shapes::geqrf(selfShape);" in (tmp_path / "out/lazy/kernels_0.cpp").read_text()
    assert "geqrf(const at::Tensor & self);" in (tmp_path / "out/lazy/shape_functions.h").read_text()


def test_a_kernel_that_the_generated_one_replaces_must_go(tmp_path, lazy):
    """An op that is moved from supported to full_codegen."""
    kernel = lazy / "kernels/unary.cpp"
    kernel.write_text("at::Tensor abs(const at::Tensor &self) {\n  return self;\n}\n")
    result = generated(tmp_path, lazy, "abs")
    assert result.returncode == 1
    assert f"full_codegen: 'abs' is generated: remove its kernel from {kernel}" in result.stderr
    kernel.write_text("static at::Tensor helped(const at::Tensor &self) {\n  return at::abs(self);\n}\n")
    assert generated(tmp_path, lazy, "abs").returncode == 0


def test_rows_without_an_entry_have_a_reason():
    from torchere import _core

    entries = yaml.safe_load((LAZY / "ops.yaml").read_text())
    reasons = yaml.safe_load((LAZY / "not_on_device.yaml").read_text())
    entered = {*entries["full_codegen"], *entries["supported"]}
    assert not entered & set(reasons)
    rows = set()
    for row, _ in _core.operators():
        if row.count(".") == 2:
            namespace, packet, overload = row.split(".")
            name = packet if overload == "default" else f"{packet}.{overload}"
            rows.add(name if namespace == "aten" else f"{namespace}::{name}")
    copies = {op.replace("_copy", "", 1) for op in entered}
    assert sorted(rows - entered - copies - set(reasons)) == []
    assert sorted(set(reasons) - rows) == [], "reasons of what is no row"
    assert all(reasons.values())

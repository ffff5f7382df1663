"""JAX on the engine beside its own CPU platform: random keys, linear algebra, the largest elements, exports,
shardings, gradients."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not here"),
]

BOTH = """
import jax, jax.numpy as jnp, numpy
from jax import lax

cpu = jax.devices("cpu")[0]
assert jax.default_backend() == "torchere_cpu"
generator = numpy.random.default_rng(0)
x = generator.standard_normal((4, 8)).astype(numpy.float32)
square = generator.standard_normal((6, 6)).astype(numpy.float32)
positive = square @ square.T + 6 * numpy.eye(6, dtype=numpy.float32)

def compare(name, function, *arguments, tolerance=1e-4):
    with jax.default_device(cpu):
        expected = jax.tree.leaves(jax.jit(function)(*[jax.device_put(each, cpu) for each in arguments]))
    got = jax.tree.leaves(jax.jit(function)(*arguments))
    for one, other in zip(got, expected, strict=True):
        assert one.dtype == other.dtype and one.device.platform == "torchere_cpu", name
        numpy.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance, err_msg=name)
"""

RANDOM = """
key = jax.random.key(7)
compare("uniform", lambda key: jax.random.uniform(key, (50,)), key)
compare("normal", lambda key: jax.random.normal(key, (50,)), key)
compare("permutation", lambda key: jax.random.permutation(key, 10), key)
compare("categorical", lambda key: jax.random.categorical(key, jnp.ones((4, 5))), key)
compare("gamma", lambda key: jax.random.gamma(key, 2.0, (9,)), key)
compare("split", lambda key: jax.random.key_data(jax.random.split(key, 3)), key)
compare("orthogonal", lambda key: jax.random.orthogonal(key, 3), key)
print("same")
"""

LINEAR_ALGEBRA = """
compare("eigh", lambda a: jnp.linalg.eigh(a)[0], positive, tolerance=1e-3)
compare("eig", lambda a: jnp.sort(jnp.linalg.eigvals(a).real), positive, tolerance=1e-3)
compare("svd", lambda a: jnp.linalg.svd(a, compute_uv=False), square, tolerance=1e-3)
compare("qr", lambda a: jnp.abs(jnp.linalg.qr(a)[1]), square, tolerance=1e-3)
compare("lu", lambda a: jax.scipy.linalg.lu(a), square, tolerance=1e-3)
compare("cholesky", jnp.linalg.cholesky, positive, tolerance=1e-3)
compare("lstsq", lambda a: jnp.linalg.lstsq(a, jnp.ones(6))[0], positive, tolerance=1e-3)
compare("solve", lambda a: jnp.linalg.solve(a, jnp.ones(6)), positive, tolerance=1e-3)
compare("schur", lambda a: jnp.sort(jnp.diag(jax.scipy.linalg.schur(a)[0])), positive, tolerance=1e-3)
compare("householder", lambda a: lax.linalg.householder_product(a, jnp.ones(6) * 0.1), square, tolerance=1e-3)
band = [numpy.abs(x[row]) + 4 * (row == 1) for row in range(3)]
compare("tridiagonal", lambda a, b, c, d: lax.linalg.tridiagonal_solve(a, b, c, d), *band, x[:2].T)
print("same")
"""

# What JAX hands to a kernel of XLA's, by its exact fallback there.
TOP_K = """
wide = generator.permutation(250).reshape(5, 50)  # no two are equal, in bf16 either
for kind in (numpy.float32, jnp.bfloat16, numpy.float16):
    given = jnp.asarray(wide, kind)
    compare("largest", lambda v: lax.approx_max_k(v, 7), given, tolerance=0)
    compare("smallest", lambda v: lax.approx_min_k(v, 3, reduction_dimension=0), given, tolerance=0)
    compare("not aggregated", lambda v: lax.approx_max_k(v, 2, aggregate_to_topk=False), given, tolerance=0)
    compare("in a batch", jax.vmap(lambda v: lax.approx_max_k(v, 2)), given, tolerance=0)
largest = jnp.argsort(-x)[:, :3]
chosen = jax.grad(lambda v: lax.approx_max_k(v, 3)[0].sum())(x)
assert (chosen == jnp.zeros(x.shape).at[jnp.arange(4)[:, None], largest].set(1)).all()
print("same")
"""

# XLA leaves out what gives no elements, so kernels of LAPACK never see such arrays.
NO_ELEMENTS = """
none = numpy.zeros((0, 0), numpy.float32)
compare("eig", lambda a: lax.linalg.eig(a), none)
compare("eigh", lambda a: jnp.linalg.eigh(a), none)
compare("svd", lambda a: jnp.linalg.svd(a), none)
compare("batch", lambda a: jnp.linalg.eigh(a), numpy.zeros((0, 3, 3), numpy.float32))
for shape in ((0, 0), (3, 0), (2, 3, 0), (0, 3)):
    compare("lu", lambda a: lax.linalg.lu(a), numpy.zeros(shape, numpy.float32))
compare("sort", lambda a: (jnp.sort(a[:0]), a.sum(0)), x)
compare("products", lambda a: (jnp.zeros((0, 8)) @ a.T, a[:, :0] @ a[:, :0].T), x)
print("same")
"""

# A process that lowers nothing itself: JAX's rules look up LAPACK's functions.
EXPORTED = """
import pathlib, subprocess, sys, tempfile

exporting = '''
import jax, pathlib, sys
exported = jax.export.export(jax.jit(jax.numpy.linalg.eigvalsh))(jax.ShapeDtypeStruct((6, 6), "float32"))
pathlib.Path(sys.argv[1]).write_bytes(exported.serialize())
'''
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "exported"
    subprocess.run([sys.executable, "-c", exporting, str(path)], check=True)
    program = jax.export.deserialize(bytearray(path.read_bytes()))
assert program.platforms == ("torchere_cpu",)
numpy.testing.assert_allclose(program.call(positive), numpy.linalg.eigvalsh(positive), rtol=1e-3)
print("same")
"""

SHARDINGS = """
from jax.sharding import AxisType, NamedSharding, PartitionSpec

mesh = jax.make_mesh((1,), ("rows",), axis_types=(AxisType.Auto,))
rows = NamedSharding(mesh, PartitionSpec("rows"))
constrained = jax.jit(lambda v: lax.with_sharding_constraint(v * 2, rows) + 1)
assert constrained(jnp.ones(3)).tolist() == [3.0, 3.0, 3.0]
given = jax.jit(lambda v: v * 3, in_shardings=rows, out_shardings=rows)
assert given(jnp.ones(3)).tolist() == [3.0, 3.0, 3.0]
both = {"in_specs": PartitionSpec("rows"), "out_specs": PartitionSpec()}
summed = jax.shard_map(lambda v: lax.psum(v, "rows"), mesh=mesh, **both)
assert jax.jit(summed)(jnp.ones(3)).tolist() == [1.0, 1.0, 1.0]
print("same")
"""

GRADIENTS = """
from jax.test_util import check_grads

functions = {
    "softmax": lambda v: jax.nn.softmax(v @ v.T),
    "scan": lambda v: lax.scan(lambda c, row: (jnp.tanh(c * 0.5 + row), c), jnp.zeros(8), v)[0],
    "sort": lambda v: jnp.sort(v, axis=1)[:, 2:],
    "attention": lambda v: jax.nn.dot_product_attention(*[v.reshape(1, 4, 2, 4)] * 3, is_causal=True),
    "scatter": lambda v: v.at[jnp.array([0, 2, 2])].multiply(2.0),
    "cumulative": lambda v: jnp.cumsum(v, 1) * lax.cummax(v, 0),
    "window": lambda v: lax.reduce_window(v, 0.0, lax.add, (2, 2), (1, 2), "SAME"),
}
for name, function in functions.items():
    check_grads(jax.jit(function), (x,), order=2, atol=3e-2, rtol=3e-2, eps=1e-2)
    compare(name, jax.grad(lambda v: (function(v) ** 2).sum()), x, tolerance=1e-3)
print("same")
"""


@pytest.mark.parametrize(
    "part", ["RANDOM", "LINEAR_ALGEBRA", "TOP_K", "NO_ELEMENTS", "EXPORTED", "SHARDINGS", "GRADIENTS"]
)
def test_equals_jax_on_its_own_platform(part):
    environment = os.environ | {"JAX_PLATFORMS": "torchere_cpu,cpu"}
    command = [sys.executable, "-c", BOTH + globals()[part]]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.splitlines() == ["same"]


TWO_DEVICES = """
import jax, jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec

assert len(jax.devices()) == 2
assert (jnp.linalg.cholesky(4 * jnp.eye(3)) == 2 * jnp.eye(3)).all()
mesh = jax.make_mesh((2,), ("rows",), axis_types=(AxisType.Auto,))
both = {"in_specs": PartitionSpec("rows"), "out_specs": PartitionSpec()}
summed = jax.shard_map(lambda v: jax.lax.psum(v, "rows"), mesh=mesh, **both)
sharded = jax.jit(lambda v: v * 2, in_shardings=NamedSharding(mesh, PartitionSpec("rows")))
for function in (jax.jit(summed), sharded):
    try:
        function(jnp.ones(4))
    except jax.errors.JaxRuntimeError as error:
        print(error)
"""


def test_a_configuration_and_programs_that_are_not_partitioned(tmp_path):
    package = importlib.util.find_spec("torchere").submodule_search_locations[0]
    library = os.path.join(package, "lib", "libtorchere_cpu.so")
    configuration = tmp_path / "plugin.json"
    configuration.write_text(json.dumps({"library_path": library, "create_options": {"device_count": 2}}))
    environment = os.environ | {
        "JAX_PLATFORMS": "torchere_cpu",
        "PJRT_NAMES_AND_LIBRARY_PATHS": f"torchere_cpu:{configuration}",
    }
    command = [sys.executable, "-c", TWO_DEVICES]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-4000:]
    expected = (
        "for 2 partitions on devices 0, 1: expected one device, or a program that is partitioned already"
    )
    assert done.stdout.splitlines() == [
        f"UNIMPLEMENTED: [program] a program with Shardy's ops (shard_map) {expected}",
        f"UNIMPLEMENTED: [main] a program with shardings {expected}",
    ]

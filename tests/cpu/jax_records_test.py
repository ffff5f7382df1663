"""What ships of JAX's own checks, on the engine: its harnesses of primitives beside JAX's CPU platform, the
records of its elementwise ops beside NumPy, and programs that earlier releases exported. `make test` takes
a part of each."""

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

BEGINNING = """
import json, sys, warnings
warnings.simplefilter("ignore")
import jax, numpy
from jax import lax
from jax._src import dtypes, test_util

cpu = jax.devices("cpu")[0]
part, parts = int(sys.argv[1]), int(sys.argv[2])
ran, failed = 0, {}

#: Relative to the largest element.
TOLERANCES = {"float64": 1e-9, "complex128": 1e-7, "float32": 2e-4, "complex64": 2e-4, "float16": 1e-2}

def arrays(tree):
    keys = lambda leaf: dtypes.issubdtype(leaf.dtype, dtypes.prng_key)
    leaves = jax.tree.leaves(tree)
    return [jax.random.key_data(leaf) if keys(leaf) else leaf for leaf in leaves]

def agree(got, expected):
    assert all(each.device.platform == "torchere_cpu" for each in got)
    assert len(got) == len(expected)
    for one, other in zip(map(numpy.asarray, got), map(numpy.asarray, expected)):
        kinds = (one.dtype, one.shape), (other.dtype, other.shape)
        assert kinds[0] == kinds[1], kinds
        if not dtypes.issubdtype(one.dtype, numpy.inexact):
            numpy.testing.assert_array_equal(one, other)
            continue
        wide = numpy.complex128 if numpy.iscomplexobj(one) else numpy.float64
        one, other = one.astype(wide), other.astype(wide)
        tolerance = TOLERANCES.get(str(got[0].dtype), 0.1)
        scale = numpy.abs(other[numpy.isfinite(other)]).max(initial=1e-3)
        numpy.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * scale)

def check(name, function):
    global ran
    ran += 1
    try:
        function()
    except Exception as error:
        failed[name] = str(error)[:600]
"""

HARNESSES = """
from jax._src.internal_test_util import test_harnesses

def compare(number, harness):
    arguments = harness.dyn_args_maker(numpy.random.RandomState(number))
    with jax.default_device(cpu):
        expected = jax.jit(harness.dyn_fun)(*jax.device_put(arguments, cpu))
    got, expected = arrays(jax.jit(harness.dyn_fun)(*arguments)), arrays(expected)
    if harness.fullname.startswith("approx_top_k"):  # where equal elements are found is not determined
        values, places = map(numpy.asarray, got)
        numpy.testing.assert_array_equal(numpy.take_along_axis(arguments[0], places, -1), values)
        assert numpy.diff(numpy.sort(places, -1)).all()
        got, expected = got[:1], expected[:1]
    agree(got, expected)

def is_determined(harness):
    name = harness.fullname  # the upper triangle is not, nor the order of equal keys
    return harness.filter("cpu") and not name.startswith("cholesky") and not (
        name.startswith("sort_multiple") and "isstable_False" in name)

for number in range(part, len(test_harnesses.all_harnesses), parts):
    harness = test_harnesses.all_harnesses[number]
    if is_determined(harness):
        check(harness.fullname, lambda: compare(number, harness))
"""

ELEMENTWISE = """
from jax._src import lax_reference
from jax._src.internal_test_util import lax_test_util

test = test_util.JaxTestCase()

def compare(record, dtype, shape, seed):
    make = record.rng_factory(numpy.random.RandomState(seed))
    arguments = [make(shape, dtype) for _ in range(record.nargs)]
    got = jax.jit(getattr(lax, record.op))(*arguments)
    assert got.device.platform == "torchere_cpu"
    reference = getattr(lax_reference, record.op, None)
    if reference is None:
        with jax.default_device(cpu):
            reference = jax.jit(getattr(lax, record.op))
            arguments = jax.device_put(arguments, cpu)
    tolerance = max(test_util.tolerance(dtype, record.tol), 1e-13)
    with numpy.errstate(all="ignore"):  # NumPy makes scalars of arrays of rank 0, which have no places
        expected = numpy.asarray(reference(*(each.reshape(shape or 1) for each in arguments)))
    test.assertAllClose(got, expected.reshape(got.shape), check_dtypes=False, atol=tolerance, rtol=tolerance)

cases = [(record, dtype, shape) for record in lax_test_util.lax_ops() for dtype in record.dtypes
         for shape in [(), (3, 4), (0, 3), (37, 5)]]
for number in range(part, len(cases), parts):
    record, dtype, shape = cases[number]
    check(f"{record.op} {numpy.dtype(dtype)} {shape}", lambda: compare(record, dtype, shape, number))
"""


EXPORTED = """
import dataclasses, importlib, pkgutil
from jax._src.internal_test_util import export_back_compat_test_data, export_back_compat_test_util

test = export_back_compat_test_util.CompatTestBase()

def compare(data):
    got = test.run_serialized(dataclasses.replace(data, platform="torchere_cpu"))
    with jax.default_device(cpu):  # what the data hold came from another LAPACK
        expected = test.run_serialized(data)
    agree(arrays(got), arrays(expected))

folder = export_back_compat_test_data
names = [each.name for each in pkgutil.iter_modules(folder.__path__) if each.name.startswith("cpu_")]
found = []
for name in names:
    values = vars(importlib.import_module(f"{folder.__name__}.{name}")).items()
    nests = [value for variable, value in values if variable.startswith("data")]
    found += [(f"{name} {number}", data) for number, data in enumerate(test.load_testdata_nested(nests))]
for name, data in found[part::parts]:
    check(name, lambda: compare(data))
"""


def run(source, part, parts):
    """How many of the part were compared, and what failed."""
    environment = os.environ | {"JAX_PLATFORMS": "torchere_cpu,cpu", "JAX_ENABLE_X64": "1"}
    source = BEGINNING + source + "\nprint(json.dumps([ran, failed]))"
    command = [sys.executable, "-c", source, str(part), str(parts)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


#: By name: the source, the least number of cases in all, and of how many `make test` runs one.
KINDS = {
    "harnesses": (HARNESSES, 7000, 60),
    "elementwise": (ELEMENTWISE, 1200, 8),
    "exported": (EXPORTED, 44, 4),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_part_agrees(kind):
    source, least, parts = KINDS[kind]
    ran, failed = run(source, 3, parts)
    assert not failed
    assert ran >= least // parts


@pytest.mark.sweep
@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("kind", KINDS)
def test_all_agree(kind, part):
    source, least, _ = KINDS[kind]
    ran, failed = run(source, part, 8)
    assert not failed
    assert ran >= least // 8

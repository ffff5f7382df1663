"""What a call refuses: tensors without memory of their own, arrays of dtypes that programs lack, and whatever
else Python hands over. Every refusal names the input."""

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import torchere
from torchere import errors


class Wrapper(torch.Tensor):
    """Holds its elements in another tensor, as quantized weights of torchao do."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    def __repr__(self):
        return "Wrapper"

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        raise NotImplementedError(function)


class Named(torch.Tensor):
    """A subclass with a storage of its own, and an attribute that lies."""

    shape = property(lambda self: (10**9,))

    def stride(self):
        return (1,)


def fake():
    with FakeTensorMode():
        return torch.ones(3)


def freed():
    tensor = torch.ones(3)
    tensor.untyped_storage().resize_(0)
    return tensor


@pytest.fixture(scope="module")
def doubled():
    return torchere.export(lambda x: x + x, (torch.ones(3),))


def message_of(program, *args):
    with pytest.raises(errors.InvalidArgumentError) as error:
        program(*args)
    return str(error.value)


OWN = ", expected a tensor with memory of its own"
TENSORS = {
    "fake": (fake, "a FakeTensor"),
    "masked": (
        lambda: torch.masked.masked_tensor(torch.ones(3), torch.tensor([True, False, True])),
        "a MaskedTensor",
    ),
    "wrapper": (lambda: Wrapper(torch.ones(3)), "a Wrapper"),
    "jagged": (
        lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged),
        "a NestedTensor",
    ),
    "nested": (lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), "a nested tensor"),
    "sparse": (lambda: torch.ones(3).to_sparse(), "a tensor of the layout torch.sparse_coo"),
    "csr": (lambda: torch.eye(3).to_sparse_csr(), "a tensor of the layout torch.sparse_csr"),
    "mkldnn": (lambda: torch.ones(3).to_mkldnn(), "a tensor of the layout torch._mkldnn"),
    "functional": (lambda: torch._to_functional_tensor(torch.ones(3)), "a functional tensor"),
    "zeros without storage": (lambda: torch._efficientzerotensor(3), "a tensor without storage"),
    "freed": (freed, "a tensor without storage"),
    "uninitialized": (
        lambda: torch.nn.parameter.UninitializedParameter(),
        "a UninitializedParameter",
    ),
}


@pytest.mark.filterwarnings("ignore")  # prototypes of torch's
@pytest.mark.parametrize(("make", "kind"), TENSORS.values(), ids=TENSORS)
def test_tensors_without_memory_of_their_own(doubled, make, kind):
    assert message_of(doubled, make()) == f"[x] unsupported tensor: got {kind}{OWN}"


def test_tensors_of_function_transforms(doubled):
    seen = []
    for transform in (torch.vmap, torch.func.grad, torch.func.functionalize):

        def call(x):
            seen.append(message_of(doubled, x))
            return x.sum()

        transform(call)(torch.ones(3, 3) if transform is torch.vmap else torch.ones(3))
    inside = f"[x] unsupported tensor: got a tensor inside a function transform (torch.vmap, torch.func){OWN}"
    assert seen == [inside] * 3


def test_distributed_tensors_are_refused_with_the_way_out(doubled, tmp_path):
    import torch.distributed as dist
    from torch.distributed.tensor import DTensor, Replicate, init_device_mesh

    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        tensor = DTensor.from_local(torch.ones(3), init_device_mesh("cpu", (1,)), [Replicate()])
        assert message_of(doubled, tensor) == (
            f"[x] unsupported tensor: got a DTensor{OWN} (pass its full_tensor())"
        )
        assert doubled(tensor.full_tensor()).tolist() == [2, 2, 2]
    finally:
        dist.destroy_process_group()


def test_quantized_tensors(doubled):
    tensor = torch._empty_affine_quantized([3], scale=0.1, zero_point=0, dtype=torch.quint8)
    assert message_of(doubled, tensor) == "[x] unsupported dtype: got torch.quint8, which no program takes"


def test_subclasses_with_a_storage_are_read_by_what_they_store(doubled):
    assert doubled(torch.nn.Parameter(torch.ones(3))).tolist() == [2, 2, 2]
    assert doubled(torch.ones(3).as_subclass(Named)).tolist() == [2, 2, 2]
    tensor = torch.ones(5).as_subclass(Named)
    assert message_of(doubled, tensor) == "[x] wrong size of dimension 0: got 5, expected 3"


class WithoutPack:
    dtype = "imaginary"

    def __dlpack__(self, **_):
        raise ValueError("no")


class Liar:
    def __dlpack__(self, **_):
        return "no capsule"

    def __dlpack_device__(self):
        return (1, 0)


OBJECTS = {
    "big-endian": (np.ones(3, ">f4"), "ndarray of >f4"),
    "object": (np.array([1, "x", None], object), "ndarray of object"),
    "datetime": (
        np.array(["2020-01-01"] * 3, "datetime64[s]"),
        "ndarray of datetime64[s]",
    ),
    "structured": (np.zeros(3, [("a", "f4"), ("b", "i4")]), "ndarray of [('a', '<f4'), ('b', '<i4')]"),
    "text": (np.array(["a", "b", "c"]), "ndarray of <U1"),
    "odd strides": (np.zeros(3, [("a", "f4"), ("b", "i1")])["a"], "ndarray of float32"),
    "masked": (np.ma.masked_array(np.ones(3, np.float32), [True, False, True]), "MaskedArray"),
    "without __dlpack__": (WithoutPack(), "WithoutPack of imaginary"),
    "liar": (Liar(), "Liar"),
}


@pytest.mark.parametrize(("value", "kind"), OBJECTS.values(), ids=OBJECTS)
def test_arrays_that_cannot_be_read(doubled, value, kind):
    assert message_of(doubled, value) == (
        f"[x] unsupported array: got {kind}, expected one of native numbers or bools, without a mask"
    )


def test_wide_floats(doubled):
    if np.dtype(np.longdouble).itemsize == 16:
        assert message_of(doubled, np.ones(3, np.longdouble)).startswith("[x] unsupported ")


ML_DTYPES = ["bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"]


@pytest.mark.parametrize("name", ML_DTYPES)
def test_arrays_of_ml_dtypes(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    program = torchere.export(lambda x: x.float(), (torch.ones(2, 3).to(getattr(torch, name)),))
    array = np.array([[0.5, 1.0, 2.0], [4.0, -1.0, 0.0]], getattr(ml_dtypes, name))
    assert program(array).tolist() == [[0.5, 1.0, 2.0], [4.0, -1.0, 0.0]]
    assert program(np.asfortranarray(array)).tolist() == [[0.5, 1.0, 2.0], [4.0, -1.0, 0.0]]


def test_plain_arrays_of_every_form(doubled):
    values = np.arange(6, dtype=np.float32)
    readonly = values[:3].copy()
    readonly.flags.writeable = False
    assert doubled(readonly).tolist() == [0, 2, 4]
    assert doubled(values[::-1][:3]).tolist() == [10, 8, 6]
    assert doubled(values[::2]).tolist() == [0, 4, 8]
    empty = torchere.export(lambda x: x + x, (torch.ones(0, 2),))
    assert empty(np.ones((0, 2), np.float32)).shape == (0, 2)


def test_constants_that_the_core_cannot_hold():
    program = torchere.export(lambda x, mode: x + 1, (torch.ones(3), "up"))
    x = torch.ones(3)
    assert message_of(program, x, 2**64) == "[mode] an integer of more than 64 bits, which no program takes"
    assert message_of(program, x, "\ud800") == "[mode] a string that is not UTF-8, which no program takes"
    endless = []
    endless.append(endless)
    assert message_of(program, x, endless) == "[mode] nests too deeply: expected at most 100 levels"
    assert message_of(program, x, object()) == (
        "[mode] an input that programs cannot take: got object, expected a tensor, an array, a number, a "
        "string or None"
    )


class Growing:
    """A sequence that yields more than its length says."""

    def __init__(self, items):
        self.items = items

    def __len__(self):
        return 1

    def __getitem__(self, index):
        return self.items[index]


def test_a_sequence_that_yields_more_than_its_length():
    names = ", ".join(f"x{i}" for i in range(40))
    module = eval(f"lambda {names}: ({' + '.join(names.split(', '))})")
    tensors = [torch.full((3,), float(i)) for i in range(40)]
    program = torchere.export(module, tuple(tensors))
    session = program._ready_session()
    assert session.call(0, Growing(tensors))[0].tolist() == [780, 780, 780]
    # The name of the first tensor's device must outlive the growth.
    tensors[0] = torch.empty(3, device="meta")
    with pytest.raises(errors.InvalidArgumentError) as error:
        session.call(0, Growing(tensors))
    assert str(error.value) == "[x0] wrong device: got meta, expected cpu"


def test_inputs_that_cannot_be_written():
    program = torchere.export(lambda x: x.mul_(2) + 1, (torch.ones(2),))
    array = np.ones(2, np.float32)
    array.flags.writeable = False
    assert message_of(program, array) == (
        "[x] the program writes this input, which cannot be written: ValueError: assignment destination is "
        "read-only"
    )
    assert message_of(program, torch.ones(2, requires_grad=True)).startswith(
        "[x] the program writes this input, which cannot be written: RuntimeError: a leaf Variable"
    )


def test_state_is_a_plain_tensor():
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(2))

        def forward(self, x):
            self.count += x
            return self.count + 0

    session = torchere.export(Counter(), (torch.ones(2),))._ready_session()
    with pytest.raises(errors.InvalidArgumentError) as error:
        session.write_states({"count": Wrapper(torch.ones(2))})
    assert str(error.value) == f"[count] unsupported tensor: got a Wrapper{OWN}"

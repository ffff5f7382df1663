"""The C++ core of Torchère."""

from collections.abc import Callable, Mapping, Sequence, Set
import enum
import os
import pathlib
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


class Module:
    """A StableHLO module."""

    @staticmethod
    def parse(text: str) -> Module:
        """Parses and verifies StableHLO text."""

    def text(self, with_locations: bool = False) -> str:
        """The module's text."""

    def verify(self) -> None: ...

    def clone(self) -> Module: ...

    def refine_shapes(self, shapes: Sequence[Sequence[int]]) -> None:
        """
        Refines @main's arguments to these shapes and propagates them through the module.
        """

    def simplify(self, max_folded_elements: int = 1024) -> None:
        """
        Folds constants and removes, merges and cancels ops. Results are bit-exact.
        """

def interpret(text: str, inputs: Sequence[tuple[str, Sequence[int], bytes]], entry: str = '') -> list[tuple[str, list[int], bytes]]:
    """
    Runs a module on the reference interpreter. Tensors are (element type, shape, bytes).
    """

class AliasSet:
    """The alias annotation of a type: (a!), (a -> *)."""

    @property
    def before(self) -> list[str]: ...

    @property
    def after(self) -> list[str]: ...

    @property
    def is_write(self) -> bool: ...

class SchemaArgument:
    """An argument or a result of an op."""

    @property
    def name(self) -> str: ...

    @property
    def type(self) -> str: ...

    @property
    def alias(self) -> AliasSet | None:
        """The value's own; None where there is none."""

    @property
    def is_written(self) -> bool: ...

    @property
    def is_keyword_only(self) -> bool: ...

    @property
    def default_text(self) -> str | None:
        """None where a call must give the argument."""

class Schema:
    """An op's signature, read from ATen's schema language."""

    def __init__(self, text: str) -> None: ...

    def __str__(self) -> str:
        """As str() of torch's FunctionSchema."""

    @property
    def name(self) -> str: ...

    @property
    def arguments(self) -> list[SchemaArgument]: ...

    @property
    def results(self) -> list[SchemaArgument]: ...

class InputKind(enum.Enum):
    """What an input of a program is; torch's names."""

    USER_INPUT = 0

    PARAMETER = 1

    BUFFER = 2

    CONSTANT_TENSOR = 3

    CUSTOM_OBJ = 4

    TOKEN = 5

class OutputKind(enum.Enum):
    """What an output of a program is; torch's names."""

    USER_OUTPUT = 0

    LOSS_OUTPUT = 1

    BUFFER_MUTATION = 2

    PARAMETER_MUTATION = 3

    GRADIENT_TO_PARAMETER = 4

    GRADIENT_TO_USER_INPUT = 5

    USER_INPUT_MUTATION = 6

    TOKEN = 7

class TorchVocabulary:
    """torch's classes and constants, as graphs hold them."""

    def __init__(self, classes: dict, dtypes: dict, layouts: dict, memory_formats: dict, number_text: object) -> None: ...

class ProgramBuilder:
    """
    Takes a program node by node. Graph 0 is the main one; a node is known by its torch.fx.Node, which must live until finish().
    """

    def __init__(self, vocabulary: object) -> None: ...

    def add_subgraph(self, parent: int, name: str) -> int: ...

    def add_placeholder(self, graph: int, node: object, name: str, value: object | None) -> None: ...

    def add_call(self, graph: int, node: object, name: str, op: str, schema: str, args: tuple, kwargs: dict, value: object | None, stack_trace: int, module_stack: int) -> None: ...

    def add_get_attr(self, graph: int, node: object, name: str, attribute: str, child: int, stack_trace: int, module_stack: int) -> None: ...

    def bind(self, graph: int, node: object, value: object | None) -> None:
        """
        From now on the torch.fx.Node stands for the value: a node, a constant, or a list of them
        """

    def bind_element(self, graph: int, node: object, list: object, index: int) -> None:
        """The same for an element of what a node stands for"""

    def set_outputs(self, graph: int, outputs: object | None) -> None: ...

    def add_stack_trace(self, text: str) -> int: ...

    def add_module_stack(self, frames: Sequence[tuple[str, str]]) -> int: ...

    def add_input(self, kind: InputKind, name: str, target: str, persistent: bool) -> None: ...

    def set_input_constant(self, value: object | None) -> None: ...

    def add_output(self, kind: OutputKind, target: str) -> None: ...

    def add_storage(self, data: int, byte_size: int, owner: object | None, identity: int = 0) -> int:
        """
        The memory of weights; its address is 0 where it is not there, which its identity then stands for.
        """

    def add_weight(self, is_constant: bool, name: str, dtype: object, shape: Sequence[int], strides: Sequence[int], storage_offset: int, storage: int) -> None: ...

    def add_range_constraint(self, expression: str, least: int | None, most: int | None) -> None: ...

    def set_trees(self, input_tree: tuple[str, str], output_tree: tuple[str, str], argument_names: Sequence[str]) -> None: ...

    def set_dimension_names(self, names: Mapping[str, str]) -> None: ...

    def finish(self) -> Program: ...

class Program:
    """A captured program as plain data."""

    def __str__(self) -> str: ...

    def verify(self) -> None: ...

    def structural_hash(self) -> str:
        """
        32 digits, equal for programs that compute the same with other names and weights
        """

    def count_ops(self) -> dict[str, int]:
        """op name -> number of calls, those in subgraphs included"""

    def nodes(self) -> list:
        """(name, op, argument names, place) of each node of the main graph"""

    @property
    def state_dict(self) -> dict:
        """
        name -> (dtype, shape, strides, storage offset, address of the storage)
        """

    @property
    def constants(self) -> dict: ...

    @property
    def input_tree(self) -> str: ...

    @property
    def output_tree(self) -> str: ...

    @property
    def argument_names(self) -> list[str]: ...

    def graph_nodes(self) -> list[ProgramNode]:
        """The nodes of the main graph."""

    def extract(self, outputs: Sequence[int], inputs: Sequence[int]) -> Program:
        """
        The part of the main graph that computes `outputs` from `inputs` on, as a program without weights.
        """

    @property
    def inputs(self) -> list[tuple[str, str]]:
        """(name, target) of each placeholder; the target is a weight's name"""

    @property
    def mutations(self) -> list[tuple[OutputKind, str]]:
        """
        (kind, target) of each output that is a new value of a weight or an input
        """

class NodeValue:
    """A node among another's arguments."""

    @property
    def index(self) -> int: ...

class TorchConstant:
    """
    A constant that is an object of torch's: of the kind "dtype", "device", "layout", "memory_format" or "op".
    """

    @property
    def kind(self) -> str: ...

    @property
    def name(self) -> str: ...

class ProgramNode:
    """A node of a program's main graph."""

    @property
    def name(self) -> str: ...

    @property
    def op(self) -> str: ...

    @property
    def schema(self) -> str: ...

    @property
    def kind(self) -> str:
        """"placeholder", "call" or "get_attr\""""

    @property
    def arguments(self) -> list[tuple[str, object]]:
        """(name, value) of those given, by position"""

    @property
    def type_kind(self) -> str:
        """"tensor", "number", "list" or "none\""""

    @property
    def dtype(self) -> str: ...

    @property
    def shape(self) -> list:
        """ints, and expressions as texts"""

    @property
    def file(self) -> str: ...

    @property
    def line(self) -> str: ...

    @property
    def code(self) -> str: ...

    @property
    def place(self) -> str: ...

    @property
    def module_path(self) -> str: ...

def functionalize(program: Program) -> None:
    """
    Takes the writes out of a captured program, in place: what is written in inputs becomes outputs.
    """

def functional_form(op: str, schema: str) -> tuple[str, str]:
    """
    (kind, op): what functionalize() makes of calls of an op. `kind` is "kept", "functional", "rewritten", "removed_in_eval" or "refused"; `op` is the functional op, where there is one.
    """

def viewed_argument(schema: str) -> int | None:
    """
    The position of the argument whose memory the results of an op share, of ops that are "kept".
    """

class Exported:
    """A lowered program: its module, entry point and weights."""

    def text(self, with_locations: bool = False) -> str:
        """The StableHLO module's text."""

    @property
    def timings(self) -> dict[str, float]:
        """Seconds spent in each step."""

    @property
    def left_out(self) -> list[str]:
        """The checks that the function does not make: what, why not, and where."""

def export_program(program: Program, name: str = 'forward', inline_constant_bytes: int = 128, custom_op_namespaces: Set[str] = ..., composites: Set[str] = ..., node_metadata: Mapping[str, str] | None = None, inline_numbers: bool = True, shape_assertions: bool = False, quantized_types: bool = False, checks: bool = False, precision: str = '') -> Exported:
    """
    Lowers a captured program. Raises one error that lists every op without a lowering. With node_metadata, locations are JSON: it is what torch says of nodes, by metadata_key().
    """

def metadata_key(node: str, stack_trace: str) -> str:
    """
    The key of a node of torch's in node_metadata; "" is any with that stack trace.
    """

def missing_ops(program: Program, custom_op_namespaces: Set[str] = ...) -> list[tuple[str, list[str]]]:
    """(name, places of its uses) of each op without a lowering."""

def operators() -> list[tuple[str, str]]:
    """(name, schema) of every op that has a lowering, sorted by name."""

def own_ops() -> set[str]:
    """Ops of Torchère's own that the exporter lowers without a row."""

def load_lowerings(library: str | os.PathLike) -> list[str]:
    """Loads a library of lowerings; gives the names of its ops."""

def loaded_lowerings() -> dict[str, str]:
    """The schemas of the ops that loaded libraries lower, by the ops' names."""

def operator_families() -> dict[str, str]:
    """
    By the names of ops that have a lowering, its file in src/lowering/ops, without ".cpp".
    """

class Weight:
    """A named tensor: a strided view of a storage."""

    def __init__(self, name: str, dtype: str, shape: Sequence[int], bytes: object | None) -> None:
        """A weight from its parts; the bytes are copied."""

    @property
    def name(self) -> str: ...

    @property
    def dtype(self) -> str:
        """torch's name, such as "bfloat16"."""

    @property
    def shape(self) -> tuple: ...

    @property
    def strides(self) -> tuple:
        """In elements."""

    @property
    def storage_offset(self) -> int:
        """In elements."""

    @property
    def storage(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """The storage's bytes, which tied weights share. Not a copy."""

    @property
    def address(self) -> int | None:
        """Of its first element; None if it has none. Tied weights have the same."""

    @property
    def parts(self) -> tuple:
        """
        (name, dtype, shape, dense bytes), the bytes None where there are none.
        """

class Bundle:
    """Lowered functions with their weights and constants."""

    @property
    def functions(self) -> list[str]:
        """The functions' names; the first is the default."""

    @property
    def has_weights(self) -> bool:
        """False when the weights were left out on purpose."""

    def text(self, function: str) -> str:
        """The text of the function's StableHLO module."""

    def bytecode(self, function: str, target_version: str | None = None) -> bytes:
        """The function's StableHLO module as a portable artifact."""

    def meta(self, function: str) -> str:
        """PyTorch/XLA's description of the function, as JSON."""

    def signature(self, function: str) -> str:
        """
        The complete description of the function's arguments and results, as JSON.
        """

    def call_signature(self, function: str) -> str:
        """The part of the signature that calls need, as JSON."""

    @property
    def weight_names(self) -> list[str]:
        """The names of the state dict that have data, sorted."""

    @property
    def names_without_data(self) -> list[str]:
        """
        The weights and constants that functions take and that have no data, sorted.
        """

    @overload
    def with_weights(self, weights: dict) -> Bundle:
        """
        The bundle with other data for the weights and constants of these names. No tensor is copied.
        """

    @overload
    def with_weights(self, weights: Bundle) -> Bundle:
        """The same with all that another bundle has in its state dict."""

    def embed_weights(self, target_version: str | None = None, function: str | None = None) -> Bundle:
        """
        The bundle with its weights as constants of the modules, but for those that functions write.
        """

    def weight(self, name: str) -> Weight: ...

    @property
    def constants(self) -> list[Weight]: ...

    def constant_inputs(self, function: str) -> dict:
        """The inputs that are constants of the program: position -> value."""

    def constant_outputs(self, function: str) -> dict:
        """The outputs that are not computed: position -> value."""

    def weight_parts(self) -> list:
        """
        (name, dtype, shape, dense bytes) of each weight; for a tied one the other's name, not bytes.
        """

    def constant_parts(self) -> list:
        """The same of the constants."""

class FunctionParts:
    """What a function of a bundle is made of."""

    def __init__(self, description: str, bytecode: bytes, text: str = '', is_meta: bool = False) -> None:
        """
        `description` is a signature, or the contents of a .meta; the text is not needed beside bytecode.
        """

def restore_bundle(functions: Sequence[FunctionParts], weights: Sequence[tuple[str, str, Sequence[int], object]], constants: Sequence[tuple[str, str, Sequence[int], object]], has_weights: bool) -> Bundle:
    """A bundle from its functions and the parts of its weights."""

TARGET_VERSION: str = '1.16.0'

def serialize_portable_artifact(module: Module, target_version: str | None = None, *, with_locations: bool = False) -> bytes:
    """
    A module as a portable artifact that StableHLO target_version reads; nothing is expanded.
    """

def deserialize_portable_artifact(artifact: bytes) -> Module:
    """The module of a portable artifact."""

STABLEHLO_VERSION: str = '1.17.0'

def make_bundle(programs: Sequence[Exported], has_weights: bool = True, target_version: str | None = None) -> Bundle:
    """Joins exported programs, which may share weights, into one bundle."""

def join_bundles(programs: Sequence[Bundle]) -> Bundle:
    """
    One bundle with the functions of all; weights and constants that they have in common are shared.
    """

def save_bundle(bundle: Bundle, path: str | os.PathLike, *, save_weights: bool = True, include_text: bool = True, overwrite: bool = False, target_version: str | None = None, digests: bool = False) -> None:
    """Writes the directory of a program."""

def load_bundle(path: str | os.PathLike, *, map_weights: bool = True, verify: bool = False, precision: str = '') -> Bundle:
    """Reads the directory of a program."""

def save_saved_model(bundle: Bundle, path: str | os.PathLike, *, serving_key: str = 'serving_default', function_alias: str = '') -> None:
    """Writes a bundle as TensorFlow's SavedModel."""

def tensorflow_module(bundle: Bundle, function: str) -> bytes:
    """A function's module as TensorFlow's op XlaCallModule takes it."""

class PluginLocation:
    """A plugin that could be loaded."""

    def __init__(self, name: str, path: str, origin: str) -> None: ...

    @property
    def name(self) -> str: ...

    @property
    def path(self) -> str: ...

    @property
    def origin(self) -> str:
        """Where the name was found."""

    def __repr__(self) -> str: ...

def plugin_directory() -> pathlib.Path:
    """Where `torchere plugins install` puts plugins."""

def known_plugins(others: Sequence[PluginLocation] = []) -> list[PluginLocation]:
    """All known plugins; `others` come last."""

def find_plugin(name_or_path: str = '', packages: Callable[[], Sequence[PluginLocation]] | None = None) -> PluginLocation:
    """
    The plugin of a name or path; of the environment's, else the engine, when it is empty. `packages` finds those of installed packages where no other has the name.
    """

class Device:
    @property
    def id(self) -> int: ...

    @property
    def kind(self) -> str:
        """The vendor's name of the device."""

    @property
    def description(self) -> str: ...

    def __repr__(self) -> str: ...

class Client:
    """A plugin's devices."""

    @property
    def platform_name(self) -> str: ...

    @property
    def platform_version(self) -> str: ...

    @property
    def devices(self) -> list[Device]: ...

    @property
    def plugin_path(self) -> str: ...

    @property
    def api_version(self) -> tuple:
        """The version of the PJRT C API that the plugin was built with."""

    @property
    def stablehlo_version(self) -> object:
        """
        The newest StableHLO that the plugin reads; None if it does not report one.
        """

    @property
    def attributes(self) -> dict[str, str | int | list[int] | float | bool]: ...

    @property
    def compile_counts(self) -> dict:
        """
        How many programs were compiled, reused because they were in use already, and loaded from the cache on disk.
        """

    def memory_statistics(self, device_id: int | None = None) -> dict:
        """
        The bytes of a device's memory, by default the first's, that are `in_use`, and their `limit`; None if the plugin does not tell it. The engine's devices share the process's memory: it counts that of buffers, of packed weights and of runs, and what is kept to be used again. Not every plugin reports this.
        """

    def register_kernel(self, target: str, library: str | os.PathLike, symbol: str, platform: str = '') -> None:
        """Registers a function of a library as the kernel of custom calls."""

    def __repr__(self) -> str: ...

def shared_client(name_or_path: str = '', options: dict = {}, packages: Callable[[], Sequence[PluginLocation]] | None = None) -> Client:
    """
    The client of find_plugin()'s plugin. One serves all callers with equal options.
    """

class DeviceArray:
    """
    An array on a device, which may still be in the making: a result of StableHLOProgram.call_on_device, and an argument for calls of any program on the same device. If its computation fails, every read raises the error. Calls never write into it.
    """

    @property
    def dtype(self) -> object:
        """torch.float32 and the like; the name if torch is not installed."""

    @property
    def shape(self) -> tuple: ...

    @property
    def device(self) -> Device: ...

    def is_ready(self) -> bool:
        """Whether the computation has ended, successfully or not."""

    def block_until_ready(self) -> DeviceArray:
        """Waits until it is computed, and returns it."""

    def numpy(self) -> object:
        """
        The elements as a read-only numpy array: a view of the device's memory if the host can read it, otherwise a copy. TypeError for dtypes that numpy lacks.
        """

    def torch(self) -> object:
        """The elements as a torch.Tensor with memory of its own."""

    def __array__(self, dtype: object | None = None, copy: object | None = None) -> object: ...

    def __dlpack__(self, **kwargs) -> object:
        """
        The elements in host memory, shared with the array if they need not be copied.
        """

    def __bool__(self) -> bool:
        """
        That of the only element. InvalidArgumentError, a ValueError, if there are none or several.
        """

    def __int__(self) -> int: ...

    def __float__(self) -> float: ...

    def __index__(self) -> int: ...

    def __dlpack_device__(self) -> tuple: ...

    def __repr__(self) -> str: ...

def static_module(bundle: Bundle, function: str, leaves: Sequence, target_version: str | None = None) -> tuple:
    """
    A function's module as a portable artifact for a call with such leaves, each (dtype, shape) or a constant, prepared for XLA; and (dtype, shape) of each of its results.
    """

GENERATOR_BUFFER: str = 'torchere..generator'

class Session:
    """A program on a device, ready to be called from any number of threads."""

    def __init__(self, client: Client, bundle: Bundle, device: int | None = None, like: Session | None = None) -> None:
        """
        The bundle's functions on the client's device with this id (the first by default). `like` is a session of the same functions with other weights: its executables are used again.
        """

    def find_function(self, name: str) -> int:
        """The index of a function: its place in the bundle."""

    def call(self, function: int, leaves: Sequence) -> list:
        """
        Calls the function with this index on the leaves of its arguments, and returns the leaves of its results. Tensors that the program mutates are updated in place.
        """

    def call_on_device(self, function: int, leaves: Sequence, place: str = '') -> list:
        """
        The same without waiting: results are DeviceArrays. Errors name the place.
        """

    def profile(self, function: int, leaves: Sequence) -> tuple:
        """
        The same as call(), measured: the leaves of the results, the profile as JSON, its table, and its trace.
        """

    def to_device(self, value: object) -> DeviceArray:
        """A copy of the tensor on the session's device."""

    def state_names(self) -> list[str]:
        """The weights and buffers that functions write."""

    def read_weight(self, name: str) -> object:
        """The current value of a weight or buffer; later calls do not change it."""

    def read_states(self) -> dict:
        """The present values of all states, as they are between two calls."""

    def write_states(self, values: dict) -> None:
        """
        Sets states to copies of the tensors: all of them, between two calls, or none.
        """

    def reset_states(self) -> None:
        """Gives all states the values that they have in the bundle."""

    def succeed(self, bundle: Bundle, states: dict) -> Session:
        """
        A session of the same functions with the bundle's weights: these states are copied, the others move there, and this session is given up.
        """

    def draws_random_numbers(self) -> bool:
        """
        Whether the program draws random numbers: from a generator whose state is GENERATOR_BUFFER.
        """

    def manual_seed(self, seed: int) -> None:
        """Starts the stream of random numbers that the seed gives."""

    def counts(self, function: int) -> dict:
        """
        How often the function was called, its module refined, and an executable prepared.
        """

    def memory_statistics(self, function: int, leaves: Sequence) -> dict:
        """
        Bytes that a call with these leaves needs: arguments, results, aliases, temporaries, code.
        """

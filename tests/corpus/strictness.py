"""Where our verifier and jaxlib's differ, with the reason: all that the tests of verdicts let pass."""

from __future__ import annotations

import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Difference:
    """Modules on which the verifiers differ: a pattern of the op; the constraint that it breaks ("" where
    there is none, or a type says it); a pattern of the message of the one that refuses; why; the name of a
    mutation that shows it, none where a lit test does."""

    op: str
    constraint: str
    message: str
    reason: str
    example: str = ""

    def covers(self, op: str, error: str) -> bool:
        number = f"[(]{self.constraint}[)] " if self.constraint else ""
        return bool(re.fullmatch(self.op, op) and re.search(f"{number}({self.message})", error))


_NONE = "{} has the wrong number of elements: got 0"
_WINDOW = "one number for each dimension of the window; jaxlib takes an empty list for none"
_PRECISIONS = "precision_config has the wrong number"
_REDUCER = "body argument|body returns"
_ELEMENTS = "element types"
# What jaxlib accepts and we refuse.
STRICTER = [
    Difference(
        "chlo[.].*",
        "",
        "(operand|result) #[0-9]+ must be (variadic of )?ranked",
        "tensors have a rank",
        "chlo.broadcast_add/operand 0: unranked",
    ),
    Difference(
        "chlo[.]broadcast_.*",
        "",
        "broadcast_dimensions",
        "one dimension of the result for each",
        "chlo.broadcast_add/operand 0: rank + 1",
    ),
    Difference(
        "chlo[.]broadcast_.*",
        "",
        "operands do not broadcast",
        "sizes are equal or 1",
        "chlo.broadcast_add/operand 0: rank + 1",
    ),
    Difference(
        "chlo[.](broadcast_select|scan)",
        "",
        "inferred type",
        "results have the inferred elements",
        "chlo.broadcast_select/result 0: element i1",
    ),
    Difference("chlo[.]ragged_dot", "", _PRECISIONS, "one precision for each side"),
    Difference(
        "stablehlo.convolution",
        "C2",
        _NONE.format("window_strides"),
        _WINDOW,
        "stablehlo.convolution/window_strides: list 0: emptied",
    ),
    Difference(
        "stablehlo.convolution",
        "C5",
        _NONE.format("lhs_dilation"),
        _WINDOW,
        "stablehlo.convolution/lhs_dilation: list 0: emptied",
    ),
    Difference(
        "stablehlo.convolution",
        "C7",
        _NONE.format("rhs_dilation"),
        _WINDOW,
        "stablehlo.convolution/rhs_dilation: list 0: emptied",
    ),
    Difference(
        "stablehlo.convolution",
        "C9",
        _NONE.format("window_reversal"),
        _WINDOW,
        "stablehlo.convolution/window_reversal: list 0: emptied",
    ),
    Difference("stablehlo.convolution", "C24", _PRECISIONS, "one precision for each side"),
    Difference("stablehlo.dot_general", "C11", _PRECISIONS, "one precision for each side"),
    Difference(
        "stablehlo.dynamic_broadcast_in_dim",
        "C7",
        "output_dimensions has the wrong number",
        "output_dimensions holds one size for each dimension of the result",
        "stablehlo.dynamic_broadcast_in_dim/operand 1: size 0 0",
    ),
    Difference(
        "stablehlo.dynamic_conv",
        "C25",
        "result has the wrong shape",
        "what is known of the shape",
        "stablehlo.dynamic_conv/operand 0: size 0 0",
    ),
    Difference(
        "stablehlo.dynamic_conv",
        "C26",
        "rank of the result",
        "the result has the rank of lhs",
        "stablehlo.dynamic_conv/result 0: rank + 1",
    ),
    Difference(
        "stablehlo.dynamic_iota",
        "C2",
        "output_shape",
        "one size for each dimension of the result",
        "stablehlo.dynamic_iota/operand 0: size 0 0",
    ),
    Difference(
        "stablehlo.dynamic_iota",
        "",
        "result #0",
        "booleans cannot be counted",
        "stablehlo.dynamic_iota/result 0: element i1",
    ),
    Difference(
        "stablehlo.real_dynamic_slice",
        "",
        "ranks of operand and result",
        "slices keep the rank",
        "stablehlo.real_dynamic_slice/result 0: rank + 1",
    ),
    Difference(
        "stablehlo.reduce",
        "C2",
        "init value",
        "inputs and init_values have the same elements",
        "stablehlo.reduce/operand 0: element bf16",
    ),
    Difference(
        "stablehlo.reduce",
        "C6",
        _REDUCER,
        "the body has one type for each input",
        "stablehlo.reduce/operand 0: element f64",
    ),
    Difference(
        "stablehlo.reduce_window",
        "C3",
        "init value",
        "inputs and init_values have the same elements",
        "stablehlo.reduce_window/operand 0: element bf16",
    ),
    Difference(
        "stablehlo.reduce_window",
        "C6",
        _NONE.format("window_strides"),
        _WINDOW,
        "stablehlo.reduce_window/window_strides: list 0: emptied",
    ),
    Difference(
        "stablehlo.reduce_window",
        "C8",
        _NONE.format("base_dilations"),
        _WINDOW,
        "stablehlo.reduce_window/base_dilations: list 0: emptied",
    ),
    Difference(
        "stablehlo.reduce_window",
        "C10",
        _NONE.format("window_dilations"),
        _WINDOW,
        "stablehlo.reduce_window/window_dilations: list 0: emptied",
    ),
    Difference(
        "stablehlo.reduce_window",
        "C13",
        _REDUCER,
        "the body has one type for each input",
        "stablehlo.reduce_window/operand 0: element f64",
    ),
    Difference(
        "stablehlo.scatter",
        "C6",
        _ELEMENTS,
        "inputs and updates have the same elements",
        "stablehlo.scatter/operand 0: element f64",
    ),
    Difference(
        "stablehlo.scatter",
        "C23",
        _REDUCER,
        "the computation has one type for each input",
        "stablehlo.scatter/region 0: argument 0: unranked",
    ),
    Difference(
        "stablehlo.scatter",
        "",
        "operand #[0-9]+ must be",
        "booleans are no indices",
        "stablehlo.scatter/operand 1: element i1",
    ),
    Difference(
        "stablehlo.while",
        "C1",
        "cond has the wrong arguments",
        "cond takes what the loop carries",
        "stablehlo.while/region 0: argument 0: unranked",
    ),
    Difference(
        "stablehlo.batch_norm_.*",
        "C[0-9]+",
        "",
        "one number for each feature, as far as is known",
        "stablehlo.batch_norm_grad/operand 2: size 0 0",
    ),
    Difference(
        "stablehlo.bitcast_convert",
        "C[0-9]+",
        "shapes of operand and result",
        "the bits are the same",
        "stablehlo.bitcast_convert/operand 0: element ui8",
    ),
    Difference(
        "stablehlo.custom_call",
        "",
        "operand #[0-9]+ must be variadic",
        "tuples hold tensors of known rank",
        "stablehlo.custom_call/operand 0: a tuple",
    ),
    Difference(
        "stablehlo.custom_call",
        "",
        "_layouts has the wrong number",
        "what has no rank has no layout",
        "stablehlo.custom_call/result 1: unranked",
    ),
    Difference("stablehlo.fft", "C4", "fft_length too small", "sizes are not negative"),
    Difference(
        "stablehlo.map",
        "C[0-9]+",
        "computation has the wrong arguments",
        "it takes scalars",
        "stablehlo.map/region 0: argument 0: a vector",
    ),
    Difference(
        "stablehlo.select_and_scatter",
        "C[0-9]+",
        "",
        "one type of elements and scalars of it",
        "stablehlo.select_and_scatter/operand 0: element f64",
    ),
    Difference(
        "stablehlo[.].*",
        "C[0-9]+",
        ".*(2.63 - 1|beyond the range of int64)",
        "sizes that no tensor has; jaxlib's arithmetic on them wraps",
    ),
    Difference(
        "stablehlo.(all_reduce|reduce_scatter)",
        "C[0-9]+",
        _REDUCER,
        "the body has the type of the input's elements, or a wider one",
        "stablehlo.reduce_scatter/region 0: argument 0: a vector",
    ),
    Difference(
        "stablehlo.all_to_all",
        "C8",
        "group of replica_groups",
        "a part for each process of a group",
        "stablehlo.all_to_all/replica_groups: number 0: -1",
    ),
    Difference(
        "stablehlo.(send|recv)",
        "",
        "source_target_pairs",
        "source_target_pairs are those of collective_permute",
        "stablehlo.recv/source_target_pairs: number 2: 0",
    ),
    Difference(
        "stablehlo.reduce_scatter",
        "C8",
        "shapes differ",
        "the other dimensions are the operand's",
        "stablehlo.reduce_scatter/scatter_dimension: number 0: + 1",
    ),
    Difference(
        "stablehlo.dynamic_conv",
        "",
        "kernel's spatial size",
        "as in convolution: windows hold elements",
        "stablehlo.dynamic_conv/operand 1: size 0 0",
    ),
]
# What we accept and jaxlib refuses.
LAXER = [
    Difference(
        "chlo[.]ragged_dot",
        "",
        "group_sizes is expected to have shape",
        "an unknown size fits any",
        "chlo.ragged_dot/operand 0: size 0 unknown",
    ),
    Difference(
        "stablehlo.async_start",
        "",
        "must match region argument type",
        "an unknown size fits any",
        "stablehlo.async_start/operand 0: size 1 unknown",
    ),
    Difference(
        "stablehlo.reduce_scatter",
        "",
        "scatter_dimension cannot be zero",
        "an empty tensor is made of empty parts",
        "stablehlo.reduce_scatter/operand 0: size 0 0",
    ),
    Difference(
        "stablehlo.custom_call",
        "",
        "operand #0 must be variadic",
        "scales along a dimension that the operand does not have, or of another size: not looked at",
        "stablehlo.custom_call/operand 0: scalar",
    ),
]

"""What published artifacts hold beyond the letter of the specification: upstream lets it pass, old and new.

Compares of a type that is not the elements', buffers, collectives whose groups do not count the parts.
"""

from __future__ import annotations

from collections.abc import Iterator

from case import Case

SIGNED = [f"i{bits}" for bits in (2, 4, 8, 16, 32, 64)]
FLOATS = (
    "f4E2M1FN f6E2M3FN f6E3M2FN f8E3M4 f8E4M3 f8E4M3FN f8E4M3FNUZ f8E4M3B11FNUZ f8E5M2 f8E5M2FNUZ f8E8M0FNU"
    " bf16 f16 f32 f64"
)
ELEMENTS = [
    "i1",
    *SIGNED,
    *(f"u{element}" for element in SIGNED),
    *FLOATS.split(),
    "complex<f32>",
    "complex<f64>",
]
COMPARE_TYPES = ("", ", FLOAT", ", TOTALORDER", ", SIGNED", ", UNSIGNED")
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>"
# Of all_gather and reduce_scatter: what says how many processes there are.
COUNTS = {
    "groups_of_one": "replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>",
    "group_of_three": "replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>",
    "global_ids": f"replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>, {CHANNEL}, use_global_device_ids",
}
ALIAS = (
    "output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [{}], "
    "operand_index = 0, operand_tuple_indices = []>]"
)
BUFFERS = {
    "function": "func.func @f(%a: memref<2xf32>) -> memref<2xf32> { return %a : memref<2xf32> }",
    "unpin": """func.func @f(%a: memref<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @Unpin(%a) : (memref<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}""",
    "pin": """func.func @f(%a: tensor<2xf32>) -> memref<2xf32> {
  %0 = stablehlo.custom_call @Pin(%a) : (tensor<2xf32>) -> memref<2xf32>
  return %0 : memref<2xf32>
}""",
    "typed_ffi": """func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @CreateBuffer() {api_version = 4 : i32} : () -> memref<3x?xi8>
  %1 = stablehlo.custom_call @Pin(%a) {api_version = 4 : i32} : (tensor<2xf32>) -> memref<2xf32>
  %2 = stablehlo.custom_call @Unpin(%1) {api_version = 4 : i32} : (memref<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}""",
    "aliased": f"""func.func @f(%a: memref<2xf32>) -> memref<2xf32> {{
  %0 = stablehlo.custom_call @fill(%a) {{{ALIAS.format("")}}} : (memref<2xf32>) -> memref<2xf32>
  return %0 : memref<2xf32>
}}""",
    "in_tuple": f"""func.func @f(%a: memref<2xf32>) -> tuple<memref<2xf32>> {{
  %0 = stablehlo.custom_call @fill(%a) {{{ALIAS.format("0")}}} : (memref<2xf32>) -> tuple<memref<2xf32>>
  return %0 : tuple<memref<2xf32>>
}}""",
    "loop": """func.func @f(%a: memref<2xf32>, %p: tensor<i1>) -> memref<2xf32> {
  %0 = "stablehlo.while"(%a) ({
  ^bb0(%x: memref<2xf32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%x: memref<2xf32>):
    stablehlo.return %x : memref<2xf32>
  }) : (memref<2xf32>) -> memref<2xf32>
  return %0 : memref<2xf32>
}""",
}
CALLS = {
    "no_results": """func.func @f(%a: tensor<i64>) -> tuple<> {
  %0 = stablehlo.custom_call @x(%a) {operand_layouts = [dense<> : tensor<0xindex>], result_layouts = []} :
    (tensor<i64>) -> tuple<>
  return %0 : tuple<>
}""",
    "token": """func.func @f(%a: tuple<tensor<f32>>) -> tuple<!stablehlo.token> {
  %0 = stablehlo.custom_call @x(%a) : (tuple<tensor<f32>>) -> tuple<!stablehlo.token>
  return %0 : tuple<!stablehlo.token>
}""",
    "no_such_computation": """func.func @f(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.custom_call @x(%a) {api_version = 2 : i32, called_computations = [@nowhere]} :
    (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}""",
    "tilings": """// Since StableHLO 1.18
func.func @f(%a: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %0 = "stablehlo.custom_call"(%a) <{call_target_name = "x",
    operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>],
    result_tilings = [[dense<[8, 128]> : tensor<2xindex>]]}> : (tensor<64x256xf32>) -> tensor<64x256xf32>
  return %0 : tensor<64x256xf32>
}""",
}

OTHERS = {
    "dot_general/mixed": """func.func @f(%a: tensor<2x3xbf16>, %b: tensor<3x2xi8>) -> tensor<2x2xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] :
    (tensor<2x3xbf16>, tensor<3x2xi8>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}""",
    "rng_bit_generator/scalar_state": """func.func @f(%a: tensor<f32>) -> tensor<f32> {
  %0:2 = stablehlo.rng_bit_generator %a, algorithm = THREE_FRY : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}""",
    "rng_bit_generator/long_state": """func.func @f(%a: tensor<3xui64>) -> tensor<f32> {
  %0:2 = stablehlo.rng_bit_generator %a, algorithm = THREE_FRY :
    (tensor<3xui64>) -> (tensor<3xui64>, tensor<f32>)
  return %0#1 : tensor<f32>
}""",
}


def cases() -> Iterator[Case]:
    for element in ELEMENTS:
        yield Case("published", f"compare/{element}", _compares(f"tensor<2x{element}>"))
    for name, count in COUNTS.items():
        yield Case("published", f"all_gather/{name}", _all_gather(count, ["%a"]))
        yield Case("published", f"reduce_scatter/{name}", _reduce_scatter(count))
    yield Case("published", "all_gather/operands", _all_gather(COUNTS["groups_of_one"], ["%a", "%b"]))
    for family, modules in (("buffer", BUFFERS), ("custom_call", CALLS)):
        for name, text in modules.items():
            yield Case("published", f"{family}/{name}", text)
    for name, text in OTHERS.items():
        yield Case("published", name, text)


def _compares(type: str) -> str:
    lines = [
        f"  %{place} = stablehlo.compare LT, %a, %b{compared} : ({type}, {type}) -> tensor<2xi1>"
        for place, compared in enumerate(COMPARE_TYPES)
    ]
    return "\n".join([f"func.func @f(%a: {type}, %b: {type}) {{", *lines, "  return", "}"])


def _all_gather(count: str, operands: list[str]) -> str:
    part, whole = (", ".join([type] * len(operands)) for type in ("tensor<4x8xf32>", "tensor<4x16xf32>"))
    arguments = ", ".join(f"{operand}: tensor<4x8xf32>" for operand in operands)
    return f"""func.func @f({arguments}) {{
  %0:{len(operands)} = "stablehlo.all_gather"({", ".join(operands)}) <{{all_gather_dim = 1 : i64, {count}}}>
    : ({part}) -> ({whole})
  return
}}"""


def _reduce_scatter(count: str) -> str:
    return f"""func.func @f(%a: tensor<16xf32>) -> tensor<8xf32> {{
  %0 = "stablehlo.reduce_scatter"(%a) <{{scatter_dimension = 0 : i64, {count}}}> ({{
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }}) : (tensor<16xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}}"""

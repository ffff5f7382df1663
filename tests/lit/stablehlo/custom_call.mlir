// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2x3xf32>) {
  // CHECK: stablehlo.custom_call @foo() : () -> ()
  stablehlo.custom_call @foo() : () -> ()
  // CHECK: stablehlo.custom_call @"foo.bar-x"(%arg0) {api_version = 4 : i32, backend_config = {x = 1 : i64}, called_computations = [@types], has_side_effect = true, operand_layouts = [dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = stablehlo.custom_call @"foo.bar-x"(%arg0) {api_version = 4 : i32, backend_config = {x = 1 : i64}, called_computations = [@types], has_side_effect = true, operand_layouts = [dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.custom_call @foo(%arg0) {backend_config = "x"} : (tensor<2x3xf32>) -> (tensor<f32>, tensor<f32>)
  %1:2 = stablehlo.custom_call @foo(%arg0) {api_version = 1 : i32, backend_config = "x", has_side_effect = false} : (tensor<2x3xf32>) -> (tensor<f32>, tensor<f32>)
  return
}

// CHECK-LABEL: func @values
func.func @values(%arg0: tensor<*xf32>, %arg1: tuple<tensor<2xf32>, !stablehlo.token>, %arg2: memref<2xf32>) {
  // CHECK: stablehlo.custom_call @foo(%arg0, %arg1) : (tensor<*xf32>, tuple<tensor<2xf32>, !stablehlo.token>) -> !stablehlo.token
  %0 = stablehlo.custom_call @foo(%arg0, %arg1) : (tensor<*xf32>, tuple<tensor<2xf32>, !stablehlo.token>) -> !stablehlo.token
  // CHECK: stablehlo.custom_call @foo(%arg1) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 0, operand_tuple_indices = [0]>]} : (tuple<tensor<2xf32>, !stablehlo.token>) -> (!stablehlo.token, tensor<2xf32>)
  %1:2 = stablehlo.custom_call @foo(%arg1) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 0, operand_tuple_indices = [0]>]} : (tuple<tensor<2xf32>, !stablehlo.token>) -> (!stablehlo.token, tensor<2xf32>)
  // CHECK: stablehlo.custom_call @foo(%arg2) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<2xf32>) -> memref<2xf32>
  %2 = stablehlo.custom_call @foo(%arg2) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<2xf32>) -> memref<2xf32>
  // CHECK: stablehlo.custom_call @foo() {operand_layouts = [], result_layouts = [dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>]} : () -> tuple<tensor<2xf32>, !stablehlo.token>
  %3 = stablehlo.custom_call @foo() {operand_layouts = [], result_layouts = [dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>]} : () -> tuple<tensor<2xf32>, !stablehlo.token>
  // CHECK: stablehlo.custom_call @foo(%arg2) {output_operand_aliases = {{.*}}} : (memref<2xf32>) -> tuple<memref<2xf32>>
  %4 = stablehlo.custom_call @foo(%arg2) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]} : (memref<2xf32>) -> tuple<memref<2xf32>>
  return
}

// The targets that make and end buffers need no alias.
// CHECK-LABEL: func @buffers
func.func @buffers(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: stablehlo.custom_call @CreateBuffer() {api_version = 4 : i32} : () -> memref<2x?xi8>
  %0 = stablehlo.custom_call @CreateBuffer() {api_version = 4 : i32} : () -> memref<2x?xi8>
  // CHECK: stablehlo.custom_call @Pin(%arg0) {api_version = 4 : i32} : (tensor<2xf32>) -> memref<2xf32>
  %1 = stablehlo.custom_call @Pin(%arg0) {api_version = 4 : i32} : (tensor<2xf32>) -> memref<2xf32>
  // CHECK: stablehlo.custom_call @Unpin(%{{.*}}) {api_version = 4 : i32} : (memref<2xf32>) -> tensor<2xf32>
  %2 = stablehlo.custom_call @Unpin(%1) {api_version = 4 : i32} : (memref<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// -----

// Since StableHLO 1.18
// CHECK-LABEL: func @tilings
func.func @tilings(%arg0: tensor<64x256xf32>) {
  // CHECK: stablehlo.custom_call @foo(%arg0) {result_tilings = {{\[\[}}dense<[8, 128]> : tensor<2xindex>]]} : (tensor<64x256xf32>) -> tensor<64x256xf32>
  %0 = "stablehlo.custom_call"(%arg0) <{call_target_name = "foo", result_tilings = [[dense<[8, 128]> : tensor<2xindex>]]}> : (tensor<64x256xf32>) -> tensor<64x256xf32>
  return
}

// -----

func.func @layouts_both(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call' op operand_layouts and result_layouts: got one, expected both or neither}}
  stablehlo.custom_call @foo(%arg0) {operand_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> ()
  return
}

// -----

func.func @layouts_count(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call' op operand_layouts has the wrong number of elements: got 0, expected 1}}
  stablehlo.custom_call @foo(%arg0) {operand_layouts = [], result_layouts = []} : (tensor<2x3xf32>) -> ()
  return
}

// -----

func.func @layout_kind(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call' op operand_layouts holds 1 : i32, expected a vector of index}}
  stablehlo.custom_call @foo(%arg0) {operand_layouts = [1 : i32], result_layouts = []} : (tensor<2x3xf32>) -> ()
  return
}

// -----

func.func @layout_order(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call' op operand_layouts not unique: 1 occurs twice}}
  stablehlo.custom_call @foo(%arg0) {operand_layouts = [dense<1> : tensor<2xindex>], result_layouts = []} : (tensor<2x3xf32>) -> ()
  return
}

// -----

func.func @alias(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call' op operand_index of an output_operand_alias out of range: got 1, expected it in [0, 1)}}
  %0 = stablehlo.custom_call @foo(%arg0) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>]} : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @value(%arg0: tensor<2xindex>) {
  // expected-error@+1 {{'stablehlo.custom_call' op operand #0 must be variadic of tensor of boolean or integer or floating-point or complex or per-tensor quantized or per-axis quantized values or token or future or memref of boolean or integer or floating-point or complex values or nested tuple with any combination of ranked tensor of boolean or integer or floating-point or complex or per-tensor quantized or per-axis quantized values or memref of boolean or integer or floating-point or complex values or token values, but got 'tensor<2xindex>'}}
  stablehlo.custom_call @foo(%arg0) : (tensor<2xindex>) -> ()
  return
}

// -----

func.func @layout_tuple(%arg0: tuple<tensor<2xf32>>) {
  // expected-error@+1 {{'stablehlo.custom_call' op operand_layouts holds a layout of a tuple, 'tuple<tensor<2xf32>>', expected layouts of tensors only}}
  stablehlo.custom_call @foo(%arg0) {operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = []} : (tuple<tensor<2xf32>>) -> ()
  return
}

// -----

func.func @layout_token(%arg0: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.custom_call' op operand_layouts has the wrong number of elements: got 1, expected 0}}
  stablehlo.custom_call @foo(%arg0) {operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = []} : (!stablehlo.token) -> ()
  return
}

// -----

func.func @alias_output(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call' op output_tuple_indices of an output_operand_alias: there is no element 0 in 'tensor<2xf32>'}}
  %0 = stablehlo.custom_call @foo(%arg0) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @alias_operand(%arg0: tuple<tensor<2xf32>>) {
  // expected-error@+1 {{'stablehlo.custom_call' op operand_tuple_indices of an output_operand_alias: there is no element 1 in 'tuple<tensor<2xf32>>'}}
  %0 = stablehlo.custom_call @foo(%arg0) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = [1]>]} : (tuple<tensor<2xf32>>) -> tensor<2xf32>
  return
}

// -----

func.func @alias_types(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call' op types of an output_operand_alias differ: the output has 'tensor<3xf32>', the operand has 'tensor<2xf32>'}}
  %0:2 = stablehlo.custom_call @foo(%arg0) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2xf32>) -> (tensor<2xf32>, tensor<3xf32>)
  return
}

// -----

func.func @buffer() {
  // expected-error@+1 {{'stablehlo.custom_call' op output [] is a buffer, 'memref<2xf32>', expected an output_operand_alias for it}}
  %0 = stablehlo.custom_call @foo() : () -> memref<2xf32>
  return
}

// -----

func.func @buffer_in_tuple(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call' op output [1, 0] is a buffer, 'memref<2xf32>', expected an output_operand_alias for it}}
  %0:2 = stablehlo.custom_call @foo(%arg0) : (tensor<2xf32>) -> (tensor<f32>, tuple<memref<2xf32>>)
  return
}

// -----

func.func @create_buffer_operands(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call' op CreateBuffer takes no operands: got 1}}
  %0 = stablehlo.custom_call @CreateBuffer(%arg0) : (tensor<2xf32>) -> memref<2xf32>
  return
}

// -----

func.func @create_buffer_result() {
  // expected-error@+1 {{'stablehlo.custom_call' op CreateBuffer returns a buffer: got 'tensor<2xf32>'}}
  %0 = stablehlo.custom_call @CreateBuffer() : () -> tensor<2xf32>
  return
}

// -----

func.func @pin_operands(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call' op Pin takes one operand: got 2}}
  %0 = stablehlo.custom_call @Pin(%arg0, %arg0) : (tensor<2xf32>, tensor<2xf32>) -> memref<2xf32>
  return
}

// -----

func.func @pin_operand(%arg0: memref<2xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call' op Pin takes a tensor: got 'memref<2xf32>'}}
  %0 = stablehlo.custom_call @Pin(%arg0) : (memref<2xf32>) -> memref<2xf32>
  return
}

// -----

func.func @pin_result(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call' op Pin returns a buffer: got 'tensor<2xf32>'}}
  %0 = stablehlo.custom_call @Pin(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @pin_types(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call' op Pin returns another shape or element type: got 'memref<3xf32>' for 'tensor<2xf32>'}}
  %0 = stablehlo.custom_call @Pin(%arg0) : (tensor<2xf32>) -> memref<3xf32>
  return
}

// -----

func.func @unpin_results(%arg0: memref<2xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call' op Unpin has one result: got 0}}
  stablehlo.custom_call @Unpin(%arg0) : (memref<2xf32>) -> ()
  return
}

// -----

func.func @unpin_operand(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call' op Unpin takes a buffer: got 'tensor<2xf32>'}}
  %0 = stablehlo.custom_call @Unpin(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @unpin_types(%arg0: memref<2xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call' op Unpin returns another shape or element type: got 'tensor<2xf64>' for 'memref<2xf32>'}}
  %0 = stablehlo.custom_call @Unpin(%arg0) : (memref<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @backend_config_string() {
  // expected-error@+1 {{'stablehlo.custom_call' op backend_config of api_version API_VERSION_TYPED_FFI: got "x", expected a dictionary}}
  stablehlo.custom_call @foo() {api_version = 4 : i32, backend_config = "x"} : () -> ()
  return
}

// -----

func.func @backend_config_dictionary() {
  // expected-error@+1 {{'stablehlo.custom_call' op backend_config of api_version API_VERSION_ORIGINAL: got {a = 1 : i64}, expected a string}}
  stablehlo.custom_call @foo() {backend_config = {a = 1 : i64}} : () -> ()
  return
}

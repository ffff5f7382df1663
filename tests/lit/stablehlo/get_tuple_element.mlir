// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tuple<tensor<2xf32>, tuple<tensor<i32>, !stablehlo.token>>) {
  // CHECK: stablehlo.get_tuple_element %arg0[0] : (tuple<tensor<2xf32>, tuple<tensor<i32>, !stablehlo.token>>) -> tensor<2xf32>
  %0 = stablehlo.get_tuple_element %arg0[0] : (tuple<tensor<2xf32>, tuple<tensor<i32>, !stablehlo.token>>) -> tensor<2xf32>
  // CHECK: stablehlo.get_tuple_element %arg0[1] {note = 1 : i64} : (tuple<tensor<2xf32>, tuple<tensor<i32>, !stablehlo.token>>) -> tuple<tensor<i32>, !stablehlo.token>
  %1 = stablehlo.get_tuple_element %arg0[1] {note = 1 : i64} : (tuple<tensor<2xf32>, tuple<tensor<i32>, !stablehlo.token>>) -> tuple<tensor<i32>, !stablehlo.token>
  // CHECK: stablehlo.get_tuple_element %1[1] : (tuple<tensor<i32>, !stablehlo.token>) -> !stablehlo.token
  %2 = "stablehlo.get_tuple_element"(%1) <{index = 1 : i32}> : (tuple<tensor<i32>, !stablehlo.token>) -> !stablehlo.token
  return
}

// -----

func.func @operand(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.get_tuple_element' op operand #0 must be nested tuple with any combination of ranked tensor of boolean or integer or floating-point or complex or per-tensor quantized or per-axis quantized values or memref of boolean or integer or floating-point or complex values or token values, but got 'tensor<2xf32>'}}
  %0 = stablehlo.get_tuple_element %arg0[0] : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @c1(%arg0: tuple<tensor<2xf32>>) {
  // expected-error@+2 {{'stablehlo.get_tuple_element' op (C1) index out of range: got 1, expected it in [0, 1)}}
  // expected-error@+1 {{'stablehlo.get_tuple_element' op failed to infer returned types}}
  %0 = stablehlo.get_tuple_element %arg0[1] : (tuple<tensor<2xf32>>) -> tensor<2xf32>
  return
}

// -----

func.func @c1_negative(%arg0: tuple<tensor<2xf32>>) {
  // expected-error@+2 {{'stablehlo.get_tuple_element' op (C1) index out of range: got -1, expected it in [0, 1)}}
  // expected-error@+1 {{'stablehlo.get_tuple_element' op failed to infer returned types}}
  %0 = stablehlo.get_tuple_element %arg0[-1] : (tuple<tensor<2xf32>>) -> tensor<2xf32>
  return
}

// -----

func.func @c2(%arg0: tuple<tensor<2xf32>>) {
  // expected-error@+2 {{'stablehlo.get_tuple_element' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<2xf64>'}}
  // expected-error@+1 {{'stablehlo.get_tuple_element' op failed to infer returned types}}
  %0 = stablehlo.get_tuple_element %arg0[0] : (tuple<tensor<2xf32>>) -> tensor<2xf64>
  return
}

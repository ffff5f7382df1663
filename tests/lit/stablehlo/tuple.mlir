// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2xf32>, %arg1: !stablehlo.token) {
  // CHECK: stablehlo.tuple %arg0, %arg1 : tuple<tensor<2xf32>, !stablehlo.token>
  %0 = stablehlo.tuple %arg0, %arg1 : tuple<tensor<2xf32>, !stablehlo.token>
  // CHECK: stablehlo.tuple %0, %arg0 {note = 1 : i64} : tuple<tuple<tensor<2xf32>, !stablehlo.token>, tensor<2xf32>>
  %1 = stablehlo.tuple %0, %arg0 {note = 1 : i64} : tuple<tuple<tensor<2xf32>, !stablehlo.token>, tensor<2xf32>>
  // CHECK: stablehlo.tuple  : tuple<>
  %2 = "stablehlo.tuple"() : () -> tuple<>
  return
}

// -----

func.func @val(%arg0: tensor<2xindex>) {
  // expected-error@+1 {{'stablehlo.tuple' op operand #0 must be variadic of ranked tensor of boolean or integer or floating-point or complex or per-tensor quantized or per-axis quantized values or token or memref of boolean or integer or floating-point or complex values or nested tuple with any combination of ranked tensor of boolean or integer or floating-point or complex or per-tensor quantized or per-axis quantized values or memref of boolean or integer or floating-point or complex values or token values, but got 'tensor<2xindex>'}}
  %0 = stablehlo.tuple %arg0 : tuple<tensor<2xindex>>
  return
}

// -----

func.func @text(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{custom op 'stablehlo.tuple' expected a tuple type}}
  %0 = stablehlo.tuple %arg0 : tensor<2xf32>
  return
}

// -----

func.func @c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.tuple' op (C1) result is 'tuple<tensor<3xf32>>', expected 'tuple<tensor<2xf32>>'}}
  %0 = "stablehlo.tuple"(%arg0) : (tensor<2xf32>) -> tuple<tensor<3xf32>>
  return
}

// -----

func.func @c1_size(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.tuple' op (C1) result is 'tuple<tensor<2xf32>, tensor<2xf32>>', expected 'tuple<tensor<2xf32>>'}}
  %0 = "stablehlo.tuple"(%arg0) : (tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  return
}

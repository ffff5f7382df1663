// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2x3xf32>, %arg1: tensor<?xf8E5M2>) {
  // CHECK: stablehlo.reduce_precision %arg0, format = e5m10 : tensor<2x3xf32>
  %0 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<2x3xf32>
  // CHECK: stablehlo.reduce_precision %arg1, format = e1m0 {note = 1 : i64} : (tensor<?xf8E5M2>) -> tensor<4xf8E5M2>
  %1 = stablehlo.reduce_precision %arg1, format = e1m0 {note = 1 : i64} : (tensor<?xf8E5M2>) -> tensor<4xf8E5M2>
  // CHECK: stablehlo.reduce_precision %arg0, format = e8m23 : tensor<2x3xf32>
  %2 = "stablehlo.reduce_precision"(%arg0) {exponent_bits = 8 : i32, mantissa_bits = 23 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @element_type(%arg0: tensor<2xi32>) {
  // expected-error@+1 {{'stablehlo.reduce_precision' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<2xi32>
  return
}

// -----

func.func @format(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{custom op 'stablehlo.reduce_precision' expected a format such as 'e5m10', got 'e5'}}
  %0 = stablehlo.reduce_precision %arg0, format = e5 : tensor<2xf32>
  return
}

// -----

func.func @c1(%arg0: tensor<2xf32>) {
  // expected-error@+2 {{'stablehlo.reduce_precision' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<2xf16>'}}
  // expected-error@+1 {{'stablehlo.reduce_precision' op failed to infer returned types}}
  %0 = stablehlo.reduce_precision %arg0, format = e5m10 : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @c2(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.reduce_precision' op (C2) exponent_bits too small: got 0, expected at least 1}}
  %0 = stablehlo.reduce_precision %arg0, format = e0m10 : tensor<2xf32>
  return
}

// -----

func.func @c3(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.reduce_precision' op (C3) mantissa_bits too small: got -1, expected at least 0}}
  %0 = "stablehlo.reduce_precision"(%arg0) {exponent_bits = 5 : i32, mantissa_bits = -1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

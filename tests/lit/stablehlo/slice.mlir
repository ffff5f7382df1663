// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<4x?xf32>, %arg1: tensor<f32>) {
  // CHECK: stablehlo.slice %arg0 [1:4:2, 0:3] : (tensor<4x?xf32>) -> tensor<2x3xf32>
  %0 = stablehlo.slice %arg0 [1:4:2, 0:3] : (tensor<4x?xf32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.slice %arg1 [] : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.slice %arg1 [] : (tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.slice %arg0 [2:2, 0:0] : (tensor<4x?xf32>) -> tensor<0x0xf32>
  %2 = stablehlo.slice %arg0 [2:2, 0:0] : (tensor<4x?xf32>) -> tensor<0x0xf32>
  // CHECK: stablehlo.slice %arg0 [0:4:9223372036854775807, 0:3] : (tensor<4x?xf32>) -> tensor<1x3xf32>
  %3 = stablehlo.slice %arg0 [0:4:9223372036854775807, 0:3] : (tensor<4x?xf32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @c1(%arg0: tensor<4xf32>) {
  // expected-error@+2 {{'stablehlo.slice' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<2xi32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.slice %arg0 [0:2] : (tensor<4xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @c2(%arg0: tensor<4xf32>) {
  // expected-error@+2 {{'stablehlo.slice' op (C2) start_indices has the wrong number of elements: got 2, expected 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.slice %arg0 [0:2, 0:2] : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @c3(%arg0: tensor<4xf32>) {
  // expected-error@+2 {{'stablehlo.slice' op (C3) range of dimension 0: got 0:5, expected 0 <= start <= limit <= 4}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.slice %arg0 [0:5] : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @c3_order(%arg0: tensor<?xf32>) {
  // expected-error@+2 {{'stablehlo.slice' op (C3) range of dimension 0: got 3:2, expected 0 <= start <= limit <= ?}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.slice %arg0 [3:2] : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @c4(%arg0: tensor<4xf32>) {
  // expected-error@+2 {{'stablehlo.slice' op (C4) strides too small: got 0, expected at least 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.slice %arg0 [0:2:0] : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @c5(%arg0: tensor<4xf32>) {
  // expected-error@+2 {{'stablehlo.slice' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<1xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.slice %arg0 [0:3:2] : (tensor<4xf32>) -> tensor<1xf32>
  return
}

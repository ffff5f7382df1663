// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<4x?xf32>, %arg1: tensor<i32>) {
  // CHECK: stablehlo.dynamic_slice %arg0, %arg1, %arg1, sizes = [1, 2] : (tensor<4x?xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  %0 = stablehlo.dynamic_slice %arg0, %arg1, %arg1, sizes = [1, 2] : (tensor<4x?xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  return
}

// -----

func.func @c2_indices(%arg0: tensor<4x4xf32>, %arg1: tensor<i32>) {
  // expected-error@+2 {{'stablehlo.dynamic_slice' op (C2) start_indices has the wrong number of elements: got 1, expected 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1, 2] : (tensor<4x4xf32>, tensor<i32>) -> tensor<1x2xf32>
  return
}

// -----

func.func @c2_sizes(%arg0: tensor<4xf32>, %arg1: tensor<i32>) {
  // expected-error@+2 {{'stablehlo.dynamic_slice' op (C2) slice_sizes has the wrong number of elements: got 2, expected 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1, 2] : (tensor<4xf32>, tensor<i32>) -> tensor<1xf32>
  return
}

// -----

func.func @c3(%arg0: tensor<4x4xf32>, %arg1: tensor<i32>, %arg2: tensor<i64>) {
  // expected-error@+2 {{'stablehlo.dynamic_slice' op (C3) types of start_indices differ: got 'tensor<i32>' and 'tensor<i64>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.dynamic_slice %arg0, %arg1, %arg2, sizes = [1, 2] : (tensor<4x4xf32>, tensor<i32>, tensor<i64>) -> tensor<1x2xf32>
  return
}

// -----

func.func @c4(%arg0: tensor<4xf32>, %arg1: tensor<i32>) {
  // expected-error@+2 {{'stablehlo.dynamic_slice' op (C4) slice size of dimension 0: got 5, expected it in [0, 4]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [5] : (tensor<4xf32>, tensor<i32>) -> tensor<5xf32>
  return
}

// -----

func.func @c5(%arg0: tensor<4xf32>, %arg1: tensor<i32>) {
  // expected-error@+2 {{'stablehlo.dynamic_slice' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<1xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<1xf32>
  return
}

// -----

// Upstream prints `%arg0, , sizes`, which neither it nor MLIR's users can read back; this form it reads.
// CHECK-LABEL: func @scalar
func.func @scalar(%arg0: tensor<f32>) {
  // CHECK: stablehlo.dynamic_slice %arg0, sizes = [] : (tensor<f32>) -> tensor<f32>
  %0 = stablehlo.dynamic_slice %arg0, sizes = [] : (tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.dynamic_slice %arg0, sizes = [] : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.dynamic_slice %arg0, , sizes = [] : (tensor<f32>) -> tensor<f32>
  return
}

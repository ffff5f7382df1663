// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<4x?xf32>, %arg1: tensor<i32>, %arg2: tensor<1x2xf32>, %arg3: tensor<f32>) {
  // CHECK: stablehlo.dynamic_update_slice %arg0, %arg2, %arg1, %arg1 : (tensor<4x?xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x?xf32>
  %0 = stablehlo.dynamic_update_slice %arg0, %arg2, %arg1, %arg1 : (tensor<4x?xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x?xf32>
  // CHECK: stablehlo.dynamic_update_slice %arg3, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.dynamic_update_slice %arg3, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @c1(%arg0: tensor<4xf32>, %arg1: tensor<i32>) {
  // expected-error@+2 {{'stablehlo.dynamic_update_slice' op inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<5xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.dynamic_update_slice %arg0, %arg0, %arg1 : (tensor<4xf32>, tensor<4xf32>, tensor<i32>) -> tensor<5xf32>
  return
}

// -----

func.func @c2(%arg0: tensor<4xf32>, %arg1: tensor<i32>, %arg2: tensor<1xi32>) {
  // expected-error@+2 {{'stablehlo.dynamic_update_slice' op (C2) element types of operand and update differ: got 'f32' and 'i32'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.dynamic_update_slice %arg0, %arg2, %arg1 : (tensor<4xf32>, tensor<1xi32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @c3(%arg0: tensor<4xf32>, %arg1: tensor<i32>, %arg2: tensor<1x1xf32>) {
  // expected-error@+2 {{'stablehlo.dynamic_update_slice' op (C3) ranks of operand and update differ: got 1 and 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.dynamic_update_slice %arg0, %arg2, %arg1 : (tensor<4xf32>, tensor<1x1xf32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @c4(%arg0: tensor<4xf32>) {
  // expected-error@+2 {{'stablehlo.dynamic_update_slice' op (C4) start_indices has the wrong number of elements: got 0, expected 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.dynamic_update_slice %arg0, %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c5(%arg0: tensor<4x4xf32>, %arg1: tensor<i32>, %arg2: tensor<i64>) {
  // expected-error@+2 {{'stablehlo.dynamic_update_slice' op (C5) types of start_indices differ: got 'tensor<i32>' and 'tensor<i64>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.dynamic_update_slice %arg0, %arg0, %arg1, %arg2 : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<i32>, tensor<i64>) -> tensor<4x4xf32>
  return
}

// -----

func.func @c6(%arg0: tensor<4xf32>, %arg1: tensor<i32>, %arg2: tensor<5xf32>) {
  // expected-error@+2 {{'stablehlo.dynamic_update_slice' op (C6) size of update dimension 0: got 5, expected at most 4}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.dynamic_update_slice %arg0, %arg2, %arg1 : (tensor<4xf32>, tensor<5xf32>, tensor<i32>) -> tensor<4xf32>
  return
}

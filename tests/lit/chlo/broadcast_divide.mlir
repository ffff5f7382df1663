// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @forms
func.func @forms(%arg0: tensor<3xf32>, %arg1: tensor<2x1xf32>, %arg2: tensor<3x4xf32>, %arg3: tensor<?x1xf32>, %arg4: tensor<?xf32>) {
  // CHECK: chlo.broadcast_divide %arg0, %arg0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %0 = chlo.broadcast_divide %arg0, %arg0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK: chlo.broadcast_divide %arg0, %arg1 : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %1 = chlo.broadcast_divide %arg0, %arg1 : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  // CHECK: chlo.broadcast_divide %arg0, %arg2 {broadcast_dimensions = array<i64: 0>} : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %2 = chlo.broadcast_divide %arg0, %arg2 {broadcast_dimensions = array<i64: 0>} : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  // CHECK: chlo.broadcast_divide %arg3, %arg4 : (tensor<?x1xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %3 = chlo.broadcast_divide %arg3, %arg4 : (tensor<?x1xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @operand_element_types(%arg0: tensor<2xf32>, %arg1: tensor<2xf64>) {
  // expected-error@+2 {{'chlo.broadcast_divide' op element types of lhs and rhs differ: got 'f32' and 'f64'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_divide %arg0, %arg1 : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}

// -----

func.func @sizes(%arg0: tensor<2xf32>, %arg1: tensor<3xf32>) {
  // expected-error@+2 {{'chlo.broadcast_divide' op operands do not broadcast: dimension 0 of the result has 2 elements in one and 3 in another}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_divide %arg0, %arg1 : (tensor<2xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @dimension_count(%arg0: tensor<2xf32>, %arg1: tensor<2x2xf32>) {
  // expected-error@+2 {{'chlo.broadcast_divide' op broadcast_dimensions has the wrong number of elements: got 2, expected 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_divide %arg0, %arg1 {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @dimension_range(%arg0: tensor<2xf32>, %arg1: tensor<2x2xf32>) {
  // expected-error@+2 {{'chlo.broadcast_divide' op broadcast_dimensions out of range: got 2, expected it in [0, 2)}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_divide %arg0, %arg1 {broadcast_dimensions = array<i64: 2>} : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @dimensions_unique(%arg0: tensor<2x2xf32>) {
  // expected-error@+2 {{'chlo.broadcast_divide' op broadcast_dimensions not unique: 1 occurs twice}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_divide %arg0, %arg0 {broadcast_dimensions = array<i64: 1, 1>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @result(%arg0: tensor<2xf32>) {
  // expected-error@+2 {{'chlo.broadcast_divide' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_divide %arg0, %arg0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
}

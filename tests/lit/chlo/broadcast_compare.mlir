// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @forms
func.func @forms(%arg0: tensor<3xf32>, %arg1: tensor<2x1xf32>, %arg2: tensor<3x4xf32>, %arg3: tensor<?x1xf32>, %arg4: tensor<?xf32>) {
  // CHECK: chlo.broadcast_compare %arg0, %arg0 {comparison_direction = #chlo<comparison_direction LT>} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  %0 = chlo.broadcast_compare %arg0, %arg0 {comparison_direction = #chlo<comparison_direction LT>} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  // CHECK: chlo.broadcast_compare %arg0, %arg1 {comparison_direction = #chlo<comparison_direction LT>} : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xi1>
  %1 = chlo.broadcast_compare %arg0, %arg1 {comparison_direction = #chlo<comparison_direction LT>} : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xi1>
  // CHECK: chlo.broadcast_compare %arg0, %arg2 {broadcast_dimensions = array<i64: 0>, comparison_direction = #chlo<comparison_direction LT>} : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
  %2 = chlo.broadcast_compare %arg0, %arg2 {broadcast_dimensions = array<i64: 0>, comparison_direction = #chlo<comparison_direction LT>} : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
  // CHECK: chlo.broadcast_compare %arg3, %arg4 {comparison_direction = #chlo<comparison_direction LT>} : (tensor<?x1xf32>, tensor<?xf32>) -> tensor<?x?xi1>
  %3 = chlo.broadcast_compare %arg3, %arg4 {comparison_direction = #chlo<comparison_direction LT>} : (tensor<?x1xf32>, tensor<?xf32>) -> tensor<?x?xi1>
  return
}

// -----

func.func @operand_element_types(%arg0: tensor<2xf32>, %arg1: tensor<2xf64>) {
  // expected-error@+2 {{'chlo.broadcast_compare' op element types of lhs and rhs differ: got 'f32' and 'f64'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_compare %arg0, %arg1 {comparison_direction = #chlo<comparison_direction LT>} : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xi1>
  return
}

// -----

func.func @sizes(%arg0: tensor<2xf32>, %arg1: tensor<3xf32>) {
  // expected-error@+2 {{'chlo.broadcast_compare' op operands do not broadcast: dimension 0 of the result has 2 elements in one and 3 in another}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_compare %arg0, %arg1 {comparison_direction = #chlo<comparison_direction LT>} : (tensor<2xf32>, tensor<3xf32>) -> tensor<3xi1>
  return
}

// -----

func.func @dimension_count(%arg0: tensor<2xf32>, %arg1: tensor<2x2xf32>) {
  // expected-error@+2 {{'chlo.broadcast_compare' op broadcast_dimensions has the wrong number of elements: got 2, expected 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_compare %arg0, %arg1 {broadcast_dimensions = array<i64: 0, 1>, comparison_direction = #chlo<comparison_direction LT>} : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
  return
}

// -----

func.func @dimension_range(%arg0: tensor<2xf32>, %arg1: tensor<2x2xf32>) {
  // expected-error@+2 {{'chlo.broadcast_compare' op broadcast_dimensions out of range: got 2, expected it in [0, 2)}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_compare %arg0, %arg1 {broadcast_dimensions = array<i64: 2>, comparison_direction = #chlo<comparison_direction LT>} : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
  return
}

// -----

func.func @dimensions_unique(%arg0: tensor<2x2xf32>) {
  // expected-error@+2 {{'chlo.broadcast_compare' op broadcast_dimensions not unique: 1 occurs twice}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_compare %arg0, %arg0 {broadcast_dimensions = array<i64: 1, 1>, comparison_direction = #chlo<comparison_direction LT>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
  return
}

// -----

func.func @result(%arg0: tensor<2xf32>) {
  // expected-error@+2 {{'chlo.broadcast_compare' op inferred type(s) 'tensor<2xi1>' are incompatible with return type(s) of operation 'tensor<3xi1>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_compare %arg0, %arg0 {comparison_direction = #chlo<comparison_direction LT>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xi1>
  return
}

// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<?x1xf32>, %arg1: tensor<3xi64>) {
  // CHECK: stablehlo.dynamic_broadcast_in_dim %arg0, %arg1, dims = [0, 2] : (tensor<?x1xf32>, tensor<3xi64>) -> tensor<?x4x?xf32>
  %0 = stablehlo.dynamic_broadcast_in_dim %arg0, %arg1, dims = [0, 2] : (tensor<?x1xf32>, tensor<3xi64>) -> tensor<?x4x?xf32>
  // CHECK: stablehlo.dynamic_broadcast_in_dim %arg0, %arg1, dims = [0, 2] {known_expanding_dimensions = array<i64: 1>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<?x1xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  %1 = stablehlo.dynamic_broadcast_in_dim %arg0, %arg1, dims = [0, 2] {known_expanding_dimensions = array<i64: 1>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<?x1xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  return
}

// -----

func.func @c1(%arg0: tensor<2xi32>, %arg1: tensor<2xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_broadcast_in_dim' op (C1) element types of operand and result differ: got 'i32' and 'f32'}}
  %0 = stablehlo.dynamic_broadcast_in_dim %arg0, %arg1, dims = [0] : (tensor<2xi32>, tensor<2xi64>) -> tensor<2x?xf32>
  return
}

// -----

func.func @c2(%arg0: tensor<2x1xf32>, %arg1: tensor<2xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_broadcast_in_dim' op (C2) broadcast_dimensions has the wrong number of elements: got 1, expected 2}}
  %0 = stablehlo.dynamic_broadcast_in_dim %arg0, %arg1, dims = [0] : (tensor<2x1xf32>, tensor<2xi64>) -> tensor<2x?xf32>
  return
}

// -----

func.func @c3(%arg0: tensor<2xf32>, %arg1: tensor<2xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_broadcast_in_dim' op (C3) broadcast_dimensions out of range: got 2, expected it in [0, 2)}}
  %0 = stablehlo.dynamic_broadcast_in_dim %arg0, %arg1, dims = [2] : (tensor<2xf32>, tensor<2xi64>) -> tensor<2x?xf32>
  return
}

// -----

func.func @c4(%arg0: tensor<2x1xf32>, %arg1: tensor<2xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_broadcast_in_dim' op (C4) broadcast_dimensions not unique: 0 occurs twice}}
  %0 = stablehlo.dynamic_broadcast_in_dim %arg0, %arg1, dims = [0, 0] : (tensor<2x1xf32>, tensor<2xi64>) -> tensor<2x?xf32>
  return
}

// -----

func.func @c5(%arg0: tensor<2xf32>, %arg1: tensor<2xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_broadcast_in_dim' op (C5) operand dimension 0 of size 2 cannot be broadcast to result dimension 0 of size 3}}
  %0 = stablehlo.dynamic_broadcast_in_dim %arg0, %arg1, dims = [0] : (tensor<2xf32>, tensor<2xi64>) -> tensor<3x?xf32>
  return
}

// -----

func.func @c7(%arg0: tensor<2xf32>, %arg1: tensor<2xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_broadcast_in_dim' op (C7) output_dimensions has the wrong number of elements: got 2, expected 3}}
  %0 = stablehlo.dynamic_broadcast_in_dim %arg0, %arg1, dims = [0] : (tensor<2xf32>, tensor<2xi64>) -> tensor<2x?x?xf32>
  return
}

// -----

func.func @c8(%arg0: tensor<2xf32>, %arg1: tensor<2xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_broadcast_in_dim' op (C8) known_expanding_dimensions and known_nonexpanding_dimensions not unique: 0 occurs twice}}
  %0 = stablehlo.dynamic_broadcast_in_dim %arg0, %arg1, dims = [0] {known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<2xi64>) -> tensor<2x?xf32>
  return
}

// -----

func.func @c9(%arg0: tensor<2xf32>, %arg1: tensor<2xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_broadcast_in_dim' op (C9) known_expanding_dimensions out of range: got 1, expected it in [0, 1)}}
  %0 = stablehlo.dynamic_broadcast_in_dim %arg0, %arg1, dims = [0] {known_expanding_dimensions = array<i64: 1>} : (tensor<2xf32>, tensor<2xi64>) -> tensor<2x?xf32>
  return
}

// -----

func.func @c10(%arg0: tensor<2xf32>, %arg1: tensor<2xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_broadcast_in_dim' op (C10) known_nonexpanding_dimensions out of range: got -1, expected it in [0, 1)}}
  %0 = stablehlo.dynamic_broadcast_in_dim %arg0, %arg1, dims = [0] {known_nonexpanding_dimensions = array<i64: -1>} : (tensor<2xf32>, tensor<2xi64>) -> tensor<2x?xf32>
  return
}

// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2x1xf32>, %arg1: tensor<f32>) {
  // CHECK: stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<2x1xf32>) -> tensor<2x4x3xf32>
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<2x1xf32>) -> tensor<2x4x3xf32>
  // CHECK: stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x0xf32>
  %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x0xf32>
  // CHECK: stablehlo.broadcast_in_dim %arg0, dims = [1, 0] : (tensor<2x1xf32>) -> tensor<3x2xf32>
  %2 = stablehlo.broadcast_in_dim %arg0, dims = [1, 0] : (tensor<2x1xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @c1(%arg0: tensor<2xi32>) {
  // expected-error@+1 {{'stablehlo.broadcast_in_dim' op (C1) element types of operand and result differ: got 'i32' and 'f32'}}
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @c2(%arg0: tensor<2x1xf32>) {
  // expected-error@+1 {{'stablehlo.broadcast_in_dim' op (C2) broadcast_dimensions has the wrong number of elements: got 1, expected 2}}
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<2x1xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @c3(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.broadcast_in_dim' op (C3) broadcast_dimensions out of range: got 2, expected it in [0, 2)}}
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [2] : (tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @c4(%arg0: tensor<1x1xf32>) {
  // expected-error@+1 {{'stablehlo.broadcast_in_dim' op (C4) broadcast_dimensions not unique: 0 occurs twice}}
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 0] : (tensor<1x1xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @c5(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.broadcast_in_dim' op (C5) operand dimension 0 of size 2 cannot be broadcast to result dimension 1 of size 3}}
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<2xf32>) -> tensor<2x3xf32>
  return
}

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

// -----

// CHECK-LABEL: func @quantized
func.func @quantized(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, %arg1: tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>, %arg2: tensor<1x2x!quant.uniform<i8:f32:0, {0.5:2}>>) {
  // CHECK: dims = [0, 1] : (tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01:30>>) -> tensor<2x2x3x!quant.uniform<i8:f32, 5.000000e-01:30>>
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>) -> tensor<2x2x3x!quant.uniform<i8:f32, 0.5:30>>
  // CHECK: dims = [1, 0] : (tensor<2x2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01:1}>>) -> tensor<2x2x3x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01:1}>>
  %1 = stablehlo.broadcast_in_dim %arg1, dims = [1, 0] : (tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>) -> tensor<2x2x3x!quant.uniform<i8:f32:1, {0.5, 0.25:1}>>
  // CHECK: dims = [0, 1] : (tensor<1x2x!quant.uniform<i8:f32:0, {5.000000e-01:2}>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {5.000000e-01:2,5.000000e-01:2}>>
  %2 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<1x2x!quant.uniform<i8:f32:0, {0.5:2}>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {0.5:2, 0.5:2}>>
  return
}

// -----

// CHECK-LABEL: func @bounded
func.func @bounded(%arg0: tensor<1x3xf32>) {
  // CHECK: dims = [0, 1] : (tensor<1x3xf32>) -> tensor<?x3xf32, #stablehlo.bounds<4, ?>>
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<?x3xf32, #stablehlo.bounds<4, ?>>
  return
}

// -----

func.func @unbounded(%arg0: tensor<1x3xf32>) {
  // expected-error@+1 {{'stablehlo.broadcast_in_dim' op result #0 must be statically shaped tensor, or one with a single unknown dimension that has a bound, of boolean or integer or floating-point or complex or quantized values, but got 'tensor<?x?xf32, #stablehlo.bounds<4, ?>>'}}
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<?x?xf32, #stablehlo.bounds<4, ?>>
  return
}

// -----

func.func @c1_quantized(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>) {
  // expected-error@+1 {{'stablehlo.broadcast_in_dim' op (C1) element types of operand and result differ: got '!quant.uniform<i8:f32, 5.000000e-01:30>' and '!quant.uniform<i8:f32, 2.500000e-01>'}}
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>) -> tensor<2x2x3x!quant.uniform<i8:f32, 0.25>>
  return
}

// -----

func.func @c1_per_axis(%arg0: tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>) {
  // expected-error@+1 {{'stablehlo.broadcast_in_dim' op (C1) element types of operand and result differ: got '!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01:1}>' and '!quant.uniform<i8:f32, 5.000000e-01:30>'}}
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>) -> tensor<2x2x3x!quant.uniform<i8:f32, 0.5:30>>
  return
}

// -----

func.func @c6(%arg0: tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>) {
  // expected-error@+1 {{'stablehlo.broadcast_in_dim' op (C6) result's quantized dimension is 1, expected 0, where the operand's goes}}
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>) -> tensor<2x2x3x!quant.uniform<i8:f32:1, {0.5, 0.25:1}>>
  return
}

// -----

func.func @c6_scales(%arg0: tensor<1x2x!quant.uniform<i8:f32:0, {0.5}>>) {
  // expected-error@+1 {{'stablehlo.broadcast_in_dim' op (C6) result has the scale and zero point 0.250000:1, expected the operand's, repeated: 0.500000:0}}
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<1x2x!quant.uniform<i8:f32:0, {0.5}>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>
  return
}

// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2x3xf32>, %arg1: tensor<?xf32>) {
  // CHECK: stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<6xf32>
  %0 = stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<6xf32>
  // CHECK: stablehlo.reshape %arg1 : (tensor<?xf32>) -> tensor<1xf32>
  %1 = stablehlo.reshape %arg1 : (tensor<?xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @c1(%arg0: tensor<2xi32>) {
  // expected-error@+1 {{'stablehlo.reshape' op (C1) element types of operand and result differ: got 'i32' and 'f32'}}
  %0 = stablehlo.reshape %arg0 : (tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @c2(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.reshape' op (C2) numbers of elements differ: operand has 6, result has 5}}
  %0 = stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @c2_overflow(%arg0: tensor<4294967296x4294967296xi8>) {
  // expected-error@+1 {{'stablehlo.reshape' op (C2) numbers of elements: 'tensor<4294967296x4294967296xi8>' has more than 2^63 - 1}}
  %0 = stablehlo.reshape %arg0 : (tensor<4294967296x4294967296xi8>) -> tensor<0xi8>
  return
}

// -----

// CHECK-LABEL: func @quantized
func.func @quantized(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, %arg1: tensor<4x2x!quant.uniform<i8:f32:1, {0.5, 0.25:1}>>) {
  // CHECK: stablehlo.reshape %arg0 : (tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01:30>>) -> tensor<4x!quant.uniform<i8:f32, 5.000000e-01:30>>
  %0 = stablehlo.reshape %arg0 : (tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>) -> tensor<4x!quant.uniform<i8:f32, 0.5:30>>
  // CHECK: stablehlo.reshape %arg1 : (tensor<4x2x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01:1}>>) -> tensor<2x2x2x!quant.uniform<i8:f32:2, {5.000000e-01,2.500000e-01:1}>>
  %1 = stablehlo.reshape %arg1 : (tensor<4x2x!quant.uniform<i8:f32:1, {0.5, 0.25:1}>>) -> tensor<2x2x2x!quant.uniform<i8:f32:2, {0.5, 0.25:1}>>
  return
}

// -----

// CHECK-LABEL: func @bounded
func.func @bounded(%arg0: tensor<?x3xf32, #stablehlo.bounds<4, ?>>) {
  // CHECK: stablehlo.reshape %arg0 : (tensor<?x3xf32, #stablehlo.bounds<4, ?>>) -> tensor<3x?xf32, #stablehlo.bounds<?, 4>>
  %0 = stablehlo.reshape %arg0 : (tensor<?x3xf32, #stablehlo.bounds<4, ?>>) -> tensor<3x?xf32, #stablehlo.bounds<?, 4>>
  return
}

// -----

func.func @c1_quantized(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>) {
  // expected-error@+1 {{'stablehlo.reshape' op (C1) element types of operand and result differ: got '!quant.uniform<i8:f32, 5.000000e-01:30>' and '!quant.uniform<i8:f32, 2.500000e-01>'}}
  %0 = stablehlo.reshape %arg0 : (tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>) -> tensor<2x2x1x!quant.uniform<i8:f32, 0.25>>
  return
}

// -----

func.func @c1_scales(%arg0: tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>) {
  // expected-error@+1 {{'stablehlo.reshape' op (C1) element types of operand and result differ: got '!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01:1}>' and '!quant.uniform<i8:f32:0, {5.000000e-01,5.000000e-01}>'}}
  %0 = stablehlo.reshape %arg0 : (tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>) -> tensor<2x2x1x!quant.uniform<i8:f32:0, {0.5, 0.5}>>
  return
}

// -----

func.func @c3(%arg0: tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25:1}>>) {
  // expected-error@+1 {{'stablehlo.reshape' op (C3) quantized dimension 1 of 'tensor<2x2x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01:1}>>' does not become dimension 0 of 'tensor<2x2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01:1}>>'}}
  %0 = stablehlo.reshape %arg0 : (tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25:1}>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>
  return
}

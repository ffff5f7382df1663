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

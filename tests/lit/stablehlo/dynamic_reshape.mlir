// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<?x3xf32>, %arg1: tensor<1xi32>) {
  // CHECK: stablehlo.dynamic_reshape %arg0, %arg1 : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>
  %0 = stablehlo.dynamic_reshape %arg0, %arg1 : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>
  return
}

// -----

func.func @c1(%arg0: tensor<2xi32>, %arg1: tensor<1xi32>) {
  // expected-error@+1 {{'stablehlo.dynamic_reshape' op (C1) element types of operand and result differ: got 'i32' and 'f32'}}
  %0 = stablehlo.dynamic_reshape %arg0, %arg1 : (tensor<2xi32>, tensor<1xi32>) -> tensor<?xf32>
  return
}

// -----

func.func @c2(%arg0: tensor<2xf32>, %arg1: tensor<1xi32>) {
  // expected-error@+1 {{'stablehlo.dynamic_reshape' op (C2) numbers of elements differ: operand has 2, result has 3}}
  %0 = stablehlo.dynamic_reshape %arg0, %arg1 : (tensor<2xf32>, tensor<1xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @c4(%arg0: tensor<2xf32>, %arg1: tensor<1xi32>) {
  // expected-error@+1 {{'stablehlo.dynamic_reshape' op (C4) output_shape has the wrong number of elements: got 1, expected 2}}
  %0 = stablehlo.dynamic_reshape %arg0, %arg1 : (tensor<2xf32>, tensor<1xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @c2_overflow(%arg0: tensor<4294967296x4294967296xi8>, %arg1: tensor<1xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_reshape' op (C2) numbers of elements: 'tensor<4294967296x4294967296xi8>' has more than 2^63 - 1}}
  %0 = stablehlo.dynamic_reshape %arg0, %arg1 : (tensor<4294967296x4294967296xi8>, tensor<1xi64>) -> tensor<0xi8>
  return
}

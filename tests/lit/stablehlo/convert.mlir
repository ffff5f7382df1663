// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2xf32>, %arg1: tensor<?xi1>) {
  // CHECK: stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xi32>
  %0 = stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xi32>
  // CHECK: stablehlo.convert %arg1 : (tensor<?xi1>) -> tensor<2xcomplex<f32>>
  %1 = stablehlo.convert %arg1 : (tensor<?xi1>) -> tensor<2xcomplex<f32>>
  // CHECK: stablehlo.convert %arg0 : tensor<2xf32>
  %2 = stablehlo.convert %arg0 : tensor<2xf32>
  return
}

// -----

func.func @c1_shape(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.convert' op (C1) shapes of operand and result differ: got 'tensor<2xf32>' and 'tensor<3xi32>'}}
  %0 = stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<3xi32>
  return
}

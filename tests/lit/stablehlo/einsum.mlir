// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2x3xf32>, %arg1: tensor<3x?xf32>) {
  // CHECK: stablehlo.einsum %arg0, %arg1, config = "ab,bc->ac" : (tensor<2x3xf32>, tensor<3x?xf32>) -> tensor<2x?xf32>
  %0 = stablehlo.einsum %arg0, %arg1, config = "ab,bc->ac" : (tensor<2x3xf32>, tensor<3x?xf32>) -> tensor<2x?xf32>
  // CHECK: stablehlo.einsum %arg0, %arg0, config = "ab,ab->" {note = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
  %1 = "stablehlo.einsum"(%arg0, %arg0) <{einsum_config = "ab,ab->"}> {note = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @config(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.einsum' op requires attribute 'einsum_config'}}
  %0 = "stablehlo.einsum"(%arg0, %arg0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
  return
}

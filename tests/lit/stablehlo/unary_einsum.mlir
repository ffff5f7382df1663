// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2x3xf32>) {
  // CHECK: stablehlo.unary_einsum %arg0, config = "ab->ba" : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %0 = stablehlo.unary_einsum %arg0, config = "ab->ba" : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK: stablehlo.unary_einsum %arg0, config = "ab->a" {note = 1 : i64} : (tensor<2x3xf32>) -> tensor<2xf32>
  %1 = "stablehlo.unary_einsum"(%arg0) <{einsum_config = "ab->a"}> {note = 1 : i64} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @config(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.unary_einsum' op requires attribute 'einsum_config'}}
  %0 = "stablehlo.unary_einsum"(%arg0) : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @values
// CHECK-SAME: %arg0: !stablehlo.token, %arg1: !stablehlo.future<tensor<2x?xf32>>, %arg2: !stablehlo.future<tensor<f32>, tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>>
func.func @values(%arg0: !stablehlo.token, %arg1: !stablehlo.future<tensor<2x?xf32>>, %arg2: !stablehlo.future<tensor<f32>, tensor<2x!quant.uniform<i8:f32, 0.5>>>) {
  return
}

// -----

// expected-error@+1 {{a future holds ranked tensors, got '!stablehlo.token'}}
func.func @future(%arg0: !stablehlo.future<!stablehlo.token>) {
  return
}

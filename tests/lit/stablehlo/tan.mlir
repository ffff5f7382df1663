// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%0: tensor<2x3xf32>, %1: tensor<2x3xcomplex<f64>>) {
  // CHECK: stablehlo.tan %arg0 : tensor<2x3xf32>
  %r0 = stablehlo.tan %0 : tensor<2x3xf32>
  // CHECK: stablehlo.tan %arg1 : tensor<2x3xcomplex<f64>>
  %r1 = stablehlo.tan %1 : tensor<2x3xcomplex<f64>>
  return
}

// CHECK-LABEL: func @shapes
func.func @shapes(%arg0: tensor<?x3xf32>, %arg1: tensor<f32>, %arg2: tensor<0xf32>) {
  // CHECK: stablehlo.tan %arg0 : (tensor<?x3xf32>) -> tensor<2x?xf32>
  %0 = stablehlo.tan %arg0 : (tensor<?x3xf32>) -> tensor<2x?xf32>
  // CHECK: stablehlo.tan %arg1 {note = "kept"} : tensor<f32>
  %1 = stablehlo.tan %arg1 {note = "kept"} : tensor<f32>
  // CHECK: stablehlo.tan %arg2 : tensor<0xf32>
  %2 = "stablehlo.tan"(%arg2) : (tensor<0xf32>) -> tensor<0xf32>
  return
}

// CHECK-LABEL: func @accuracy
func.func @accuracy(%arg0: tensor<f32>) {
  // CHECK: stablehlo.tan %arg0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<f32>
  %0 = stablehlo.tan %arg0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, rtol = 0.0, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<f32>
  // CHECK: stablehlo.tan %arg0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<f32>
  %1 = stablehlo.tan %arg0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<f32>
  // CHECK: stablehlo.tan %arg0 : tensor<f32>
  %2 = stablehlo.tan %arg0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>} : tensor<f32>
  return
}

// -----

func.func @accuracy_without_tolerance(%arg0: tensor<f32>) {
  // expected-error@+1 {{result accuracy mode HIGHEST takes no atol, rtol or ulps}}
  %0 = stablehlo.tan %arg0 {result_accuracy = #stablehlo.result_accuracy<ulps = 1, mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<f32>
  return
}

// -----

func.func @element_type(%arg0: tensor<2xi32>) {
  // expected-error@+1 {{'stablehlo.tan' op operand #0 must be ranked tensor of floating-point or complex or per-tensor quantized values, but got 'tensor<2xi32>'}}
  %0 = stablehlo.tan %arg0 : tensor<2xi32>
  return
}

// -----

func.func @c1_result(%arg0: tensor<2xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'stablehlo.tan' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  %0 = stablehlo.tan %arg0 : (tensor<2xf32>) -> tensor<3xf32>
  return
}

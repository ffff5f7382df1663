// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%0: tensor<2x3xf32>, %1: tensor<2x3xbf16>) {
  // CHECK: stablehlo.ceil %arg0 : tensor<2x3xf32>
  %r0 = stablehlo.ceil %0 : tensor<2x3xf32>
  // CHECK: stablehlo.ceil %arg1 : tensor<2x3xbf16>
  %r1 = stablehlo.ceil %1 : tensor<2x3xbf16>
  return
}

// CHECK-LABEL: func @shapes
func.func @shapes(%arg0: tensor<?x3xf32>, %arg1: tensor<f32>, %arg2: tensor<0xf32>) {
  // CHECK: stablehlo.ceil %arg0 : (tensor<?x3xf32>) -> tensor<2x?xf32>
  %0 = stablehlo.ceil %arg0 : (tensor<?x3xf32>) -> tensor<2x?xf32>
  // CHECK: stablehlo.ceil %arg1 {note = "kept"} : tensor<f32>
  %1 = stablehlo.ceil %arg1 {note = "kept"} : tensor<f32>
  // CHECK: stablehlo.ceil %arg2 : tensor<0xf32>
  %2 = "stablehlo.ceil"(%arg2) : (tensor<0xf32>) -> tensor<0xf32>
  return
}

// -----

func.func @element_type(%arg0: tensor<2xi32>) {
  // expected-error@+1 {{'stablehlo.ceil' op operand #0 must be ranked tensor of floating-point or per-tensor quantized values, but got 'tensor<2xi32>'}}
  %0 = stablehlo.ceil %arg0 : tensor<2xi32>
  return
}

// -----

func.func @c1_result(%arg0: tensor<2xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'stablehlo.ceil' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  %0 = stablehlo.ceil %arg0 : (tensor<2xf32>) -> tensor<3xf32>
  return
}

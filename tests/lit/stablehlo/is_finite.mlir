// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2xf32>, %arg1: tensor<?xbf16>) {
  // CHECK: stablehlo.is_finite %arg0 : (tensor<2xf32>) -> tensor<2xi1>
  %0 = stablehlo.is_finite %arg0 : (tensor<2xf32>) -> tensor<2xi1>
  // CHECK: stablehlo.is_finite %arg1 : (tensor<?xbf16>) -> tensor<?xi1>
  %1 = stablehlo.is_finite %arg1 : (tensor<?xbf16>) -> tensor<?xi1>
  return
}

// -----

func.func @element_type(%arg0: tensor<2xi32>) {
  // expected-error@+1 {{'stablehlo.is_finite' op operand #0 must be ranked tensor of floating-point or per-tensor quantized values, but got 'tensor<2xi32>'}}
  %0 = stablehlo.is_finite %arg0 : (tensor<2xi32>) -> tensor<2xi1>
  return
}

// -----

func.func @c1_shape(%arg0: tensor<2xf32>) {
  // expected-error@+2 {{'stablehlo.is_finite' op inferred type(s) 'tensor<2xi1>' are incompatible with return type(s) of operation 'tensor<3xi1>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.is_finite %arg0 : (tensor<2xf32>) -> tensor<3xi1>
  return
}

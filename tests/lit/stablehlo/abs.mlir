// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2xi32>, %arg1: tensor<?xf32>, %arg2: tensor<2xcomplex<f32>>) {
  // CHECK: stablehlo.abs %arg0 : tensor<2xi32>
  %0 = stablehlo.abs %arg0 : tensor<2xi32>
  // CHECK: stablehlo.abs %arg1 : (tensor<?xf32>) -> tensor<3xf32>
  %1 = stablehlo.abs %arg1 : (tensor<?xf32>) -> tensor<3xf32>
  // CHECK: stablehlo.abs %arg2 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %2 = stablehlo.abs %arg2 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  return
}

// -----

func.func @element_type(%arg0: tensor<2xui32>) {
  // expected-error@+1 {{'stablehlo.abs' op operand #0 must be ranked tensor of signed integer or floating-point or complex or per-tensor quantized values, but got 'tensor<2xui32>'}}
  %0 = stablehlo.abs %arg0 : tensor<2xui32>
  return
}

// -----

func.func @c1_shape(%arg0: tensor<2xf32>) {
  // expected-error@+2 {{'stablehlo.abs' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.abs %arg0 : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @c2_complex(%arg0: tensor<2xcomplex<f64>>) {
  // expected-error@+2 {{'stablehlo.abs' op inferred type(s) 'tensor<2xf64>' are incompatible with return type(s) of operation 'tensor<2xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.abs %arg0 : (tensor<2xcomplex<f64>>) -> tensor<2xf32>
  return
}

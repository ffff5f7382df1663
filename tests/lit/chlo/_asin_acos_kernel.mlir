// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @forms
func.func @forms(%arg0: tensor<2x3xcomplex<f32>>, %arg1: tensor<0xcomplex<f64>>, %arg2: tensor<?x3xcomplex<f32>>) {
  // CHECK: chlo._asin_acos_kernel %arg0 : tensor<2x3xcomplex<f32>> -> tensor<2x3xcomplex<f32>>
  %0 = chlo._asin_acos_kernel %arg0 : tensor<2x3xcomplex<f32>> -> tensor<2x3xcomplex<f32>>
  // CHECK: chlo._asin_acos_kernel %arg1 {note = "kept"} : tensor<0xcomplex<f64>> -> tensor<0xcomplex<f64>>
  %1 = "chlo._asin_acos_kernel"(%arg1) {note = "kept"} : (tensor<0xcomplex<f64>>) -> tensor<0xcomplex<f64>>
  // CHECK: chlo._asin_acos_kernel %arg2 : tensor<?x3xcomplex<f32>> -> tensor<2x?xcomplex<f32>>
  %2 = chlo._asin_acos_kernel %arg2 : tensor<?x3xcomplex<f32>> -> tensor<2x?xcomplex<f32>>
  return
}

// -----

func.func @element_type(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'chlo._asin_acos_kernel' op operand #0 must be ranked tensor of complex values, but got 'tensor<2xf32>'}}
  %0 = chlo._asin_acos_kernel %arg0 : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @shape(%arg0: tensor<2xcomplex<f32>>) {
  // expected-error@+2 {{'chlo._asin_acos_kernel' op inferred type(s) 'tensor<2xcomplex<f32>>' are incompatible with return type(s) of operation 'tensor<3xcomplex<f32>>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo._asin_acos_kernel %arg0 : tensor<2xcomplex<f32>> -> tensor<3xcomplex<f32>>
  return
}

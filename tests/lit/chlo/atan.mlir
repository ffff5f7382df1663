// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @forms
func.func @forms(%arg0: tensor<2x3xf32>, %arg1: tensor<0xbf16>, %arg2: tensor<?x3xf32>, %arg3: tensor<complex<f64>>) {
  // CHECK: chlo.atan %arg0 : tensor<2x3xf32> -> tensor<2x3xf32>
  %0 = chlo.atan %arg0 : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK: chlo.atan %arg1 {note = "kept"} : tensor<0xbf16> -> tensor<0xbf16>
  %1 = "chlo.atan"(%arg1) {note = "kept"} : (tensor<0xbf16>) -> tensor<0xbf16>
  // CHECK: chlo.atan %arg2 : tensor<?x3xf32> -> tensor<2x?xf32>
  %2 = chlo.atan %arg2 : tensor<?x3xf32> -> tensor<2x?xf32>
  // CHECK: chlo.atan %arg3 : tensor<complex<f64>> -> tensor<complex<f64>>
  %3 = chlo.atan %arg3 : tensor<complex<f64>> -> tensor<complex<f64>>
  return
}

// -----

func.func @element_type(%arg0: tensor<2xi32>) {
  // expected-error@+1 {{'chlo.atan' op operand #0 must be ranked tensor of floating-point or complex values, but got 'tensor<2xi32>'}}
  %0 = chlo.atan %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @shape(%arg0: tensor<2xf32>) {
  // expected-error@+2 {{'chlo.atan' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.atan %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @result_element_type(%arg0: tensor<2xf32>) {
  // expected-error@+2 {{'chlo.atan' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<2xf64>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.atan %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

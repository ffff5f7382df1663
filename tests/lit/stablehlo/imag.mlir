// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2xcomplex<f64>>, %arg1: tensor<?xbf16>) {
  // CHECK: stablehlo.imag %arg0 : (tensor<2xcomplex<f64>>) -> tensor<2xf64>
  %0 = stablehlo.imag %arg0 : (tensor<2xcomplex<f64>>) -> tensor<2xf64>
  // CHECK: stablehlo.imag %arg1 {note = 1 : i64} : tensor<?xbf16>
  %1 = stablehlo.imag %arg1 {note = 1 : i64} : tensor<?xbf16>
  // CHECK: stablehlo.imag %arg1 : (tensor<?xbf16>) -> tensor<4xbf16>
  %2 = "stablehlo.imag"(%arg1) : (tensor<?xbf16>) -> tensor<4xbf16>
  return
}

// -----

func.func @element_type(%arg0: tensor<2xi32>) {
  // expected-error@+1 {{'stablehlo.imag' op operand #0 must be ranked tensor of floating-point or complex values, but got 'tensor<2xi32>'}}
  %0 = stablehlo.imag %arg0 : tensor<2xi32>
  return
}

// -----

func.func @c1(%arg0: tensor<2xcomplex<f32>>) {
  // expected-error@+2 {{'stablehlo.imag' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error@+1 {{'stablehlo.imag' op failed to infer returned types}}
  %0 = stablehlo.imag %arg0 : (tensor<2xcomplex<f32>>) -> tensor<3xf32>
  return
}

// -----

func.func @c2_complex(%arg0: tensor<2xcomplex<f32>>) {
  // expected-error@+2 {{'stablehlo.imag' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<2xf64>'}}
  // expected-error@+1 {{'stablehlo.imag' op failed to infer returned types}}
  %0 = stablehlo.imag %arg0 : (tensor<2xcomplex<f32>>) -> tensor<2xf64>
  return
}

// -----

func.func @c2_real(%arg0: tensor<2xf32>) {
  // expected-error@+2 {{'stablehlo.imag' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<2xf64>'}}
  // expected-error@+1 {{'stablehlo.imag' op failed to infer returned types}}
  %0 = stablehlo.imag %arg0 : (tensor<2xf32>) -> tensor<2xf64>
  return
}

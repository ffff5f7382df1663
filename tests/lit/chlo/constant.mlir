// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @forms
func.func @forms() {
  // CHECK: %0 = chlo.constant dense<1.000000e+00> : tensor<2xf32>
  %0 = chlo.constant dense<1.0> : tensor<2xf32>
  // CHECK: chlo.constant {note = "kept"} dense<[1, 2]> : tensor<2xi32>
  %1 = chlo.constant {note = "kept"} dense<[1, 2]> : tensor<2xi32>
  // CHECK: chlo.constant dense<(1.000000e+00,-2.000000e+00)> : tensor<complex<f64>>
  %2 = "chlo.constant"() {value = dense<(1.0, -2.0)> : tensor<complex<f64>>} : () -> tensor<complex<f64>>
  return
}

// -----

func.func @value() {
  // expected-error@+1 {{'chlo.constant' op attribute 'value' failed to satisfy constraint: constant vector/tensor attribute}}
  %0 = "chlo.constant"() {value = 1 : i32} : () -> tensor<i32>
  return
}

// -----

func.func @type() {
  // expected-error@+2 {{'chlo.constant' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "chlo.constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<3xf32>
  return
}

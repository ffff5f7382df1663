// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @forms
func.func @forms(%arg0: tensor<2xf32>, %arg1: tensor<?x3xi32>) {
  // CHECK: "chlo.constant_like"(%arg0) <{value = 1.000000e+00 : f32}> : (tensor<2xf32>) -> tensor<2xf32>
  %0 = "chlo.constant_like"(%arg0) {value = 1.0 : f32} : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: "chlo.constant_like"(%arg1) <{value = 2.000000e+00 : bf16}> {note = "kept"} : (tensor<?x3xi32>) -> tensor<?x3xbf16>
  %1 = "chlo.constant_like"(%arg1) <{value = 2.0 : bf16}> {note = "kept"} : (tensor<?x3xi32>) -> tensor<?x3xbf16>
  return
}

// -----

func.func @value(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'chlo.constant_like' op attribute 'value' failed to satisfy constraint: TypedAttr instance}}
  %0 = "chlo.constant_like"(%arg0) {value = [1.0]} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @element_type(%arg0: tensor<2xf32>) {
  // expected-error@+2 {{'chlo.constant_like' op inferred type(s) 'tensor<2xf64>' are incompatible with return type(s) of operation 'tensor<2xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "chlo.constant_like"(%arg0) {value = 1.0 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @shape(%arg0: tensor<2xf32>) {
  // expected-error@+2 {{'chlo.constant_like' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "chlo.constant_like"(%arg0) {value = 1.0 : f32} : (tensor<2xf32>) -> tensor<3xf32>
  return
}

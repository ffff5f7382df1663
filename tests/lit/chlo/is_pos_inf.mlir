// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @forms
func.func @forms(%arg0: tensor<2xf32>, %arg1: tensor<?xf16>, %arg2: tensor<f8E5M2>) {
  // CHECK: chlo.is_pos_inf %arg0 : tensor<2xf32> -> tensor<2xi1>
  %0 = chlo.is_pos_inf %arg0 : tensor<2xf32> -> tensor<2xi1>
  // CHECK: chlo.is_pos_inf %arg1 {note = "kept"} : tensor<?xf16> -> tensor<3xi1>
  %1 = "chlo.is_pos_inf"(%arg1) {note = "kept"} : (tensor<?xf16>) -> tensor<3xi1>
  // CHECK: chlo.is_pos_inf %arg2 : tensor<f8E5M2> -> tensor<i1>
  %2 = chlo.is_pos_inf %arg2 : tensor<f8E5M2> -> tensor<i1>
  return
}

// -----

func.func @element_type(%arg0: tensor<2xi32>) {
  // expected-error@+1 {{'chlo.is_pos_inf' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = chlo.is_pos_inf %arg0 : tensor<2xi32> -> tensor<2xi1>
  return
}

// -----

func.func @result_element_type(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'chlo.is_pos_inf' op result #0 must be ranked tensor of boolean values, but got 'tensor<2xf32>'}}
  %0 = chlo.is_pos_inf %arg0 : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @shape(%arg0: tensor<2xf32>) {
  // expected-error@+2 {{'chlo.is_pos_inf' op inferred type(s) 'tensor<2xi1>' are incompatible with return type(s) of operation 'tensor<3xi1>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.is_pos_inf %arg0 : tensor<2xf32> -> tensor<3xi1>
  return
}

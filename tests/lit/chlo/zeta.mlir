// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @forms
func.func @forms(%arg0: tensor<2x3xf32>, %arg1: tensor<?xbf16>, %arg2: tensor<2xbf16>) {
  // CHECK: chlo.zeta %arg0, %arg0 : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
  %0 = chlo.zeta %arg0, %arg0 : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK: chlo.zeta %arg1, %arg2 {note = "kept"} : tensor<?xbf16>, tensor<2xbf16> -> tensor<?xbf16>
  %1 = "chlo.zeta"(%arg1, %arg2) {note = "kept"} : (tensor<?xbf16>, tensor<2xbf16>) -> tensor<?xbf16>
  return
}

// -----

func.func @element_type(%arg0: tensor<2xi32>) {
  // expected-error@+1 {{'chlo.zeta' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = chlo.zeta %arg0, %arg0 : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @operand_shapes(%arg0: tensor<2xf32>, %arg1: tensor<3xf32>) {
  // expected-error@+2 {{'chlo.zeta' op (C1) operands have incompatible types: 'tensor<2xf32>' and 'tensor<3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.zeta %arg0, %arg1 : tensor<2xf32>, tensor<3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @operand_element_types(%arg0: tensor<2xf32>, %arg1: tensor<2xbf16>) {
  // expected-error@+2 {{'chlo.zeta' op (C1) operands have incompatible types: 'tensor<2xf32>' and 'tensor<2xbf16>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.zeta %arg0, %arg1 : tensor<2xf32>, tensor<2xbf16> -> tensor<2xf32>
  return
}

// -----

func.func @result_shape(%arg0: tensor<2xf32>) {
  // expected-error@+2 {{'chlo.zeta' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<4xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.zeta %arg0, %arg0 : tensor<2xf32>, tensor<2xf32> -> tensor<4xf32>
  return
}

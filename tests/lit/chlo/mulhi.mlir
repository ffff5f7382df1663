// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @forms
func.func @forms(%arg0: tensor<2x3xi32>, %arg1: tensor<?xui8>, %arg2: tensor<2xui8>) {
  // CHECK: chlo.mulhi %arg0, %arg0 : tensor<2x3xi32>, tensor<2x3xi32> -> tensor<2x3xi32>
  %0 = chlo.mulhi %arg0, %arg0 : tensor<2x3xi32>, tensor<2x3xi32> -> tensor<2x3xi32>
  // CHECK: chlo.mulhi %arg1, %arg2 {note = "kept"} : tensor<?xui8>, tensor<2xui8> -> tensor<?xui8>
  %1 = "chlo.mulhi"(%arg1, %arg2) {note = "kept"} : (tensor<?xui8>, tensor<2xui8>) -> tensor<?xui8>
  return
}

// -----

func.func @element_type(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'chlo.mulhi' op operand #0 must be ranked tensor of integer values, but got 'tensor<2xf32>'}}
  %0 = chlo.mulhi %arg0, %arg0 : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @operand_shapes(%arg0: tensor<2xi32>, %arg1: tensor<3xi32>) {
  // expected-error@+2 {{'chlo.mulhi' op (C1) operands have incompatible types: 'tensor<2xi32>' and 'tensor<3xi32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.mulhi %arg0, %arg1 : tensor<2xi32>, tensor<3xi32> -> tensor<2xi32>
  return
}

// -----

func.func @operand_element_types(%arg0: tensor<2xi32>, %arg1: tensor<2xui8>) {
  // expected-error@+2 {{'chlo.mulhi' op (C1) operands have incompatible types: 'tensor<2xi32>' and 'tensor<2xui8>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.mulhi %arg0, %arg1 : tensor<2xi32>, tensor<2xui8> -> tensor<2xi32>
  return
}

// -----

func.func @result_shape(%arg0: tensor<2xi32>) {
  // expected-error@+2 {{'chlo.mulhi' op inferred type(s) 'tensor<2xi32>' are incompatible with return type(s) of operation 'tensor<4xi32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.mulhi %arg0, %arg0 : tensor<2xi32>, tensor<2xi32> -> tensor<4xi32>
  return
}

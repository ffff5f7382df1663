// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%0: tensor<2x3xi1>, %1: tensor<2x3xui8>, %2: tensor<2x3xf64>, %3: tensor<2x3xcomplex<f32>>) {
  // CHECK: stablehlo.minimum %arg0, %arg0 : tensor<2x3xi1>
  %r0 = stablehlo.minimum %0, %0 : tensor<2x3xi1>
  // CHECK: stablehlo.minimum %arg1, %arg1 : tensor<2x3xui8>
  %r1 = stablehlo.minimum %1, %1 : tensor<2x3xui8>
  // CHECK: stablehlo.minimum %arg2, %arg2 : tensor<2x3xf64>
  %r2 = stablehlo.minimum %2, %2 : tensor<2x3xf64>
  // CHECK: stablehlo.minimum %arg3, %arg3 : tensor<2x3xcomplex<f32>>
  %r3 = stablehlo.minimum %3, %3 : tensor<2x3xcomplex<f32>>
  return
}

// CHECK-LABEL: func @shapes
func.func @shapes(%arg0: tensor<?x3xi1>, %arg1: tensor<2x?xi1>, %arg2: tensor<0xi1>) {
  // CHECK: stablehlo.minimum %arg0, %arg1 : (tensor<?x3xi1>, tensor<2x?xi1>) -> tensor<2x3xi1>
  %0 = stablehlo.minimum %arg0, %arg1 : (tensor<?x3xi1>, tensor<2x?xi1>) -> tensor<2x3xi1>
  // CHECK: stablehlo.minimum %arg2, %arg2 {note = "kept"} : tensor<0xi1>
  %1 = "stablehlo.minimum"(%arg2, %arg2) {note = "kept"} : (tensor<0xi1>, tensor<0xi1>) -> tensor<0xi1>
  return
}

// -----

func.func @element_type(%arg0: tensor<2xindex>) {
  // expected-error@+1 {{'stablehlo.minimum' op operand #0 must be ranked tensor of boolean or integer or floating-point or complex or per-tensor quantized values, but got 'tensor<2xindex>'}}
  %0 = stablehlo.minimum %arg0, %arg0 : tensor<2xindex>
  return
}

// -----

func.func @c1_shapes(%arg0: tensor<2xi1>, %arg1: tensor<3xi1>) {
  // expected-error@+2 {{'stablehlo.minimum' op (C1) operands have incompatible types: 'tensor<2xi1>' and 'tensor<3xi1>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.minimum %arg0, %arg1 : (tensor<2xi1>, tensor<3xi1>) -> tensor<2xi1>
  return
}

// -----

func.func @c1_element_types(%arg0: tensor<2xi1>, %arg1: tensor<2xui8>) {
  // expected-error@+2 {{'stablehlo.minimum' op (C1) operands have incompatible types: 'tensor<2xi1>' and 'tensor<2xui8>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.minimum %arg0, %arg1 : (tensor<2xi1>, tensor<2xui8>) -> tensor<2xi1>
  return
}

// -----

func.func @c1_result(%arg0: tensor<2xi1>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'stablehlo.minimum' op inferred type(s) 'tensor<2xi1>' are incompatible with return type(s) of operation 'tensor<4xi1>'}}
  %0 = stablehlo.minimum %arg0, %arg0 : (tensor<2xi1>, tensor<2xi1>) -> tensor<4xi1>
  return
}

// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%0: tensor<2x3xi32>, %1: tensor<2x3xf16>, %2: tensor<2x3xcomplex<f32>>) {
  // CHECK: stablehlo.power %arg0, %arg0 : tensor<2x3xi32>
  %r0 = stablehlo.power %0, %0 : tensor<2x3xi32>
  // CHECK: stablehlo.power %arg1, %arg1 : tensor<2x3xf16>
  %r1 = stablehlo.power %1, %1 : tensor<2x3xf16>
  // CHECK: stablehlo.power %arg2, %arg2 : tensor<2x3xcomplex<f32>>
  %r2 = stablehlo.power %2, %2 : tensor<2x3xcomplex<f32>>
  return
}

// CHECK-LABEL: func @shapes
func.func @shapes(%arg0: tensor<?x3xi32>, %arg1: tensor<2x?xi32>, %arg2: tensor<0xi32>) {
  // CHECK: stablehlo.power %arg0, %arg1 : (tensor<?x3xi32>, tensor<2x?xi32>) -> tensor<2x3xi32>
  %0 = stablehlo.power %arg0, %arg1 : (tensor<?x3xi32>, tensor<2x?xi32>) -> tensor<2x3xi32>
  // CHECK: stablehlo.power %arg2, %arg2 {note = "kept"} : tensor<0xi32>
  %1 = "stablehlo.power"(%arg2, %arg2) {note = "kept"} : (tensor<0xi32>, tensor<0xi32>) -> tensor<0xi32>
  return
}

// -----

func.func @element_type(%arg0: tensor<2xi1>) {
  // expected-error@+1 {{'stablehlo.power' op operand #0 must be ranked tensor of integer or floating-point or complex or per-tensor quantized values, but got 'tensor<2xi1>'}}
  %0 = stablehlo.power %arg0, %arg0 : tensor<2xi1>
  return
}

// -----

func.func @c1_shapes(%arg0: tensor<2xi32>, %arg1: tensor<3xi32>) {
  // expected-error@+2 {{'stablehlo.power' op (C1) operands have incompatible types: 'tensor<2xi32>' and 'tensor<3xi32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.power %arg0, %arg1 : (tensor<2xi32>, tensor<3xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @c1_element_types(%arg0: tensor<2xi32>, %arg1: tensor<2xf16>) {
  // expected-error@+2 {{'stablehlo.power' op (C1) operands have incompatible types: 'tensor<2xi32>' and 'tensor<2xf16>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.power %arg0, %arg1 : (tensor<2xi32>, tensor<2xf16>) -> tensor<2xi32>
  return
}

// -----

func.func @c1_result(%arg0: tensor<2xi32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'stablehlo.power' op inferred type(s) 'tensor<2xi32>' are incompatible with return type(s) of operation 'tensor<4xi32>'}}
  %0 = stablehlo.power %arg0, %arg0 : (tensor<2xi32>, tensor<2xi32>) -> tensor<4xi32>
  return
}

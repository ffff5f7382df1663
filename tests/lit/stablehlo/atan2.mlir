// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%0: tensor<2x3xf32>, %1: tensor<2x3xcomplex<f64>>) {
  // CHECK: stablehlo.atan2 %arg0, %arg0 : tensor<2x3xf32>
  %r0 = stablehlo.atan2 %0, %0 : tensor<2x3xf32>
  // CHECK: stablehlo.atan2 %arg1, %arg1 : tensor<2x3xcomplex<f64>>
  %r1 = stablehlo.atan2 %1, %1 : tensor<2x3xcomplex<f64>>
  return
}

// CHECK-LABEL: func @shapes
func.func @shapes(%arg0: tensor<?x3xf32>, %arg1: tensor<2x?xf32>, %arg2: tensor<0xf32>) {
  // CHECK: stablehlo.atan2 %arg0, %arg1 : (tensor<?x3xf32>, tensor<2x?xf32>) -> tensor<2x3xf32>
  %0 = stablehlo.atan2 %arg0, %arg1 : (tensor<?x3xf32>, tensor<2x?xf32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.atan2 %arg2, %arg2 {note = "kept"} : tensor<0xf32>
  %1 = "stablehlo.atan2"(%arg2, %arg2) {note = "kept"} : (tensor<0xf32>, tensor<0xf32>) -> tensor<0xf32>
  return
}

// -----

func.func @element_type(%arg0: tensor<2xi32>) {
  // expected-error@+1 {{'stablehlo.atan2' op operand #0 must be ranked tensor of floating-point or complex or per-tensor quantized values, but got 'tensor<2xi32>'}}
  %0 = stablehlo.atan2 %arg0, %arg0 : tensor<2xi32>
  return
}

// -----

func.func @c1_shapes(%arg0: tensor<2xf32>, %arg1: tensor<3xf32>) {
  // expected-error@+2 {{'stablehlo.atan2' op (C1) operands have incompatible types: 'tensor<2xf32>' and 'tensor<3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.atan2 %arg0, %arg1 : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @c1_element_types(%arg0: tensor<2xf32>, %arg1: tensor<2xcomplex<f64>>) {
  // expected-error@+2 {{'stablehlo.atan2' op (C1) operands have incompatible types: 'tensor<2xf32>' and 'tensor<2xcomplex<f64>>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.atan2 %arg0, %arg1 : (tensor<2xf32>, tensor<2xcomplex<f64>>) -> tensor<2xf32>
  return
}

// -----

func.func @c1_result(%arg0: tensor<2xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'stablehlo.atan2' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<4xf32>'}}
  %0 = stablehlo.atan2 %arg0, %arg0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return
}

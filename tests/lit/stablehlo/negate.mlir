// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%0: tensor<2x3xi32>, %1: tensor<2x3xf16>, %2: tensor<2x3xcomplex<f32>>) {
  // CHECK: stablehlo.negate %arg0 : tensor<2x3xi32>
  %r0 = stablehlo.negate %0 : tensor<2x3xi32>
  // CHECK: stablehlo.negate %arg1 : tensor<2x3xf16>
  %r1 = stablehlo.negate %1 : tensor<2x3xf16>
  // CHECK: stablehlo.negate %arg2 : tensor<2x3xcomplex<f32>>
  %r2 = stablehlo.negate %2 : tensor<2x3xcomplex<f32>>
  return
}

// CHECK-LABEL: func @shapes
func.func @shapes(%arg0: tensor<?x3xi32>, %arg1: tensor<i32>, %arg2: tensor<0xi32>) {
  // CHECK: stablehlo.negate %arg0 : (tensor<?x3xi32>) -> tensor<2x?xi32>
  %0 = stablehlo.negate %arg0 : (tensor<?x3xi32>) -> tensor<2x?xi32>
  // CHECK: stablehlo.negate %arg1 {note = "kept"} : tensor<i32>
  %1 = stablehlo.negate %arg1 {note = "kept"} : tensor<i32>
  // CHECK: stablehlo.negate %arg2 : tensor<0xi32>
  %2 = "stablehlo.negate"(%arg2) : (tensor<0xi32>) -> tensor<0xi32>
  return
}

// -----

func.func @element_type(%arg0: tensor<2xi1>) {
  // expected-error@+1 {{'stablehlo.negate' op operand #0 must be ranked tensor of integer or floating-point or complex or per-tensor quantized values, but got 'tensor<2xi1>'}}
  %0 = stablehlo.negate %arg0 : tensor<2xi1>
  return
}

// -----

func.func @c1_result(%arg0: tensor<2xi32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'stablehlo.negate' op inferred type(s) 'tensor<2xi32>' are incompatible with return type(s) of operation 'tensor<3xi32>'}}
  %0 = stablehlo.negate %arg0 : (tensor<2xi32>) -> tensor<3xi32>
  return
}

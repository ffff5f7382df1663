// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<3x3xf64>, %arg1: tensor<?x?x4xcomplex<f32>>) {
  // CHECK: stablehlo.cholesky %arg0 : tensor<3x3xf64>
  %0 = stablehlo.cholesky %arg0 : tensor<3x3xf64>
  // CHECK: stablehlo.cholesky %arg0, lower = true {note = 1 : i64} : tensor<3x3xf64>
  %1 = stablehlo.cholesky %arg0, lower = true {note = 1 : i64} : tensor<3x3xf64>
  // CHECK: stablehlo.cholesky %arg1 : (tensor<?x?x4xcomplex<f32>>) -> tensor<2x4x4xcomplex<f32>>
  %2 = "stablehlo.cholesky"(%arg1) {lower = false} : (tensor<?x?x4xcomplex<f32>>) -> tensor<2x4x4xcomplex<f32>>
  return
}

// -----

func.func @element_type(%arg0: tensor<3x3xi32>) {
  // expected-error@+1 {{'stablehlo.cholesky' op operand #0 must be ranked tensor of floating-point or complex values, but got 'tensor<3x3xi32>'}}
  %0 = stablehlo.cholesky %arg0 : tensor<3x3xi32>
  return
}

// -----

func.func @c1(%arg0: tensor<3x3xf32>) {
  // expected-error@+2 {{'stablehlo.cholesky' op inferred type(s) 'tensor<3x3xf32>' are incompatible with return type(s) of operation 'tensor<3x3xf64>'}}
  // expected-error@+1 {{'stablehlo.cholesky' op failed to infer returned types}}
  %0 = stablehlo.cholesky %arg0 : (tensor<3x3xf32>) -> tensor<3x3xf64>
  return
}

// -----

func.func @c2(%arg0: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.cholesky' op (C2) rank of a: got 1, expected at least 2}}
  %0 = stablehlo.cholesky %arg0 : tensor<3xf32>
  return
}

// -----

func.func @c3(%arg0: tensor<2x3x4xf32>) {
  // expected-error@+1 {{'stablehlo.cholesky' op (C3) matrices of a are not square: got 3 by 4}}
  %0 = stablehlo.cholesky %arg0 : tensor<2x3x4xf32>
  return
}

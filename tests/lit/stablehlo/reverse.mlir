// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2x?xf32>) {
  // CHECK: stablehlo.reverse %arg0, dims = [1, 0] : tensor<2x?xf32>
  %0 = stablehlo.reverse %arg0, dims = [1, 0] : tensor<2x?xf32>
  // CHECK: stablehlo.reverse %arg0, dims = [] : (tensor<2x?xf32>) -> tensor<?x3xf32>
  %1 = stablehlo.reverse %arg0, dims = [] : (tensor<2x?xf32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @c1(%arg0: tensor<2xf32>) {
  // expected-error@+2 {{'stablehlo.reverse' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<2xi32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.reverse %arg0, dims = [0] : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @c2(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.reverse' op (C2) dimensions not unique: 0 occurs twice}}
  %0 = stablehlo.reverse %arg0, dims = [0, 0] : tensor<2xf32>
  return
}

// -----

func.func @c3(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.reverse' op (C3) dimensions out of range: got 1, expected it in [0, 1)}}
  %0 = stablehlo.reverse %arg0, dims = [1] : tensor<2xf32>
  return
}

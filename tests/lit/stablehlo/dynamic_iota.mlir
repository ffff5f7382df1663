// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2xi32>) {
  // CHECK: stablehlo.dynamic_iota %arg0, dim = 1 : (tensor<2xi32>) -> tensor<?x4xf32>
  %0 = stablehlo.dynamic_iota %arg0, dim = 1 : (tensor<2xi32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @c1(%arg0: tensor<1xi32>) {
  // expected-error@+1 {{'stablehlo.dynamic_iota' op (C1) iota_dimension out of range: got 1, expected it in [0, 1)}}
  %0 = stablehlo.dynamic_iota %arg0, dim = 1 : (tensor<1xi32>) -> tensor<?xf32>
  return
}

// -----

func.func @c2(%arg0: tensor<1xi32>) {
  // expected-error@+1 {{'stablehlo.dynamic_iota' op (C2) output_shape has the wrong number of elements: got 1, expected 2}}
  %0 = stablehlo.dynamic_iota %arg0, dim = 1 : (tensor<1xi32>) -> tensor<?x?xf32>
  return
}

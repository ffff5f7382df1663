// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<?x3xf32>) {
  // CHECK: stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  return
}

// -----

func.func @c1(%arg0: tensor<?x3xf32>) {
  // expected-error@+2 {{'stablehlo.get_dimension_size' op (C1) dimension out of range: got 2, expected it in [0, 2)}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.get_dimension_size %arg0, dim = 2 : (tensor<?x3xf32>) -> tensor<i32>
  return
}

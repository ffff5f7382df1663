// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xf32>, %arg2: tensor<0x3xf32>) {
  // CHECK: stablehlo.concatenate %arg0, %arg2, dim = 0 : (tensor<2x3xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  %0 = stablehlo.concatenate %arg0, %arg2, dim = 0 : (tensor<2x3xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.concatenate %arg0, %arg1, %arg0, dim = 0 : (tensor<2x3xf32>, tensor<?x3xf32>, tensor<2x3xf32>) -> tensor<?x3xf32>
  %1 = stablehlo.concatenate %arg0, %arg1, %arg0, dim = 0 : (tensor<2x3xf32>, tensor<?x3xf32>, tensor<2x3xf32>) -> tensor<?x3xf32>
  // CHECK: stablehlo.concatenate %arg0, %arg1, dim = 1 : (tensor<2x3xf32>, tensor<?x3xf32>) -> tensor<2x6xf32>
  %2 = stablehlo.concatenate %arg0, %arg1, dim = 1 : (tensor<2x3xf32>, tensor<?x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @c1(%arg0: tensor<2xf32>, %arg1: tensor<2xi32>) {
  // expected-error@+2 {{'stablehlo.concatenate' op (C1) element types of the inputs differ: got 'f32' and 'i32'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.concatenate %arg0, %arg1, dim = 0 : (tensor<2xf32>, tensor<2xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @c2_rank(%arg0: tensor<2xf32>, %arg1: tensor<2x1xf32>) {
  // expected-error@+2 {{'stablehlo.concatenate' op (C2) ranks of the inputs differ: got 'tensor<2xf32>' and 'tensor<2x1xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.concatenate %arg0, %arg1, dim = 0 : (tensor<2xf32>, tensor<2x1xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c2_size(%arg0: tensor<2x3xf32>, %arg1: tensor<2x4xf32>) {
  // expected-error@+2 {{'stablehlo.concatenate' op (C2) sizes of the inputs' dimension 1 differ: got 3 and 4}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.concatenate %arg0, %arg1, dim = 0 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @c3() {
  // expected-error@+2 {{'stablehlo.concatenate' op (C3) no inputs: expected at least one}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.concatenate"() <{dimension = 0 : i64}> : () -> tensor<4xf32>
  return
}

// -----

func.func @c4(%arg0: tensor<2xf32>) {
  // expected-error@+2 {{'stablehlo.concatenate' op (C4) dimension out of range: got 1, expected it in [0, 1)}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.concatenate %arg0, dim = 1 : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @c6(%arg0: tensor<2xf32>) {
  // expected-error@+2 {{'stablehlo.concatenate' op inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<5xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @c6_overflow(%arg0: tensor<9223372036854775807xi8>, %arg1: tensor<1xi8>) {
  // expected-error@+2 {{'stablehlo.concatenate' op (C6) size of result dimension 0: more than 2^63 - 1}}
  // expected-error@+1 {{'stablehlo.concatenate' op failed to infer returned types}}
  %0 = stablehlo.concatenate %arg0, %arg1, dim = 0 : (tensor<9223372036854775807xi8>, tensor<1xi8>) -> tensor<?xi8>
  return
}

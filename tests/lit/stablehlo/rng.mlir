// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<i32>, %arg1: tensor<f16>, %arg2: tensor<i1>, %arg3: tensor<2xindex>) {
  %c = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  // CHECK: stablehlo.rng %arg0, %arg0, %c, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<2x3xi32>
  %0 = stablehlo.rng %arg0, %arg0, %c, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<2x3xi32>
  // CHECK: stablehlo.rng %arg1, %arg1, %c, distribution = NORMAL {note = 1 : i64} : (tensor<f16>, tensor<f16>, tensor<2xi64>) -> tensor<?x3xf16>
  %1 = stablehlo.rng %arg1, %arg1, %c, distribution = NORMAL {note = 1 : i64} : (tensor<f16>, tensor<f16>, tensor<2xi64>) -> tensor<?x3xf16>
  // CHECK: stablehlo.rng %arg2, %arg2, %c, distribution = UNIFORM : (tensor<i1>, tensor<i1>, tensor<2xi64>) -> tensor<?x3xi1>
  %2 = "stablehlo.rng"(%arg2, %arg2, %c) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<i1>, tensor<i1>, tensor<2xi64>) -> tensor<?x3xi1>
  // CHECK: stablehlo.rng %arg0, %arg0, %arg3, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<2xindex>) -> tensor<?x3xi32>
  %3 = stablehlo.rng %arg0, %arg0, %arg3, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<2xindex>) -> tensor<?x3xi32>
  return
}

// -----

func.func @element_type(%arg0: tensor<complex<f32>>, %arg1: tensor<2xi64>) {
  // expected-error@+1 {{'stablehlo.rng' op operand #0 must be 0D tensor of boolean or integer or floating-point values, but got 'tensor<complex<f32>>'}}
  %0 = stablehlo.rng %arg0, %arg0, %arg1, distribution = UNIFORM : (tensor<complex<f32>>, tensor<complex<f32>>, tensor<2xi64>) -> tensor<2x3xcomplex<f32>>
  return
}

// -----

func.func @shape(%arg0: tensor<i32>, %arg1: tensor<?xi64>) {
  // expected-error@+1 {{'stablehlo.rng' op operand #2 must be statically shaped 1-dimensional tensor of index or integer values, but got 'tensor<?xi64>'}}
  %0 = stablehlo.rng %arg0, %arg0, %arg1, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<?xi64>) -> tensor<2x3xi32>
  return
}

// -----

func.func @c1(%arg0: tensor<i32>, %arg1: tensor<i64>, %arg2: tensor<2xi64>) {
  // expected-error@+1 {{'stablehlo.rng' op (C1) element types of a and b differ: got 'i32' and 'i64'}}
  %0 = stablehlo.rng %arg0, %arg1, %arg2, distribution = UNIFORM : (tensor<i32>, tensor<i64>, tensor<2xi64>) -> tensor<2x3xi32>
  return
}

// -----

func.func @c1_result(%arg0: tensor<i32>, %arg1: tensor<2xi64>) {
  // expected-error@+1 {{'stablehlo.rng' op (C1) element types of a and result differ: got 'i32' and 'i64'}}
  %0 = stablehlo.rng %arg0, %arg0, %arg1, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<2x3xi64>
  return
}

// -----

func.func @c2(%arg0: tensor<i32>, %arg1: tensor<2xi64>) {
  // expected-error@+1 {{'stablehlo.rng' op (C2) elements of a NORMAL distribution: got 'i32', expected a floating-point type}}
  %0 = stablehlo.rng %arg0, %arg0, %arg1, distribution = NORMAL : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<2x3xi32>
  return
}

// -----

func.func @c3_rank(%arg0: tensor<i32>, %arg1: tensor<2xi64>) {
  // expected-error@+1 {{'stablehlo.rng' op (C3) shape has the wrong number of elements: got 2, expected 1}}
  %0 = stablehlo.rng %arg0, %arg0, %arg1, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<2xi32>
  return
}

// -----

func.func @c3_sizes(%arg0: tensor<i32>) {
  %c = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  // expected-error@+1 {{'stablehlo.rng' op (C3) result is 'tensor<2x4xi32>', expected the shape dense<[2, 3]> : tensor<2xi64>}}
  %0 = stablehlo.rng %arg0, %arg0, %c, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<2x4xi32>
  return
}

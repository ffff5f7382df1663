// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<4x2xf32>, %arg1: tensor<i32>) {
  // CHECK: stablehlo.set_dimension_size %arg0, %arg1, dim = 1 : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x?xf32>
  %0 = stablehlo.set_dimension_size %arg0, %arg1, dim = 1 : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x?xf32>
  // CHECK: stablehlo.set_dimension_size %arg0, %arg1, dim = 1 : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x?xf32, #stablehlo.bounds<?, 2>>
  %2 = stablehlo.set_dimension_size %arg0, %arg1, dim = 1 : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x?xf32, #stablehlo.bounds<?, 2>>
  // CHECK: stablehlo.set_dimension_size %arg0, %arg1, dim = 0 {note = 1 : i64} : (tensor<4x2xf32>, tensor<i32>) -> tensor<3x2xf32>
  %1 = "stablehlo.set_dimension_size"(%arg0, %arg1) <{dimension = 0 : i64}> {note = 1 : i64} : (tensor<4x2xf32>, tensor<i32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @size(%arg0: tensor<4x2xf32>, %arg1: tensor<i64>) {
  // expected-error@+1 {{'stablehlo.set_dimension_size' op operand #1 must be 0D tensor of 32-bit signless integer values, but got 'tensor<i64>'}}
  %0 = stablehlo.set_dimension_size %arg0, %arg1, dim = 1 : (tensor<4x2xf32>, tensor<i64>) -> tensor<4x?xf32>
  return
}

// -----

func.func @dimension(%arg0: tensor<4x2xf32>, %arg1: tensor<i32>) {
  // expected-error@+2 {{'stablehlo.set_dimension_size' op dimension out of range: got 2, expected it in [0, 2)}}
  // expected-error@+1 {{'stablehlo.set_dimension_size' op failed to infer returned types}}
  %0 = stablehlo.set_dimension_size %arg0, %arg1, dim = 2 : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x?xf32>
  return
}

// -----

func.func @dimension_negative(%arg0: tensor<4x2xf32>, %arg1: tensor<i32>) {
  // expected-error@+2 {{'stablehlo.set_dimension_size' op dimension out of range: got -1, expected it in [0, 2)}}
  // expected-error@+1 {{'stablehlo.set_dimension_size' op failed to infer returned types}}
  %0 = stablehlo.set_dimension_size %arg0, %arg1, dim = -1 : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x?xf32>
  return
}

// -----

func.func @result(%arg0: tensor<4x2xf32>, %arg1: tensor<i32>) {
  // expected-error@+2 {{'stablehlo.set_dimension_size' op inferred type(s) 'tensor<4x?xf32, #stablehlo.bounds<?, 2>>' are incompatible with return type(s) of operation 'tensor<5x?xf32>'}}
  // expected-error@+1 {{'stablehlo.set_dimension_size' op failed to infer returned types}}
  %0 = stablehlo.set_dimension_size %arg0, %arg1, dim = 1 : (tensor<4x2xf32>, tensor<i32>) -> tensor<5x?xf32>
  return
}

// -----

func.func @bound(%arg0: tensor<4x2xf32>, %arg1: tensor<i32>) {
  // expected-error@+2 {{'stablehlo.set_dimension_size' op inferred type(s) 'tensor<?x2xf32, #stablehlo.bounds<4, ?>>' are incompatible with return type(s) of operation 'tensor<5x2xf32>'}}
  // expected-error@+1 {{'stablehlo.set_dimension_size' op failed to infer returned types}}
  %0 = stablehlo.set_dimension_size %arg0, %arg1, dim = 0 : (tensor<4x2xf32>, tensor<i32>) -> tensor<5x2xf32>
  return
}

// -----

func.func @same_size(%arg0: tensor<4x2xf32>) {
  %size = stablehlo.constant dense<4> : tensor<i32>
  // expected-error@+2 {{'stablehlo.set_dimension_size' op inferred type(s) 'tensor<4x2xf32>' are incompatible with return type(s) of operation 'tensor<3x2xf32>'}}
  // expected-error@+1 {{'stablehlo.set_dimension_size' op failed to infer returned types}}
  %0 = stablehlo.set_dimension_size %arg0, %size, dim = 0 : (tensor<4x2xf32>, tensor<i32>) -> tensor<3x2xf32>
  return
}

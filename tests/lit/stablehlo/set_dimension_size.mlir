// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

func.func @types(%arg0: tensor<4x2xf32>, %arg1: tensor<i32>) {
  %0 = stablehlo.set_dimension_size %arg0, %arg1, dim = 1 : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x?xf32>
  %1 = "stablehlo.set_dimension_size"(%arg0, %arg1) <{dimension = 0 : i64}> {note = 1 : i64} : (tensor<4x2xf32>, tensor<i32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @size(%arg0: tensor<4x2xf32>, %arg1: tensor<i64>) {
  // expected-error@+1 {{expected SSA operand}}
  %0 = stablehlo.set_dimension_size %arg0, %arg1, dim = 1 : (tensor<4x2xf32>, tensor<i64>) -> tensor<4x?xf32>
  return
}

// -----

func.func @dimension(%arg0: tensor<4x2xf32>, %arg1: tensor<i32>) {
  // expected-error@+1 {{expected SSA operand}}
  %0 = stablehlo.set_dimension_size %arg0, %arg1, dim = 2 : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x?xf32>
  return
}

// -----

func.func @dimension_negative(%arg0: tensor<4x2xf32>, %arg1: tensor<i32>) {
  // expected-error@+1 {{expected SSA operand}}
  %0 = stablehlo.set_dimension_size %arg0, %arg1, dim = -1 : (tensor<4x2xf32>, tensor<i32>) -> tensor<4x?xf32>
  return
}

// -----

func.func @result(%arg0: tensor<4x2xf32>, %arg1: tensor<i32>) {
  // expected-error@+1 {{expected SSA operand}}
  %0 = stablehlo.set_dimension_size %arg0, %arg1, dim = 1 : (tensor<4x2xf32>, tensor<i32>) -> tensor<5x?xf32>
  return
}

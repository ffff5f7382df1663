// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2x2xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<?x4x4xcomplex<f64>>, %arg3: tensor<7x3x?xcomplex<f64>>) {
  // CHECK: "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: "stablehlo.triangular_solve"(%arg2, %arg3) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = true}> : (tensor<?x4x4xcomplex<f64>>, tensor<7x3x?xcomplex<f64>>) -> tensor<7x3x4xcomplex<f64>>
  %1 = "stablehlo.triangular_solve"(%arg2, %arg3) {left_side = false, lower = false, unit_diagonal = true, transpose_a = #stablehlo<transpose ADJOINT>} : (tensor<?x4x4xcomplex<f64>>, tensor<7x3x?xcomplex<f64>>) -> tensor<7x3x4xcomplex<f64>>
  return
}

// -----

func.func @element_type(%arg0: tensor<2x2xi32>, %arg1: tensor<2x3xi32>) {
  // expected-error@+1 {{'stablehlo.triangular_solve' op operand #0 must be ranked tensor of floating-point or complex values, but got 'tensor<2x2xi32>'}}
  %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @c1(%arg0: tensor<2x2xf32>, %arg1: tensor<2x3xf64>) {
  // expected-error@+2 {{'stablehlo.triangular_solve' op (C1) element types of a and b differ: got 'f32' and 'f64'}}
  // expected-error@+1 {{'stablehlo.triangular_solve' op failed to infer returned types}}
  %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return
}

// -----

func.func @c2_ranks(%arg0: tensor<2x2xf32>, %arg1: tensor<2x2x3xf32>) {
  // expected-error@+2 {{'stablehlo.triangular_solve' op (C2) ranks of a and b: got 'tensor<2x2xf32>' and 'tensor<2x2x3xf32>', expected the same of at least 2}}
  // expected-error@+1 {{'stablehlo.triangular_solve' op failed to infer returned types}}
  %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<2x2x3xf32>) -> tensor<2x2x3xf32>
  return
}

// -----

func.func @c2_rank(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error@+2 {{'stablehlo.triangular_solve' op (C2) ranks of a and b: got 'tensor<2xf32>' and 'tensor<2xf32>', expected the same of at least 2}}
  // expected-error@+1 {{'stablehlo.triangular_solve' op failed to infer returned types}}
  %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @c3_batch(%arg0: tensor<5x2x2xf32>, %arg1: tensor<4x2x3xf32>) {
  // expected-error@+2 {{'stablehlo.triangular_solve' op (C3) batch dimensions of a and b differ: got 'tensor<5x2x2xf32>' and 'tensor<4x2x3xf32>'}}
  // expected-error@+1 {{'stablehlo.triangular_solve' op failed to infer returned types}}
  %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<5x2x2xf32>, tensor<4x2x3xf32>) -> tensor<4x2x3xf32>
  return
}

// -----

func.func @c3_square(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) {
  // expected-error@+2 {{'stablehlo.triangular_solve' op (C3) matrices of a are not square: got 2 by 3}}
  // expected-error@+1 {{'stablehlo.triangular_solve' op failed to infer returned types}}
  %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @c3_left(%arg0: tensor<2x2xf32>, %arg1: tensor<3x2xf32>) {
  // expected-error@+2 {{'stablehlo.triangular_solve' op (C3) size of b's dimension 0: got 3, expected that of a's matrices, 'tensor<2x2xf32>'}}
  // expected-error@+1 {{'stablehlo.triangular_solve' op failed to infer returned types}}
  %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @c3_right(%arg0: tensor<2x2xf32>, %arg1: tensor<2x3xf32>) {
  // expected-error@+2 {{'stablehlo.triangular_solve' op (C3) size of b's dimension 1: got 3, expected that of a's matrices, 'tensor<2x2xf32>'}}
  // expected-error@+1 {{'stablehlo.triangular_solve' op failed to infer returned types}}
  %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @c4(%arg0: tensor<2x2xf32>, %arg1: tensor<2x3xf32>) {
  // expected-error@+2 {{'stablehlo.triangular_solve' op inferred type(s) 'tensor<2x3xf32>' are incompatible with return type(s) of operation 'tensor<3x2xf32>'}}
  // expected-error@+1 {{'stablehlo.triangular_solve' op failed to infer returned types}}
  %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @transpose(%arg0: tensor<2x2xf32>, %arg1: tensor<2x3xf32>) {
  // expected-error@+2 {{expected ::torchere::stablehlo::Transpose to be one of: TRANSPOSE_INVALID, NO_TRANSPOSE, TRANSPOSE, ADJOINT}}
  // expected-error@+1 {{failed to parse StableHLO_TransposeAttr parameter 'value' which is to be a `::torchere::stablehlo::Transpose`}}
  %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose CONJUGATE>, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

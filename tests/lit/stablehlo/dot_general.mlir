// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>, %arg2: tensor<?x4xf32>, %arg3: tensor<4xf32>) {
  // CHECK: stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  // CHECK: stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGHEST] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %1 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGHEST] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  // CHECK: stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %2 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  // CHECK: stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %3 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  // CHECK: stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0] {note = 1 : i32} : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?xf32>
  %4 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0] {note = 1 : i32} : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?xf32>
  // CHECK: stablehlo.dot_general %arg3, %arg3, contracting_dims = [] x [] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %5 = stablehlo.dot_general %arg3, %arg3, contracting_dims = [] x [] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @c1(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general' op (C1) rhs_batching_dimensions has the wrong number of elements: got 0, expected 1}}
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @c2(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general' op (C2) rhs_contracting_dimensions has the wrong number of elements: got 2, expected 1}}
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1, 2] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @c3(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general' op (C3) lhs dimensions not unique: 0 occurs twice}}
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [0] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @c4(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general' op (C4) rhs dimensions not unique: 0 occurs twice}}
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [0] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @c5(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general' op (C5) lhs_batching_dimensions out of range: got 3, expected it in [0, 3)}}
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [3] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @c6(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general' op (C6) lhs_contracting_dimensions out of range: got -1, expected it in [0, 3)}}
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [-1] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @c7(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general' op (C7) rhs_batching_dimensions out of range: got 3, expected it in [0, 3)}}
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [3], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @c8(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general' op (C8) rhs_contracting_dimensions out of range: got 4, expected it in [0, 3)}}
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [4] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @c9(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general' op (C9) batching dimensions differ in size: lhs dimension 0 has 2, rhs dimension 2 has 5}}
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [2], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @c10(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general' op (C10) contracting dimensions differ in size: lhs dimension 2 has 4, rhs dimension 2 has 5}}
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @c11(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general' op (C11) precision_config has the wrong number of elements: got 1, expected 2}}
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGH] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @c12(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general' op (C12) result has the wrong shape: got 'tensor<2x5x3xf32>', expected 'tensor<2x3x5xf32>'}}
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x5x3xf32>
  return
}

// -----

// The kinds of elements may differ, as upstream has it: integers as weights of floats.
// CHECK-LABEL: func @mixed
func.func @mixed(%arg0: tensor<2x3xbf16>, %arg1: tensor<3x2xi8>) {
  // CHECK: stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<2x3xbf16>, tensor<3x2xi8>) -> tensor<2x2xf32>
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<2x3xbf16>, tensor<3x2xi8>) -> tensor<2x2xf32>
  return
}

// -----

func.func @precision(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>) {
  // expected-error@+1 {{unknown precision 'BEST'}}
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [BEST, HIGH] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @algorithm(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>) {
  // expected-error@+1 {{missing field 'rhs_precision_type'}}
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], algorithm = <lhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @c21(%arg0: tensor<2x3xf32>, %arg1: tensor<3x2xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general' op (C21) precision_config with an algorithm: got HIGH, expected DEFAULT}}
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [HIGH, DEFAULT], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

// CHECK-LABEL: func @quantized
func.func @quantized(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, %arg1: tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>, %arg2: tensor<2x2x!quant.uniform<i8:f32, 0.5>>, %arg3: tensor<2x2xf32>) {
  // CHECK: stablehlo.dot_general %arg0, %arg2, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01:30>>, tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<2x2x!quant.uniform<i32:f32, 5.000000e-01>>
  %0 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i32:f32, 0.5>>
  // CHECK: stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01:30>>, tensor<2x2x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01}>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01:1}>>
  %1 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25:1}>>
  // CHECK: stablehlo.dot_general %arg3, %arg1, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01}>>) -> tensor<2x2xf32>
  %2 = stablehlo.dot_general %arg3, %arg1, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>) -> tensor<2x2xf32>
  return
}

// -----

func.func @c22(%arg0: tensor<2x3xf32>, %arg1: tensor<3x2xf32>) {
  // expected-error@+1 {{custom op 'stablehlo.dot_general' dot algorithm (C22) lhs_component_count too small: got 0, expected at least 1}}
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 0, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @c14(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, %arg1: tensor<2x2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@+1 {{'stablehlo.dot_general' op (C14) rhs is not quantized, or only one of lhs and result is: got '!quant.uniform<i8:f32, 5.000000e-01:30>', '!quant.uniform<i8:f32, 5.000000e-01>' and 'f32'}}
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2xf32>
  return
}

// -----

func.func @c23(%arg0: tensor<2x3xf32>, %arg1: tensor<3x2xf32>) {
  // expected-error@+1 {{custom op 'stablehlo.dot_general' dot algorithm (C23) rhs_component_count too small: got -1, expected at least 1}}
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = -1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @c15(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, %arg1: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>) {
  // expected-error@+1 {{'stablehlo.dot_general' op (C15) zero point of rhs: got 30, expected 0}}
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>
  return
}

// -----

func.func @c24(%arg0: tensor<2x3xf32>, %arg1: tensor<3x2xf32>) {
  // expected-error@+1 {{custom op 'stablehlo.dot_general' dot algorithm (C24) num_primitive_operations too small: got 0, expected at least 1}}
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 0, allow_imprecise_accumulation = false> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @c16(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, %arg1: tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) {
  // expected-error@+1 {{'stablehlo.dot_general' op (C16) quantized dimension 0 of rhs is contracted}}
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>
  return
}

// -----

func.func @algorithm_unknown(%arg0: tensor<2x3xf32>, %arg1: tensor<3x2xf32>) {
  // expected-error@+1 {{custom op 'stablehlo.dot_general' dot algorithm known to no hardware: 'bf16' by 'f32' in 1 and 1 components and 3 primitive operations, accumulated in 'f32' or less}}
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = true> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @c17(%arg0: tensor<2x2x!quant.uniform<i4:f32, 0.5>>, %arg1: tensor<2x2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@+1 {{'stablehlo.dot_general' op (C17) storage types of lhs and rhs differ: got '!quant.uniform<i4:f32, 5.000000e-01>', '!quant.uniform<i8:f32, 5.000000e-01>' and '!quant.uniform<i8:f32, 5.000000e-01:30>'}}
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i4:f32, 0.5>>, tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>
  return
}

// -----

func.func @c18(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, %arg1: tensor<2x2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@+1 {{'stablehlo.dot_general' op (C18) expressed types differ: got '!quant.uniform<i8:f32, 5.000000e-01:30>', '!quant.uniform<i8:f32, 5.000000e-01>' and '!quant.uniform<i8:f64, 5.000000e-01>'}}
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i8:f64, 0.5>>
  return
}

// -----

func.func @c19(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, %arg1: tensor<2x2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@+1 {{'stablehlo.dot_general' op (C19) result has scales per axis, and rhs has not: got '!quant.uniform<i8:f32, 5.000000e-01:30>', '!quant.uniform<i8:f32, 5.000000e-01>' and '!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01:1}>'}}
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25:1}>>
  return
}

// -----

func.func @c20(%arg0: tensor<2x2xf64>, %arg1: tensor<2x2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@+1 {{'stablehlo.dot_general' op (C20) lhs and result are not of rhs's expressed type: got 'f64', '!quant.uniform<i8:f32, 5.000000e-01>' and 'f64'}}
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<2x2xf64>, tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2xf64>
  return
}

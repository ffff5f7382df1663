// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<2x4xf32>, %arg3: tensor<2x5x1xi32>, %arg4: tensor<2xi64>, %arg5: tensor<4x3xf32>) {
  // CHECK: "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  // CHECK: "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 2>}> : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<5x2xf32>
  %1 = "stablehlo.gather"(%arg0, %arg1) {slice_sizes = array<i64: 1, 2>, indices_are_sorted = true, dimension_numbers = #stablehlo.gather<index_vector_dim = 1, start_index_map = [0], offset_dims = [1], collapsed_slice_dims = [0]>} : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<5x2xf32>
  // CHECK: "stablehlo.gather"(%arg2, %arg3) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x4xf32>, tensor<2x5x1xi32>) -> tensor<2x5xf32>
  %2 = "stablehlo.gather"(%arg2, %arg3) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x4xf32>, tensor<2x5x1xi32>) -> tensor<2x5xf32>
  // CHECK: "stablehlo.gather"(%arg5, %arg4) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1]>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<f32>
  %3 = "stablehlo.gather"(%arg5, %arg4) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1]>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<f32>
  return
}

// -----

func.func @c1(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op (C1) rank of operand: got 2, expected the number of offset_dims, collapsed_slice_dims and operand_batching_dims, 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @c2(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op (C2) index_vector_dim out of range: got 3, expected it in [0, 3)}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 3>, slice_sizes = array<i64: 1, 3>}> : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @c3(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op (C3) start_index_map has the wrong number of elements: got 2, expected 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @c4_unique(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op (C4) offset_dims not unique: 1 occurs twice}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @c4_sorted(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op (C4) offset_dims not sorted}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @c5(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op (C5) offset_dims out of range: got 2, expected it in [0, 2)}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @c6(%arg0: tensor<2x4xf32>, %arg1: tensor<2x5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op (C6) collapsed_slice_dims and operand_batching_dims not unique: 0 occurs twice}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x4xf32>, tensor<2x5x1xi32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @c7(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op (C7) collapsed_slice_dims not sorted}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1, 0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @c8(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op (C8) collapsed_slice_dims out of range: got 2, expected it in [0, 2)}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [2], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @c9(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op (C9) slice size of dimension 0 in collapsed_slice_dims: got 2, expected at most 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 3>}> : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @c9_of_nothing(%arg0: tensor<4x3xf32>, %arg1: tensor<0x1xi32>) -> tensor<0x3xf32> {
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 0, 3>}> : (tensor<4x3xf32>, tensor<0x1xi32>) -> tensor<0x3xf32>
  return %0 : tensor<0x3xf32>
}

// -----

func.func @c10(%arg0: tensor<2x4xf32>, %arg1: tensor<2x5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op (C10) operand_batching_dims not sorted}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<operand_batching_dims = [1, 0], start_indices_batching_dims = [0, 1], start_index_map = [], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x4xf32>, tensor<2x5x1xi32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @c11(%arg0: tensor<2x4xf32>, %arg1: tensor<2x5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op (C11) operand_batching_dims out of range: got 5, expected it in [0, 2)}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [5], start_indices_batching_dims = [5], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x4xf32>, tensor<2x5x1xi32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @c12(%arg0: tensor<2x4xf32>, %arg1: tensor<2x5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op (C12) slice size of dimension 0 in operand_batching_dims: got 2, expected at most 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 2, 1>}> : (tensor<2x4xf32>, tensor<2x5x1xi32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @c13(%arg0: tensor<2x4xf32>, %arg1: tensor<2x5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op (C13) start_indices_batching_dims not unique: 0 occurs twice}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0, 0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x4xf32>, tensor<2x5x1xi32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @c14(%arg0: tensor<2x4xf32>, %arg1: tensor<2x5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op (C14) start_indices_batching_dims out of range: got 3, expected it in [0, 3)}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [3], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x4xf32>, tensor<2x5x1xi32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @c15(%arg0: tensor<2x4xf32>, %arg1: tensor<2x5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op (C15) start_indices_batching_dims contains index_vector_dim 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [2], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x4xf32>, tensor<2x5x1xi32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @c16(%arg0: tensor<2x4xf32>, %arg1: tensor<2x5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op (C16) start_indices_batching_dims has the wrong number of elements: got 2, expected 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0, 1], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x4xf32>, tensor<2x5x1xi32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @c17(%arg0: tensor<2x4xf32>, %arg1: tensor<2x5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op (C17) batching dimensions differ in size: operand dimension 0 has 2, start_indices dimension 1 has 5}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x4xf32>, tensor<2x5x1xi32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @c18(%arg0: tensor<2x4xf32>, %arg1: tensor<2x5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op (C18) start_index_map and operand_batching_dims not unique: 0 occurs twice}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x4xf32>, tensor<2x5x1xi32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @c19(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op (C19) start_index_map out of range: got 2, expected it in [0, 2)}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [2], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @c20(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op (C20) slice_sizes has the wrong number of elements: got 1, expected 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @c21(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op (C21) slice size of dimension 1: got 4, expected it in [0, 3]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @c22(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op inferred type(s) 'tensor<5x2xf32>' are incompatible with return type(s) of operation 'tensor<5x3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @c23(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>) {
  // expected-error@+2 {{'stablehlo.gather' op inferred type(s) 'tensor<5x3xf32>' are incompatible with return type(s) of operation 'tensor<5x3xi32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<5x3xi32>
  return
}

// -----

func.func @field_twice(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>) {
  // expected-error@+1 {{field 'offset_dims' given twice}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], offset_dims = [1]>, slice_sizes = array<i64: 1, 3>}> : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @field_unknown(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>) {
  // expected-error@+1 {{unknown field 'offsets'}}
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offsets = [1]>, slice_sizes = array<i64: 1, 3>}> : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return
}

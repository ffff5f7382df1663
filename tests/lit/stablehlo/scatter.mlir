// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x3xf32>) {
  // CHECK: "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  // CHECK: }) : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<4x3xf32>
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    stablehlo.return %arg4 : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<4x3xf32>
  return
}

// CHECK-LABEL: func @flags
func.func @flags(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x3xf32>) {
  // CHECK: "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
  // CHECK: }) : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<4x3xf32>
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    stablehlo.return %arg4 : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<4x3xf32>
  return
}

// CHECK-LABEL: func @batching
func.func @batching(%arg0: tensor<2x4xf32>, %arg1: tensor<2x5x1xi32>, %arg2: tensor<2x5xf32>) {
  // CHECK: "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  // CHECK: }) : (tensor<2x4xf32>, tensor<2x5x1xi32>, tensor<2x5xf32>) -> tensor<2x4xf32>
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    stablehlo.return %arg4 : tensor<f32>
  }) : (tensor<2x4xf32>, tensor<2x5x1xi32>, tensor<2x5xf32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: func @two_inputs
func.func @two_inputs(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x3xf32>) {
  // CHECK: "stablehlo.scatter"(%arg0, %arg0, %arg1, %arg2, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  // CHECK: }) : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>, tensor<5x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
  %0:2 = "stablehlo.scatter"(%arg0, %arg0, %arg1, %arg2, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>, %arg7: tensor<f32>, %arg8: tensor<f32>):
    stablehlo.return %arg7, %arg8 : tensor<f32>, tensor<f32>
  }) : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>, tensor<5x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
  return
}

// -----

func.func @c1(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x3xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C1) shapes of the inputs differ: got 'tensor<4x3xf32>' and 'tensor<5x3xf32>'}}
  %0:2 = "stablehlo.scatter"(%arg0, %arg2, %arg1, %arg2, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>, %arg7: tensor<f32>, %arg8: tensor<f32>):
      stablehlo.return %arg7, %arg8 : tensor<f32>, tensor<f32>
    }) : (tensor<4x3xf32>, tensor<5x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>, tensor<5x3xf32>) -> (tensor<4x3xf32>, tensor<5x3xf32>)
  return
}

// -----

func.func @c2(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x3xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C2) rank of the inputs: got 2, expected the number of update_window_dims, inserted_window_dims and input_batching_dims, 1}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @c3(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x3xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C3) shapes of the updates differ: got 'tensor<5x3xf32>' and 'tensor<4x3xf32>'}}
  %0:2 = "stablehlo.scatter"(%arg0, %arg0, %arg1, %arg2, %arg0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>, %arg7: tensor<f32>, %arg8: tensor<f32>):
      stablehlo.return %arg7, %arg8 : tensor<f32>, tensor<f32>
    }) : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
  return
}

// -----

func.func @c4_rank(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C4) rank of the updates: got 1, expected 2}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<5xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @c4_window(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C4) size of updates dimension 1: got 4, expected at most 3}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @c4_batch(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<6x3xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C4) size of updates dimension 0: got 6, expected 5}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<6x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @c6(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x3xi32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C6) element types of an input and its updates differ: got 'tensor<4x3xf32>' and 'tensor<5x3xi32>'}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x3xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @c7_unique(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x3x1xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C7) update_window_dims not unique: 1 occurs twice}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x3x1xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @c7_sorted(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x3x1xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C7) update_window_dims not sorted}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x3x1xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @c8(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x3xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C8) update_window_dims out of range: got 2, expected it in [0, 2)}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @c9(%arg0: tensor<2x4xf32>, %arg1: tensor<2x5x1xi32>, %arg2: tensor<2x5xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C9) inserted_window_dims and input_batching_dims not unique: 0 occurs twice}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<2x4xf32>, tensor<2x5x1xi32>, tensor<2x5xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @c10(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x3xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C10) inserted_window_dims not sorted}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1, 0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @c11(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x3xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C11) inserted_window_dims out of range: got 2, expected it in [0, 2)}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [2], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @c12(%arg0: tensor<2x4xf32>, %arg1: tensor<2x5x1xi32>, %arg2: tensor<2x5xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C12) input_batching_dims not sorted}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<input_batching_dims = [1, 0], scatter_indices_batching_dims = [0, 1], index_vector_dim = 2>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<2x4xf32>, tensor<2x5x1xi32>, tensor<2x5xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @c13(%arg0: tensor<2x4xf32>, %arg1: tensor<2x5x1xi32>, %arg2: tensor<2x5xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C13) input_batching_dims out of range: got 5, expected it in [0, 2)}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [5], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<2x4xf32>, tensor<2x5x1xi32>, tensor<2x5xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @c14(%arg0: tensor<2x4xf32>, %arg1: tensor<2x5x1xi32>, %arg2: tensor<2x5xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C14) scatter_indices_batching_dims not unique: 0 occurs twice}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0, 0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<2x4xf32>, tensor<2x5x1xi32>, tensor<2x5xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @c15(%arg0: tensor<2x4xf32>, %arg1: tensor<2x5x1xi32>, %arg2: tensor<2x5xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C15) scatter_indices_batching_dims out of range: got 3, expected it in [0, 3)}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [3], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<2x4xf32>, tensor<2x5x1xi32>, tensor<2x5xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @c16(%arg0: tensor<2x4xf32>, %arg1: tensor<2x5x1xi32>, %arg2: tensor<2x5xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C16) scatter_indices_batching_dims contains index_vector_dim 2}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [2], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<2x4xf32>, tensor<2x5x1xi32>, tensor<2x5xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @c17(%arg0: tensor<2x4xf32>, %arg1: tensor<2x5x1xi32>, %arg2: tensor<2x5xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C17) scatter_indices_batching_dims has the wrong number of elements: got 2, expected 1}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<2x4xf32>, tensor<2x5x1xi32>, tensor<2x5xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @c18(%arg0: tensor<2x4xf32>, %arg1: tensor<2x5x1xi32>, %arg2: tensor<2x5xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C18) batching dimensions differ in size: input dimension 0 has 2, scatter_indices dimension 1 has 5}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<2x4xf32>, tensor<2x5x1xi32>, tensor<2x5xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @c19(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x3xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C19) scatter_dims_to_operand_dims has the wrong number of elements: got 2, expected 1}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @c20(%arg0: tensor<2x4xf32>, %arg1: tensor<2x5x1xi32>, %arg2: tensor<2x5xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C20) scatter_dims_to_operand_dims and input_batching_dims not unique: 0 occurs twice}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<2x4xf32>, tensor<2x5x1xi32>, tensor<2x5xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @c21(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x3xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C21) scatter_dims_to_operand_dims out of range: got 2, expected it in [0, 2)}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [2], index_vector_dim = 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @c22(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x3xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C22) index_vector_dim out of range: got 3, expected it in [0, 3)}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 3>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @c23(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x3xf32>) {
  // expected-error@+1 {{'stablehlo.scatter' op (C23) body takes 1 arguments and returns 1 values, expected 2 and 1}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%arg3: tensor<f32>):
      stablehlo.return %arg3 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @c24(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x3xf32>) {
  // expected-error@+2 {{'stablehlo.scatter' op inferred type(s) 'tensor<4x3xf32>' are incompatible with return type(s) of operation 'tensor<5x3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  return
}

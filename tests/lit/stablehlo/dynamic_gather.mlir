// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<2xi32>) {
  // CHECK: "stablehlo.dynamic_gather"(%arg0, %arg1, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<2xi32>) -> tensor<5x?xf32>
  %0 = "stablehlo.dynamic_gather"(%arg0, %arg1, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<2xi32>) -> tensor<5x?xf32>
  return
}

// -----

func.func @c20_length(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<3xi32>) {
  // expected-error@+2 {{'stablehlo.dynamic_gather' op (C20) slice_sizes has the wrong number of elements: got 3, expected 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.dynamic_gather"(%arg0, %arg1, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<3xi32>) -> tensor<5x?xf32>
  return
}

// -----

func.func @c20_rank(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<i32>) {
  // expected-error@+1 {{'stablehlo.dynamic_gather' op operand #2 must be statically shaped 1-dimensional tensor of integer values, but got 'tensor<i32>'}}
  %0 = "stablehlo.dynamic_gather"(%arg0, %arg1, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<i32>) -> tensor<5x?xf32>
  return
}

// -----

func.func @c21(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>) {
  %arg2 = stablehlo.constant dense<[1, 9]> : tensor<2xi32>
  // expected-error@+2 {{'stablehlo.dynamic_gather' op (C21) slice size of dimension 1: got 9, expected it in [0, 3]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.dynamic_gather"(%arg0, %arg1, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<2xi32>) -> tensor<5x?xf32>
  return
}

// -----

func.func @c1(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<2xi32>) {
  // expected-error@+2 {{'stablehlo.dynamic_gather' op (C1) rank of operand: got 2, expected the number of offset_dims, collapsed_slice_dims and operand_batching_dims, 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.dynamic_gather"(%arg0, %arg1, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>}> : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<2xi32>) -> tensor<5x?xf32>
  return
}

// -----

func.func @slice_sizes(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<?xi32>) {
  // expected-error@+1 {{'stablehlo.dynamic_gather' op operand #2 must be statically shaped 1-dimensional tensor of integer values, but got 'tensor<?xi32>'}}
  %0 = "stablehlo.dynamic_gather"(%arg0, %arg1, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<?xi32>) -> tensor<5x?xf32>
  return
}

// RUN: torchere-translate --interpret -split-input-file %s

func.func @rows() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %i = stablehlo.constant dense<[[2], [0], [7]]> : tensor<3x1xi64>
  // The last index is moved inside.
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<3x2xi32>, tensor<3x1xi64>) -> tensor<3x2xi32>
  check.expect_eq_const %0, dense<[[5, 6], [1, 2], [5, 6]]> : tensor<3x2xi32>
  func.return
}

// -----

func.func @elements() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %i = stablehlo.constant dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [1, 0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x2xi32>, tensor<2x2xi64>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[3, 2]> : tensor<2xi32>
  func.return
}

// -----

func.func @batching() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %i = stablehlo.constant dense<[[2, 0], [1, 1]]> : tensor<2x2xi64>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x3xi32>, tensor<2x2xi64>) -> tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[3, 1], [5, 5]]> : tensor<2x2xi32>
  func.return
}

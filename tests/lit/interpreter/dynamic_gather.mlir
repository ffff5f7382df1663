// RUN: torchere-translate --interpret -split-input-file %s

func.func @sizes() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %i = stablehlo.constant dense<[[2], [0]]> : tensor<2x1xi64>
  %s = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x2xi32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[5, 6], [1, 2]]> : tensor<2x2xi32>
  func.return
}

// RUN: torchere-translate --interpret -split-input-file %s

func.func @batched() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %i = stablehlo.constant dense<[[2, 0], [1, 1]]> : tensor<2x2xi32>
  %0 = "stablehlo.torch_index_select"(%x, %i) <{batch_dims = 1 : i64, dim = 1 : i64}> : (tensor<2x3xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[3, 1], [5, 5]]> : tensor<2x2xi32>
  func.return
}

// -----

func.func @rows() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %i = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
  %0 = "stablehlo.torch_index_select"(%x, %i) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<2x3xi32>, tensor<2xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %0, dense<[[4, 5, 6], [1, 2, 3]]> : tensor<2x3xi32>
  func.return
}

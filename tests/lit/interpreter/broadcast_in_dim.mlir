// RUN: torchere-translate --interpret -split-input-file %s

func.func @both() {
  %x = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi32>
  %0 = stablehlo.broadcast_in_dim %x, dims = [2, 1] : (tensor<2x1xi32>) -> tensor<2x3x2xi32>
  check.expect_eq_const %0, dense<[[[1, 2], [1, 2], [1, 2]], [[1, 2], [1, 2], [1, 2]]]> : tensor<2x3x2xi32>
  func.return
}

// -----

func.func @scalar() {
  %x = stablehlo.constant dense<5> : tensor<i8>
  %0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<i8>) -> tensor<2xi8>
  check.expect_eq_const %0, dense<5> : tensor<2xi8>
  func.return
}

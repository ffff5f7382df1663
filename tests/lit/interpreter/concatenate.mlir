// RUN: torchere-translate --interpret -split-input-file %s

func.func @rows() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>
  %y = stablehlo.constant dense<[[7, 8]]> : tensor<1x2xi64>
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<3x2xi64>, tensor<1x2xi64>) -> tensor<4x2xi64>
  check.expect_eq_const %0, dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi64>
  func.return
}

// -----

func.func @columns() {
  %x = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi64>
  %y = stablehlo.constant dense<[[3, 4], [5, 6]]> : tensor<2x2xi64>
  %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<2x1xi64>, tensor<2x2xi64>) -> tensor<2x3xi64>
  check.expect_eq_const %0, dense<[[1, 3, 4], [2, 5, 6]]> : tensor<2x3xi64>
  func.return
}

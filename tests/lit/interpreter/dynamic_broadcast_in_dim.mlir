// RUN: torchere-translate --interpret -split-input-file %s

func.func @sizes() {
  %x = stablehlo.constant dense<[[1, 2, 3]]> : tensor<1x3xi64>
  %s = stablehlo.constant dense<[2, 3, 2]> : tensor<3xi64>
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [2, 1] : (tensor<1x3xi64>, tensor<3xi64>) -> tensor<2x3x2xi64>
  check.expect_eq_const %0, dense<[[[1, 1], [2, 2], [3, 3]], [[1, 1], [2, 2], [3, 3]]]> : tensor<2x3x2xi64>
  func.return
}

// RUN: torchere-translate --interpret -split-input-file %s

func.func @bits() {
  %x = stablehlo.constant dense<[[0, 1], [128, -1]]> : tensor<2x2xi64>
  %0 = stablehlo.count_leading_zeros %x : tensor<2x2xi64>
  check.expect_eq_const %0, dense<[[64, 63], [56, 0]]> : tensor<2x2xi64>
  func.return
}

// -----

func.func @nibbles() {
  %x = stablehlo.constant dense<[0, 1, 8]> : tensor<3xui4>
  %0 = stablehlo.count_leading_zeros %x : tensor<3xui4>
  check.expect_eq_const %0, dense<[4, 3, 0]> : tensor<3xui4>
  func.return
}

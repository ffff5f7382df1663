// RUN: torchere-translate --interpret -split-input-file %s

func.func @bits() {
  %l = stablehlo.constant dense<[-1, 0, 8]> : tensor<3xi64>
  %r = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi64>
  %0 = stablehlo.shift_right_logical %l, %r : tensor<3xi64>
  check.expect_eq_const %0, dense<[9223372036854775807, 0, 1]> : tensor<3xi64>
  func.return
}

// -----

func.func @out() {
  %l = stablehlo.constant dense<[-128, -128, -1]> : tensor<3xi8>
  %r = stablehlo.constant dense<[7, 8, -1]> : tensor<3xi8>
  %0 = stablehlo.shift_right_logical %l, %r : tensor<3xi8>
  check.expect_eq_const %0, dense<[1, 0, 0]> : tensor<3xi8>
  func.return
}

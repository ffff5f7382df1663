// RUN: torchere-translate --interpret -split-input-file %s

func.func @bits() {
  %l = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %r = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
  %0 = stablehlo.or %l, %r : tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[5, 6], [7, 12]]> : tensor<2x2xi32>
  func.return
}

// -----

func.func @bools() {
  %l = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %r = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %0 = stablehlo.or %l, %r : tensor<4xi1>
  check.expect_eq_const %0, dense<[false, true, true, true]> : tensor<4xi1>
  func.return
}

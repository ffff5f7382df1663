// RUN: torchere-translate --interpret -split-input-file %s

func.func @bits() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %0 = stablehlo.not %x : tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[-2, -3], [-4, -5]]> : tensor<2x2xi32>
  func.return
}

// -----

func.func @bools() {
  %x = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %0 = stablehlo.not %x : tensor<2xi1>
  check.expect_eq_const %0, dense<[false, true]> : tensor<2xi1>
  func.return
}

// -----

func.func @unsigned() {
  %x = stablehlo.constant dense<[0, 5]> : tensor<2xui4>
  %0 = stablehlo.not %x : tensor<2xui4>
  check.expect_eq_const %0, dense<[15, 10]> : tensor<2xui4>
  func.return
}

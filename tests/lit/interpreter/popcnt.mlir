// RUN: torchere-translate --interpret -split-input-file %s

func.func @bits() {
  %x = stablehlo.constant dense<[0, 1, 2, 127]> : tensor<4xi64>
  %0 = stablehlo.popcnt %x : tensor<4xi64>
  check.expect_eq_const %0, dense<[0, 1, 1, 7]> : tensor<4xi64>
  func.return
}

// -----

func.func @negative() {
  %x = stablehlo.constant dense<[-1, -128]> : tensor<2xi8>
  %0 = stablehlo.popcnt %x : tensor<2xi8>
  check.expect_eq_const %0, dense<[8, 1]> : tensor<2xi8>
  func.return
}

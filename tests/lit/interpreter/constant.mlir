// RUN: torchere-translate --interpret -split-input-file %s

func.func @splat() {
  %0 = stablehlo.constant dense<7> : tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[7, 7], [7, 7]]> : tensor<2x2xi32>
  func.return
}

// -----

func.func @bools() {
  %0 = stablehlo.constant dense<[true, false, true, true, false, false, false, true, true]> : tensor<9xi1>
  %1 = stablehlo.convert %0 : (tensor<9xi1>) -> tensor<9xi8>
  check.expect_eq_const %1, dense<[1, 0, 1, 1, 0, 0, 0, 1, 1]> : tensor<9xi8>
  func.return
}

// -----

func.func @nibbles() {
  %0 = stablehlo.constant dense<[-8, 7, -1]> : tensor<3xi4>
  %1 = stablehlo.convert %0 : (tensor<3xi4>) -> tensor<3xi32>
  check.expect_eq_const %1, dense<[-8, 7, -1]> : tensor<3xi32>
  func.return
}

// RUN: torchere-translate --interpret -split-input-file %s

func.func @quadrants() {
  %l = stablehlo.constant dense<[0.0, 1.0, -1.0, 0.0]> : tensor<4xf32>
  %r = stablehlo.constant dense<[1.0, 0.0, 0.0, -1.0]> : tensor<4xf32>
  %0 = stablehlo.atan2 %l, %r : tensor<4xf32>
  check.expect_almost_eq_const %0, dense<[0.0, 1.57079637, -1.57079637, 3.14159274]> : tensor<4xf32>
  func.return
}

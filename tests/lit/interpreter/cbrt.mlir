// RUN: torchere-translate --interpret -split-input-file %s

func.func @roots() {
  %x = stablehlo.constant dense<[0.0, 1.0, 8.0, -27.0]> : tensor<4xf32>
  %0 = stablehlo.cbrt %x : tensor<4xf32>
  check.expect_eq_const %0, dense<[0.0, 1.0, 2.0, -3.0]> : tensor<4xf32>
  func.return
}

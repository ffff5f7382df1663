// RUN: torchere-translate --interpret -split-input-file %s

func.func @down() {
  %x = stablehlo.constant dense<[-0.8166, -0.2530, 0.2530, 2.0]> : tensor<4xf32>
  %0 = stablehlo.floor %x : tensor<4xf32>
  check.expect_eq_const %0, dense<[-1.0, -1.0, 0.0, 2.0]> : tensor<4xf32>
  func.return
}

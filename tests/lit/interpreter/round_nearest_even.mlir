// RUN: torchere-translate --interpret -split-input-file %s

func.func @ties() {
  %x = stablehlo.constant dense<[-2.5, 0.4, 0.5, 0.6, 2.5]> : tensor<5xf64>
  %0 = stablehlo.round_nearest_even %x : tensor<5xf64>
  check.expect_eq_const %0, dense<[-2.0, 0.0, 0.0, 1.0, 2.0]> : tensor<5xf64>
  func.return
}

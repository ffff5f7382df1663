// RUN: torchere-translate --interpret -split-input-file %s

func.func @numbers() {
  %x = stablehlo.constant dense<[0.0, -0.999, 7.0, 6.38905621, 15.0]> : tensor<5xf64>
  %0 = stablehlo.log_plus_one %x : tensor<5xf64>
  check.expect_almost_eq_const %0, dense<[0.0, -6.90776825, 2.07944155, 2.0, 2.77258873]> : tensor<5xf64>
  func.return
}

// RUN: torchere-translate --interpret -split-input-file %s

func.func @kinds() {
  %x = stablehlo.constant dense<[0xFFF0000000000000, 0x7FF8000000000000, -10.0, -0.0, 1.0, 0x7FF0000000000000]> : tensor<6xf64>
  %0 = stablehlo.is_finite %x : (tensor<6xf64>) -> tensor<6xi1>
  check.expect_eq_const %0, dense<[false, false, true, true, true, false]> : tensor<6xi1>
  func.return
}

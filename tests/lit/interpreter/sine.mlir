// RUN: torchere-translate --interpret -split-input-file %s

func.func @angles() {
  %x = stablehlo.constant dense<[0.0, 1.57079632, 4.71238898]> : tensor<3xf32>
  %0 = stablehlo.sine %x : tensor<3xf32>
  check.expect_almost_eq_const %0, dense<[0.0, 1.0, -1.0]> : tensor<3xf32>
  func.return
}

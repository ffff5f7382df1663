// RUN: torchere-translate --interpret -split-input-file %s

func.func @sigmoid() {
  %x = stablehlo.constant dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf32>
  %0 = stablehlo.logistic %x : tensor<2x2xf32>
  check.expect_almost_eq_const %0, dense<[[0.5, 0.73105858], [0.88079708, 0.95257413]]> : tensor<2x2xf32>
  func.return
}

// -----

func.func @limits() {
  %x = stablehlo.constant dense<[0xFF800000, 0x7F800000, 0x7FC00000]> : tensor<3xf32>
  %0 = stablehlo.logistic %x : tensor<3xf32>
  check.expect_eq_const %0, dense<[0.0, 1.0, 0x7FC00000]> : tensor<3xf32>
  func.return
}

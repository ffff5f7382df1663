// RUN: torchere-translate --interpret -split-input-file %s

func.func @numbers() {
  %x = stablehlo.constant dense<[-1.0, 0.0, 1.0]> : tensor<3xf32>
  %0 = stablehlo.tanh %x : tensor<3xf32>
  check.expect_almost_eq_const %0, dense<[-0.76159416, 0.0, 0.76159416]> : tensor<3xf32>
  func.return
}

// -----

func.func @limits() {
  %x = stablehlo.constant dense<[0x7F800000, 0xFF800000]> : tensor<2xf32>
  %0 = stablehlo.tanh %x : tensor<2xf32>
  check.expect_eq_const %0, dense<[1.0, -1.0]> : tensor<2xf32>
  func.return
}

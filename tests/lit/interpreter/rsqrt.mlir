// RUN: torchere-translate --interpret -split-input-file %s

func.func @roots() {
  %x = stablehlo.constant dense<[[1.0, 4.0], [9.0, 25.0]]> : tensor<2x2xf32>
  %0 = stablehlo.rsqrt %x : tensor<2x2xf32>
  check.expect_almost_eq_const %0, dense<[[1.0, 0.5], [0.33333343, 0.2]]> : tensor<2x2xf32>
  func.return
}

// -----

func.func @zero() {
  %x = stablehlo.constant dense<[0.0, -1.0]> : tensor<2xf32>
  %0 = stablehlo.rsqrt %x : tensor<2xf32>
  check.expect_eq_const %0, dense<[0x7F800000, 0x7FC00000]> : tensor<2xf32>
  func.return
}

// RUN: torchere-translate --interpret -split-input-file %s

func.func @powers() {
  %x = stablehlo.constant dense<[0.0, 1.0, 0xFF800000, -1.0]> : tensor<4xf32>
  %0 = stablehlo.exponential %x : tensor<4xf32>
  check.expect_almost_eq_const %0, dense<[1.0, 2.71828183, 0.0, 0.36787944]> : tensor<4xf32>
  func.return
}

// -----

func.func @complex() {
  %x = stablehlo.constant dense<[(1.0, 2.0)]> : tensor<1xcomplex<f64>>
  %0 = stablehlo.exponential %x : tensor<1xcomplex<f64>>
  check.expect_almost_eq_const %0, dense<[(-1.1312043837568135, 2.4717266720048188)]> : tensor<1xcomplex<f64>>
  func.return
}

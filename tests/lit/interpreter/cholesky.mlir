// RUN: torchere-translate --interpret -split-input-file %s

func.func @lower() {
  %x = stablehlo.constant dense<[[4.0, 9.0], [2.0, 3.0]]> : tensor<2x2xf32>
  // Only one triangle is read.
  %0 = stablehlo.cholesky %x, lower = true : tensor<2x2xf32>
  check.expect_almost_eq_const %0, dense<[[2.0, 0.0], [1.0, 1.41421356]]> : tensor<2x2xf32>
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.cholesky %t, lower = false : tensor<2x2xf32>
  check.expect_almost_eq_const %1, dense<[[2.0, 1.0], [0.0, 1.41421356]]> : tensor<2x2xf32>
  func.return
}

// -----

func.func @complex() {
  %x = stablehlo.constant dense<[[(4.0, 0.0), (0.0, 0.0)], [(0.0, 2.0), (3.0, 0.0)]]> : tensor<2x2xcomplex<f64>>
  %0 = stablehlo.cholesky %x, lower = true : tensor<2x2xcomplex<f64>>
  check.expect_almost_eq_const %0, dense<[[(2.0, 0.0), (0.0, 0.0)], [(0.0, 1.0), (1.4142135623730951, 0.0)]]> : tensor<2x2xcomplex<f64>>
  func.return
}

// -----

func.func @indefinite() {
  %x = stablehlo.constant dense<[[1.0, 2.0], [2.0, 1.0]]> : tensor<2x2xf32>
  %0 = stablehlo.cholesky %x, lower = true : tensor<2x2xf32>
  check.expect_eq_const %0, dense<0x7FC00000> : tensor<2x2xf32>
  func.return
}

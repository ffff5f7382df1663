// RUN: torchere-translate --interpret -split-input-file %s

func.func @roots() {
  %x = stablehlo.constant dense<[[0.0, 1.0], [4.0, 9.0]]> : tensor<2x2xf32>
  %0 = stablehlo.sqrt %x : tensor<2x2xf32>
  check.expect_eq_const %0, dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf32>
  func.return
}

// -----

func.func @negative() {
  %x = stablehlo.constant dense<[-1.0]> : tensor<1xf32>
  %0 = stablehlo.sqrt %x : tensor<1xf32>
  check.expect_eq_const %0, dense<[0x7FC00000]> : tensor<1xf32>
  func.return
}

// -----

func.func @complex() {
  %x = stablehlo.constant dense<[(-4.0, 0.0)]> : tensor<1xcomplex<f64>>
  %0 = stablehlo.sqrt %x : tensor<1xcomplex<f64>>
  check.expect_almost_eq_const %0, dense<[(0.0, 2.0)]> : tensor<1xcomplex<f64>>
  func.return
}

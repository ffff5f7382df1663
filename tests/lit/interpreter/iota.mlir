// RUN: torchere-translate --interpret -split-input-file %s

func.func @rows() {
  %0 = stablehlo.iota dim = 0 : tensor<2x3xi32>
  check.expect_eq_const %0, dense<[[0, 0, 0], [1, 1, 1]]> : tensor<2x3xi32>
  func.return
}

// -----

func.func @columns() {
  %0 = stablehlo.iota dim = 1 : tensor<2x3xf32>
  check.expect_eq_const %0, dense<[[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]]> : tensor<2x3xf32>
  func.return
}

// -----

func.func @complex() {
  %0 = stablehlo.iota dim = 0 : tensor<2xcomplex<f32>>
  check.expect_eq_const %0, dense<[(0.0, 0.0), (1.0, 0.0)]> : tensor<2xcomplex<f32>>
  func.return
}

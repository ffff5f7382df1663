// RUN: torchere-translate --interpret -split-input-file %s

func.func @numbers() {
  %x = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64>
  %0 = stablehlo.log %x : tensor<2x2xf64>
  check.expect_almost_eq_const %0, dense<[[0.0, 0.6931471805599453], [1.0986122886681098, 1.3862943611198906]]> : tensor<2x2xf64>
  func.return
}

// -----

func.func @limits() {
  %x = stablehlo.constant dense<[0.0, -1.0, 0x7F800000]> : tensor<3xf32>
  %0 = stablehlo.log %x : tensor<3xf32>
  check.expect_eq_const %0, dense<[0xFF800000, 0x7FC00000, 0x7F800000]> : tensor<3xf32>
  func.return
}

// -----

func.func @complex() {
  %x = stablehlo.constant dense<[(1.0, 2.0)]> : tensor<1xcomplex<f64>>
  %0 = stablehlo.log %x : tensor<1xcomplex<f64>>
  check.expect_almost_eq_const %0, dense<[(0.8047189562170503, 1.1071487177940904)]> : tensor<1xcomplex<f64>>
  func.return
}

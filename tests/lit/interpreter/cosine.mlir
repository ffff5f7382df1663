// RUN: torchere-translate --interpret -split-input-file %s

func.func @angles() {
  %x = stablehlo.constant dense<[0.0, 1.57079632, 3.14159265]> : tensor<3xf32>
  %0 = stablehlo.cosine %x : tensor<3xf32>
  check.expect_almost_eq_const %0, dense<[1.0, 0.0, -1.0]> : tensor<3xf32>
  func.return
}

// -----

func.func @complex() {
  %x = stablehlo.constant dense<[(1.0, 1.0)]> : tensor<1xcomplex<f64>>
  %0 = stablehlo.cosine %x : tensor<1xcomplex<f64>>
  check.expect_almost_eq_const %0, dense<[(0.8337300251311491, -0.9888977057628651)]> : tensor<1xcomplex<f64>>
  func.return
}

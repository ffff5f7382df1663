// RUN: torchere-translate --interpret -split-input-file %s

func.func @floats() {
  %x = stablehlo.constant dense<[0xFFF0000000000000, 0x7FF8000000000000, -991.1, -0.0, 0.0, 1.0]> : tensor<6xf64>
  %0 = stablehlo.sign %x : tensor<6xf64>
  check.expect_eq_const %0, dense<[-1.0, 0x7FF8000000000000, -1.0, -0.0, 0.0, 1.0]> : tensor<6xf64>
  func.return
}

// -----

func.func @integers() {
  %x = stablehlo.constant dense<[-5, 0, 5]> : tensor<3xi16>
  %0 = stablehlo.sign %x : tensor<3xi16>
  check.expect_eq_const %0, dense<[-1, 0, 1]> : tensor<3xi16>
  func.return
}

// -----

func.func @complex() {
  %x = stablehlo.constant dense<[(3.0, 4.0), (0.0, 0.0)]> : tensor<2xcomplex<f64>>
  %0 = stablehlo.sign %x : tensor<2xcomplex<f64>>
  check.expect_almost_eq_const %0, dense<[(0.6, 0.8), (0.0, 0.0)]> : tensor<2xcomplex<f64>>
  func.return
}

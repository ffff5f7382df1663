// RUN: torchere-translate --interpret -split-input-file %s

func.func @integers() {
  %x = stablehlo.constant dense<[0, -2, -2147483648]> : tensor<3xi32>
  %0 = stablehlo.negate %x : tensor<3xi32>
  check.expect_eq_const %0, dense<[0, 2, -2147483648]> : tensor<3xi32>
  func.return
}

// -----

func.func @unsigned() {
  %x = stablehlo.constant dense<[1, 0]> : tensor<2xui8>
  %0 = stablehlo.negate %x : tensor<2xui8>
  check.expect_eq_const %0, dense<[255, 0]> : tensor<2xui8>
  func.return
}

// -----

func.func @complex() {
  %x = stablehlo.constant dense<[(2.5, 0.0)]> : tensor<1xcomplex<f32>>
  %0 = stablehlo.negate %x : tensor<1xcomplex<f32>>
  check.expect_eq_const %0, dense<[(-2.5, -0.0)]> : tensor<1xcomplex<f32>>
  func.return
}

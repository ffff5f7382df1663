// RUN: torchere-translate --interpret -split-input-file %s

func.func @integers() {
  %l = stablehlo.constant dense<[17, -17, 17, -17]> : tensor<4xi32>
  %r = stablehlo.constant dense<[3, 3, -3, -3]> : tensor<4xi32>
  %0 = stablehlo.divide %l, %r : tensor<4xi32>
  check.expect_eq_const %0, dense<[5, -5, -5, 5]> : tensor<4xi32>
  func.return
}

// -----

func.func @undefined() {
  %l = stablehlo.constant dense<[5, -2147483648, 0]> : tensor<3xi32>
  %r = stablehlo.constant dense<[0, -1, 0]> : tensor<3xi32>
  %0 = stablehlo.divide %l, %r : tensor<3xi32>
  check.expect_eq_const %0, dense<[-1, -2147483648, -1]> : tensor<3xi32>
  func.return
}

// -----

func.func @unsigned() {
  %l = stablehlo.constant dense<[200, 7]> : tensor<2xui8>
  %r = stablehlo.constant dense<[7, 0]> : tensor<2xui8>
  %0 = stablehlo.divide %l, %r : tensor<2xui8>
  check.expect_eq_const %0, dense<[28, 255]> : tensor<2xui8>
  func.return
}

// -----

func.func @floats() {
  %l = stablehlo.constant dense<[17.1, -17.1, 1.0, 0.0]> : tensor<4xf32>
  %r = stablehlo.constant dense<[3.0, 3.0, 0.0, 0.0]> : tensor<4xf32>
  %0 = stablehlo.divide %l, %r : tensor<4xf32>
  check.expect_almost_eq_const %0, dense<[5.7, -5.7, 0x7F800000, 0x7FC00000]> : tensor<4xf32>
  func.return
}

// -----

func.func @complex() {
  %l = stablehlo.constant dense<[(5.0, 5.0)]> : tensor<1xcomplex<f64>>
  %r = stablehlo.constant dense<[(3.0, -1.0)]> : tensor<1xcomplex<f64>>
  %0 = stablehlo.divide %l, %r : tensor<1xcomplex<f64>>
  check.expect_almost_eq_const %0, dense<[(1.0, 2.0)]> : tensor<1xcomplex<f64>>
  func.return
}

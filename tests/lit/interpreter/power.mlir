// RUN: torchere-translate --interpret -split-input-file %s

func.func @floats() {
  %l = stablehlo.constant dense<[-2.0, -0.0, -36.0, 5.0, 3.0, 10000.0]> : tensor<6xf64>
  %r = stablehlo.constant dense<[2.0, 2.0, 1.1, 2.0, -1.0, 10.0]> : tensor<6xf64>
  %0 = stablehlo.power %l, %r : tensor<6xf64>
  check.expect_almost_eq_const %0, dense<[4.0, 0.0, 0xFFF8000000000000, 25.0, 0.3333333333333333, 1.0E+40]> : tensor<6xf64>
  func.return
}

// -----

func.func @integers() {
  %l = stablehlo.constant dense<[2, -3, 0, 1, -1, 7]> : tensor<6xi32>
  %r = stablehlo.constant dense<[10, 3, 0, -5, -3, -1]> : tensor<6xi32>
  %0 = stablehlo.power %l, %r : tensor<6xi32>
  check.expect_eq_const %0, dense<[1024, -27, 1, 1, -1, 0]> : tensor<6xi32>
  func.return
}

// -----

func.func @unsigned() {
  %l = stablehlo.constant dense<[2, 3]> : tensor<2xui8>
  %r = stablehlo.constant dense<[8, 5]> : tensor<2xui8>
  %0 = stablehlo.power %l, %r : tensor<2xui8>
  check.expect_eq_const %0, dense<[0, 243]> : tensor<2xui8>
  func.return
}

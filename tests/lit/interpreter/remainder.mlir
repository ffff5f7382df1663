// RUN: torchere-translate --interpret -split-input-file %s

func.func @integers() {
  %l = stablehlo.constant dense<[17, -17, 17, -17]> : tensor<4xi64>
  %r = stablehlo.constant dense<[3, 3, -3, -3]> : tensor<4xi64>
  %0 = stablehlo.remainder %l, %r : tensor<4xi64>
  check.expect_eq_const %0, dense<[2, -2, 2, -2]> : tensor<4xi64>
  func.return
}

// -----

func.func @undefined() {
  %l = stablehlo.constant dense<[5, -2147483648]> : tensor<2xi32>
  %r = stablehlo.constant dense<[0, -1]> : tensor<2xi32>
  %0 = stablehlo.remainder %l, %r : tensor<2xi32>
  check.expect_eq_const %0, dense<[5, 0]> : tensor<2xi32>
  func.return
}

// -----

func.func @floats() {
  %l = stablehlo.constant dense<[17.1, -17.1, 17.1, -17.1]> : tensor<4xf64>
  %r = stablehlo.constant dense<[3.0, 3.0, -3.0, -3.0]> : tensor<4xf64>
  %0 = stablehlo.remainder %l, %r : tensor<4xf64>
  check.expect_almost_eq_const %0, dense<[2.1, -2.1, 2.1, -2.1]> : tensor<4xf64>
  func.return
}

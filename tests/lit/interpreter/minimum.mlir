// RUN: torchere-translate --interpret -split-input-file %s

func.func @integers() {
  %l = stablehlo.constant dense<[[1, 2], [7, 8]]> : tensor<2x2xi32>
  %r = stablehlo.constant dense<[[5, 6], [3, 4]]> : tensor<2x2xi32>
  %0 = stablehlo.minimum %l, %r : tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  func.return
}

// -----

func.func @floats() {
  %l = stablehlo.constant dense<[0x7FC00000, 1.0, -0.0, 0x7F800000]> : tensor<4xf32>
  %r = stablehlo.constant dense<[1.0, 0x7FC00000, 0.0, 1.0]> : tensor<4xf32>
  %0 = stablehlo.minimum %l, %r : tensor<4xf32>
  check.expect_eq_const %0, dense<[0x7FC00000, 0x7FC00000, -0.0, 1.0]> : tensor<4xf32>
  func.return
}

// -----

func.func @bools() {
  %l = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %r = stablehlo.constant dense<[false, true]> : tensor<2xi1>
  %0 = stablehlo.minimum %l, %r : tensor<2xi1>
  check.expect_eq_const %0, dense<[false, false]> : tensor<2xi1>
  func.return
}

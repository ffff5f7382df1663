// RUN: torchere-translate --interpret -split-input-file %s

func.func @integers() {
  %l = stablehlo.constant dense<[[1, 2], [7, 8]]> : tensor<2x2xi32>
  %r = stablehlo.constant dense<[[5, 6], [3, 4]]> : tensor<2x2xi32>
  %0 = stablehlo.maximum %l, %r : tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
  func.return
}

// -----

func.func @unsigned() {
  %l = stablehlo.constant dense<[255, 1]> : tensor<2xui8>
  %r = stablehlo.constant dense<[1, 2]> : tensor<2xui8>
  %0 = stablehlo.maximum %l, %r : tensor<2xui8>
  check.expect_eq_const %0, dense<[255, 2]> : tensor<2xui8>
  func.return
}

// -----

func.func @floats() {
  %l = stablehlo.constant dense<[0x7FC00000, 1.0, -0.0, 0xFF800000]> : tensor<4xf32>
  %r = stablehlo.constant dense<[1.0, 0x7FC00000, 0.0, -1.0]> : tensor<4xf32>
  %0 = stablehlo.maximum %l, %r : tensor<4xf32>
  check.expect_eq_const %0, dense<[0x7FC00000, 0x7FC00000, 0.0, -1.0]> : tensor<4xf32>
  func.return
}

// -----

func.func @complex() {
  %l = stablehlo.constant dense<[(1.0, 2.0), (1.0, 2.0)]> : tensor<2xcomplex<f32>>
  %r = stablehlo.constant dense<[(1.0, 3.0), (0.0, 9.0)]> : tensor<2xcomplex<f32>>
  %0 = stablehlo.maximum %l, %r : tensor<2xcomplex<f32>>
  check.expect_eq_const %0, dense<[(1.0, 3.0), (1.0, 2.0)]> : tensor<2xcomplex<f32>>
  func.return
}

// -----

func.func @bools() {
  %l = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %r = stablehlo.constant dense<[false, false]> : tensor<2xi1>
  %0 = stablehlo.maximum %l, %r : tensor<2xi1>
  check.expect_eq_const %0, dense<[true, false]> : tensor<2xi1>
  func.return
}

// RUN: torchere-translate --interpret -split-input-file %s

func.func @integers() {
  %l = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %r = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
  %0 = stablehlo.add %l, %r : tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[6, 8], [10, 12]]> : tensor<2x2xi32>
  func.return
}

// -----

func.func @wraps() {
  %l = stablehlo.constant dense<[127, -128]> : tensor<2xi8>
  %r = stablehlo.constant dense<[1, -1]> : tensor<2xi8>
  %0 = stablehlo.add %l, %r : tensor<2xi8>
  check.expect_eq_const %0, dense<[-128, 127]> : tensor<2xi8>
  func.return
}

// -----

func.func @nibbles() {
  %l = stablehlo.constant dense<[7, -8]> : tensor<2xi4>
  %r = stablehlo.constant dense<[1, -1]> : tensor<2xi4>
  %0 = stablehlo.add %l, %r : tensor<2xi4>
  check.expect_eq_const %0, dense<[-8, 7]> : tensor<2xi4>
  func.return
}

// -----

func.func @bools() {
  %l = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %r = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %0 = stablehlo.add %l, %r : tensor<4xi1>
  check.expect_eq_const %0, dense<[false, true, true, true]> : tensor<4xi1>
  func.return
}

// -----

func.func @rounds() {
  %l = stablehlo.constant dense<[2048.0, 1.0]> : tensor<2xf16>
  %r = stablehlo.constant dense<[1.0, 0.000488281]> : tensor<2xf16>
  %0 = stablehlo.add %l, %r : tensor<2xf16>
  check.expect_eq_const %0, dense<[2048.0, 1.0]> : tensor<2xf16>
  func.return
}

// -----

func.func @complex() {
  %l = stablehlo.constant dense<[(1.5, 2.5)]> : tensor<1xcomplex<f64>>
  %r = stablehlo.constant dense<[(-0.5, 4.0)]> : tensor<1xcomplex<f64>>
  %0 = stablehlo.add %l, %r : tensor<1xcomplex<f64>>
  check.expect_eq_const %0, dense<[(1.0, 6.5)]> : tensor<1xcomplex<f64>>
  func.return
}

// -----

func.func @limits() {
  %l = stablehlo.constant dense<[0x7F800000, 0x7F800000, 0x7FC00000]> : tensor<3xf32>
  %r = stablehlo.constant dense<[1.0, 0xFF800000, 1.0]> : tensor<3xf32>
  %0 = stablehlo.add %l, %r : tensor<3xf32>
  check.expect_eq_const %0, dense<[0x7F800000, 0x7FC00000, 0x7FC00000]> : tensor<3xf32>
  func.return
}

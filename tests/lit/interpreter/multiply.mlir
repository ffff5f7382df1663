// RUN: torchere-translate --interpret -split-input-file %s

func.func @integers() {
  %l = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %r = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
  %0 = stablehlo.multiply %l, %r : tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[5, 12], [21, 32]]> : tensor<2x2xi32>
  func.return
}

// -----

func.func @wraps() {
  %l = stablehlo.constant dense<[16, 255]> : tensor<2xui8>
  %r = stablehlo.constant dense<[16, 255]> : tensor<2xui8>
  %0 = stablehlo.multiply %l, %r : tensor<2xui8>
  check.expect_eq_const %0, dense<[0, 1]> : tensor<2xui8>
  func.return
}

// -----

func.func @bools() {
  %l = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %r = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %0 = stablehlo.multiply %l, %r : tensor<4xi1>
  check.expect_eq_const %0, dense<[false, false, false, true]> : tensor<4xi1>
  func.return
}

// -----

func.func @complex() {
  %l = stablehlo.constant dense<[(1.0, 2.0)]> : tensor<1xcomplex<f32>>
  %r = stablehlo.constant dense<[(3.0, -1.0)]> : tensor<1xcomplex<f32>>
  %0 = stablehlo.multiply %l, %r : tensor<1xcomplex<f32>>
  check.expect_eq_const %0, dense<[(5.0, 5.0)]> : tensor<1xcomplex<f32>>
  func.return
}

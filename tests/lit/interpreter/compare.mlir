// RUN: torchere-translate --interpret -split-input-file %s

func.func @less() {
  %l = stablehlo.constant dense<[1.0, 3.0, 2.0]> : tensor<3xf32>
  %r = stablehlo.constant dense<[2.0, 2.0, 2.0]> : tensor<3xf32>
  %0 = stablehlo.compare LT, %l, %r : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %0, dense<[true, false, false]> : tensor<3xi1>
  func.return
}

// -----

func.func @nan() {
  %l = stablehlo.constant dense<[0x7FC00000, 1.0, -0.0]> : tensor<3xf32>
  %r = stablehlo.constant dense<[0x7FC00000, 1.0, 0.0]> : tensor<3xf32>
  %0 = stablehlo.compare NE, %l, %r : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %0, dense<[true, false, false]> : tensor<3xi1>
  func.return
}

// -----

func.func @nan_eq() {
  %l = stablehlo.constant dense<[0x7FC00000, 1.0]> : tensor<2xf32>
  %r = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf32>
  %0 = stablehlo.compare GE, %l, %r : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  check.expect_eq_const %0, dense<[false, true]> : tensor<2xi1>
  func.return
}

// -----

func.func @unsigned() {
  %l = stablehlo.constant dense<[255, 1]> : tensor<2xui8>
  %r = stablehlo.constant dense<[1, 255]> : tensor<2xui8>
  %0 = stablehlo.compare GT, %l, %r : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xi1>
  check.expect_eq_const %0, dense<[true, false]> : tensor<2xi1>
  func.return
}

// -----

func.func @signed() {
  %l = stablehlo.constant dense<[-1, 1]> : tensor<2xi8>
  %r = stablehlo.constant dense<[1, -1]> : tensor<2xi8>
  %0 = stablehlo.compare GT, %l, %r : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi1>
  check.expect_eq_const %0, dense<[false, true]> : tensor<2xi1>
  func.return
}

// -----

func.func @bools() {
  %l = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %r = stablehlo.constant dense<[false, true]> : tensor<2xi1>
  %0 = stablehlo.compare LE, %l, %r : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  check.expect_eq_const %0, dense<[false, true]> : tensor<2xi1>
  func.return
}

// -----

func.func @complex() {
  %l = stablehlo.constant dense<[(1.0, 2.0), (1.0, 2.0)]> : tensor<2xcomplex<f32>>
  %r = stablehlo.constant dense<[(1.0, 2.0), (1.0, 3.0)]> : tensor<2xcomplex<f32>>
  %0 = stablehlo.compare EQ, %l, %r : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xi1>
  check.expect_eq_const %0, dense<[true, false]> : tensor<2xi1>
  func.return
}

// -----

func.func @total() {
  %l = stablehlo.constant dense<[-0.0, 0xFF800000, 0x7F800000, 0.0]> : tensor<4xf32>
  %r = stablehlo.constant dense<[0.0, -1.0, 0x7FC00000, -0.0]> : tensor<4xf32>
  %0 = stablehlo.compare LT, %l, %r, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %0, dense<[true, true, true, false]> : tensor<4xi1>
  func.return
}

// -----

// NaN has a sign, and comes before or after all numbers.
func.func @total_order_of_nan() {
  %l = stablehlo.constant dense<[0xFE00, 0xFC00, 0x7C00, 0xFE01]> : tensor<4xf16>
  %r = stablehlo.constant dense<[0xFC00, 0xFE00, 0x7E00, 0xFE00]> : tensor<4xf16>
  %0 = stablehlo.compare LT, %l, %r, TOTALORDER : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xi1>
  check.expect_eq_const %0, dense<[true, false, true, true]> : tensor<4xi1>
  func.return
}

// -----

// A compare_type that is not of the elements changes nothing: bytes are signed or not by their type.
func.func @other_compare_types() {
  %a = stablehlo.constant dense<[-1, 1]> : tensor<2xi8>
  %b = stablehlo.constant dense<[255, 1]> : tensor<2xui8>
  %c = stablehlo.constant dense<[1, 2]> : tensor<2xi8>
  %d = stablehlo.constant dense<[1, 2]> : tensor<2xui8>
  %0 = stablehlo.compare LT, %a, %c, UNSIGNED : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi1>
  check.expect_eq_const %0, dense<[true, true]> : tensor<2xi1>
  %1 = stablehlo.compare LT, %b, %d, SIGNED : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xi1>
  check.expect_eq_const %1, dense<[false, true]> : tensor<2xi1>
  %2 = stablehlo.compare LT, %b, %d, TOTALORDER : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xi1>
  check.expect_eq_const %2, dense<[false, true]> : tensor<2xi1>
  %e = stablehlo.constant dense<[-0.0, 0x7FC00000]> : tensor<2xf32>
  %f = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %3 = stablehlo.compare LT, %e, %f, SIGNED : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  check.expect_eq_const %3, dense<false> : tensor<2xi1>
  %g = stablehlo.constant dense<[(-0.0, 1.0), (2.0, 3.0)]> : tensor<2xcomplex<f32>>
  %h = stablehlo.constant dense<[(0.0, 1.0), (2.0, 4.0)]> : tensor<2xcomplex<f32>>
  %4 = stablehlo.compare EQ, %g, %h, TOTALORDER : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xi1>
  check.expect_eq_const %4, dense<[true, false]> : tensor<2xi1>
  func.return
}

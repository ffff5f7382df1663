// RUN: torchere-translate --interpret -split-input-file %s

func.func @to_complex() {
  %x = stablehlo.constant dense<[-1, 0, 1]> : tensor<3xi64>
  %0 = stablehlo.convert %x : (tensor<3xi64>) -> tensor<3xcomplex<f64>>
  check.expect_eq_const %0, dense<[(-1.0, 0.0), (0.0, 0.0), (1.0, 0.0)]> : tensor<3xcomplex<f64>>
  func.return
}

// -----

func.func @towards_zero() {
  %x = stablehlo.constant dense<[-1.9, -0.5, 0.5, 1.9]> : tensor<4xf32>
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi32>
  check.expect_eq_const %0, dense<[-1, 0, 0, 1]> : tensor<4xi32>
  func.return
}

// -----

func.func @limits() {
  %x = stablehlo.constant dense<[300.0, -300.0, 0x7FC00000, 0x7F800000]> : tensor<4xf32>
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi8>
  check.expect_eq_const %0, dense<[127, -128, 0, 127]> : tensor<4xi8>
  func.return
}

// -----

func.func @wraps() {
  %x = stablehlo.constant dense<[300, -1, 128]> : tensor<3xi32>
  %0 = stablehlo.convert %x : (tensor<3xi32>) -> tensor<3xi8>
  check.expect_eq_const %0, dense<[44, -1, -128]> : tensor<3xi8>
  func.return
}

// -----

func.func @bools() {
  %x = stablehlo.constant dense<[0.0, -0.0, 0.1]> : tensor<3xf32>
  %0 = stablehlo.convert %x : (tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %0, dense<[false, false, true]> : tensor<3xi1>
  func.return
}

// -----

func.func @from_bools() {
  %x = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %0 = stablehlo.convert %x : (tensor<2xi1>) -> tensor<2xf16>
  check.expect_eq_const %0, dense<[1.0, 0.0]> : tensor<2xf16>
  func.return
}

// -----

func.func @rounds_once() {
  %x = stablehlo.constant dense<[16777217]> : tensor<1xi64>
  %0 = stablehlo.convert %x : (tensor<1xi64>) -> tensor<1xf32>
  check.expect_eq_const %0, dense<[16777216.0]> : tensor<1xf32>
  func.return
}

// -----

func.func @rounds_up() {
  %x = stablehlo.constant dense<[4611686293305294849]> : tensor<1xi64>
  %0 = stablehlo.convert %x : (tensor<1xi64>) -> tensor<1xf32>
  check.expect_eq_const %0, dense<[4.61168674E+18]> : tensor<1xf32>
  func.return
}

// -----

func.func @small_floats() {
  %x = stablehlo.constant dense<[1.0, 449.0, 465.0, 0.001]> : tensor<4xf32>
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  check.expect_eq_const %0, dense<[1.0, 448.0, 0x7F, 0x01]> : tensor<4xf8E4M3FN>
  func.return
}

// -----

func.func @unsigned() {
  %x = stablehlo.constant dense<[18446744073709551615, 1]> : tensor<2xui64>
  %0 = stablehlo.convert %x : (tensor<2xui64>) -> tensor<2xf64>
  check.expect_eq_const %0, dense<[1.8446744073709552E+19, 1.0]> : tensor<2xf64>
  func.return
}

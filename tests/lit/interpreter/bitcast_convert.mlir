// RUN: torchere-translate --interpret -split-input-file %s

func.func @wider() {
  %x = stablehlo.constant dense<[[0x3C, 0x12], [0x00, 0x80]]> : tensor<2x2xi8>
  %0 = stablehlo.bitcast_convert %x : (tensor<2x2xi8>) -> tensor<2xi16>
  check.expect_eq_const %0, dense<[4668, -32768]> : tensor<2xi16>
  func.return
}

// -----

func.func @narrower() {
  %x = stablehlo.constant dense<[4668, -32768]> : tensor<2xi16>
  %0 = stablehlo.bitcast_convert %x : (tensor<2xi16>) -> tensor<2x4xui4>
  check.expect_eq_const %0, dense<[[12, 3, 2, 1], [0, 0, 0, 8]]> : tensor<2x4xui4>
  func.return
}

// -----

func.func @same() {
  %x = stablehlo.constant dense<[1.0, -0.0]> : tensor<2xf32>
  %0 = stablehlo.bitcast_convert %x : (tensor<2xf32>) -> tensor<2xui32>
  check.expect_eq_const %0, dense<[1065353216, 2147483648]> : tensor<2xui32>
  func.return
}

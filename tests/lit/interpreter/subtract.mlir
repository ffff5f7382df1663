// RUN: torchere-translate --interpret -split-input-file %s

func.func @integers() {
  %l = stablehlo.constant dense<[[6, 8], [10, 12]]> : tensor<2x2xi32>
  %r = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
  %0 = stablehlo.subtract %l, %r : tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  func.return
}

// -----

func.func @unsigned() {
  %l = stablehlo.constant dense<[0]> : tensor<1xui16>
  %r = stablehlo.constant dense<[1]> : tensor<1xui16>
  %0 = stablehlo.subtract %l, %r : tensor<1xui16>
  check.expect_eq_const %0, dense<[65535]> : tensor<1xui16>
  func.return
}

// -----

// The NaN that no operand has is the positive one, on every processor; one that is moved keeps its bits.
func.func @nan() {
  %inf = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %0 = stablehlo.subtract %inf, %inf : tensor<f32>
  %1 = stablehlo.bitcast_convert %0 : (tensor<f32>) -> tensor<ui32>
  check.expect_eq_const %1, dense<0x7FC00000> : tensor<ui32>
  %nan = stablehlo.constant dense<0xFE01> : tensor<1xf16>
  %2 = stablehlo.negate %nan : tensor<1xf16>
  %3 = stablehlo.bitcast_convert %2 : (tensor<1xf16>) -> tensor<1xui16>
  check.expect_eq_const %3, dense<0x7E01> : tensor<1xui16>
  func.return
}

// RUN: torchere-translate --interpret -split-input-file %s

// x / 0.5 + 10, ties to even, limited to i8.
func.func @per_tensor() {
  %x = stablehlo.constant dense<[0.0, 1.0, -1.25, 0.25, 0.75, 1000.0, -1000.0]> : tensor<7xf32>
  %0 = stablehlo.uniform_quantize %x : (tensor<7xf32>) -> tensor<7x!quant.uniform<i8:f32, 0.5:10>>
  %1 = stablehlo.bitcast_convert %0 : (tensor<7x!quant.uniform<i8:f32, 0.5:10>>) -> tensor<7xi8>
  check.expect_eq_const %1, dense<[10, 12, 8, 10, 12, 127, -128]> : tensor<7xi8>
  return
}

// -----

func.func @narrow_range_unsigned() {
  %x = stablehlo.constant dense<[0.0, 1.0, -3.0, 300.0]> : tensor<4xf32>
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<u8<1:200>:f32, 1.0:2>>
  %1 = stablehlo.bitcast_convert %0 : (tensor<4x!quant.uniform<u8<1:200>:f32, 1.0:2>>) -> tensor<4xui8>
  check.expect_eq_const %1, dense<[2, 3, 1, 200]> : tensor<4xui8>
  return
}

// -----

// Each column has a scale of its own: 0.75 is 1.5 halves, rounded to 2, and 3 quarters.
func.func @per_axis() {
  %x = stablehlo.constant dense<[[1.0, 1.0], [0.75, 0.75], [-300.0, -300.0]]> : tensor<3x2xf32>
  %0 = stablehlo.uniform_quantize %x : (tensor<3x2xf32>) -> tensor<3x2x!quant.uniform<i8:f32:1, {0.5, 0.25:1}>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<3x2x!quant.uniform<i8:f32:1, {0.5, 0.25:1}>>) -> tensor<3x2xf32>
  check.expect_eq_const %1, dense<[[1.0, 1.0], [1.0, 0.75], [-64.0, -32.25]]> : tensor<3x2xf32>
  return
}

// -----

// A quantized operand is dequantized first: (q - 10) * 0.5 / 0.25.
func.func @requantize() {
  %x = stablehlo.constant() <{value = dense<[10, 12, -20]> : tensor<3xi8>}> : () -> tensor<3x!quant.uniform<i8:f32, 0.5:10>>
  %0 = stablehlo.uniform_quantize %x : (tensor<3x!quant.uniform<i8:f32, 0.5:10>>) -> tensor<3x!quant.uniform<i8:f32, 0.25>>
  %1 = stablehlo.bitcast_convert %0 : (tensor<3x!quant.uniform<i8:f32, 0.25>>) -> tensor<3xi8>
  check.expect_eq_const %1, dense<[0, 4, -60]> : tensor<3xi8>
  return
}

// RUN: torchere-translate --interpret -split-input-file %s

// Arithmetic on the numbers that quantized ones stand for; the result's scale is its own.
func.func @arithmetic() {
  %x = stablehlo.constant() <{value = dense<[10, 12, 14]> : tensor<3xi8>}> : () -> tensor<3x!quant.uniform<i8:f32, 0.5:10>>
  %y = stablehlo.constant() <{value = dense<[4, 8, -4]> : tensor<3xi8>}> : () -> tensor<3x!quant.uniform<i8:f32, 0.25>>
  // 0 1 2 + 1 2 -1
  %0 = stablehlo.add %x, %y : (tensor<3x!quant.uniform<i8:f32, 0.5:10>>, tensor<3x!quant.uniform<i8:f32, 0.25>>) -> tensor<3x!quant.uniform<i8:f32, 0.125:-1>>
  %1 = stablehlo.bitcast_convert %0 : (tensor<3x!quant.uniform<i8:f32, 0.125:-1>>) -> tensor<3xi8>
  check.expect_eq_const %1, dense<[7, 23, 7]> : tensor<3xi8>
  %2 = stablehlo.negate %x : (tensor<3x!quant.uniform<i8:f32, 0.5:10>>) -> tensor<3x!quant.uniform<i8:f32, 0.5>>
  %3 = stablehlo.bitcast_convert %2 : (tensor<3x!quant.uniform<i8:f32, 0.5>>) -> tensor<3xi8>
  check.expect_eq_const %3, dense<[0, -2, -4]> : tensor<3xi8>
  %4 = stablehlo.compare LT, %x, %y : (tensor<3x!quant.uniform<i8:f32, 0.5:10>>, tensor<3x!quant.uniform<i8:f32, 0.25>>) -> tensor<3xi1>
  check.expect_eq_const %4, dense<[true, true, false]> : tensor<3xi1>
  return
}

// -----

// The integers move as they are.
func.func @moves() {
  %x = stablehlo.constant() <{value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>}> : () -> tensor<2x3x!quant.uniform<i8:f32:1, {0.5, 0.25, 0.125}>>
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3x!quant.uniform<i8:f32:1, {0.5, 0.25, 0.125}>>) -> tensor<3x2x!quant.uniform<i8:f32:0, {0.5, 0.25, 0.125}>>
  %2 = stablehlo.uniform_dequantize %0 : (tensor<3x2x!quant.uniform<i8:f32:0, {0.5, 0.25, 0.125}>>) -> tensor<3x2xf32>
  check.expect_eq_const %2, dense<[[0.5, 2.0], [0.5, 1.25], [0.375, 0.75]]> : tensor<3x2xf32>
  return
}

// -----

// A reduction's body computes with quantized scalars.
func.func @reduction() {
  %x = stablehlo.constant() <{value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>}> : () -> tensor<2x2x!quant.uniform<i8:f32, 0.5:1>>
  %zero = stablehlo.constant() <{value = dense<1> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 0.5:1>>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x2x!quant.uniform<i8:f32, 0.5:1>>, tensor<!quant.uniform<i8:f32, 0.5:1>>) -> tensor<2x!quant.uniform<i8:f32, 0.5:1>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<2x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<2xf32>
  check.expect_eq_const %1, dense<[0.5, 2.5]> : tensor<2xf32>
  return
}

// -----

// Quantized times quantized, and float times quantized.
func.func @contractions() {
  %x = stablehlo.constant() <{value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>}> : () -> tensor<2x2x!quant.uniform<i8:f32, 0.5:1>>
  %w = stablehlo.constant() <{value = dense<[[2, 4], [6, 8]]> : tensor<2x2xi8>}> : () -> tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>
  // [[0, 0.5], [1, 1.5]] x [[1, 1], [3, 2]]
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 0.5:1>>, tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>) -> tensor<2x2x!quant.uniform<i32:f32, 0.25>>
  %1 = stablehlo.bitcast_convert %0 : (tensor<2x2x!quant.uniform<i32:f32, 0.25>>) -> tensor<2x2xi32>
  check.expect_eq_const %1, dense<[[6, 4], [22, 16]]> : tensor<2x2xi32>
  %y = stablehlo.constant dense<[[1.0, 0.0], [0.0, 2.0]]> : tensor<2x2xf32>
  %2 = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>) -> tensor<2x2xf32>
  check.expect_eq_const %2, dense<[[1.0, 1.0], [6.0, 4.0]]> : tensor<2x2xf32>
  return
}

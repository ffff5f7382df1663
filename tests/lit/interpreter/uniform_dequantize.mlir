// RUN: torchere-translate --interpret -split-input-file %s

func.func @per_tensor() {
  %x = stablehlo.constant() <{value = dense<[10, 12, -128, 127]> : tensor<4xi8>}> : () -> tensor<4x!quant.uniform<i8:f32, 0.5:10>>
  %0 = stablehlo.uniform_dequantize %x : (tensor<4x!quant.uniform<i8:f32, 0.5:10>>) -> tensor<4xf32>
  check.expect_eq_const %0, dense<[0.0, 1.0, -69.0, 58.5]> : tensor<4xf32>
  return
}

// -----

func.func @per_axis() {
  %x = stablehlo.constant() <{value = dense<[[2, 4], [1, 5]]> : tensor<2x2xi8>}> : () -> tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>
  %0 = stablehlo.uniform_dequantize %x : (tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>) -> tensor<2x2xf32>
  check.expect_eq_const %0, dense<[[1.0, 2.0], [0.0, 1.0]]> : tensor<2x2xf32>
  return
}

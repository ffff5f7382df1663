// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @uniform_dequantize
func.func @uniform_dequantize(%arg0: tensor<?x2x!quant.uniform<i8:f32, 0.1:30>>, %arg1: tensor<2x2x!quant.uniform<i4:bf16:0, {0.25, 0.5}>>) {
  // CHECK: stablehlo.uniform_dequantize %arg0 : (tensor<?x2x!quant.uniform<i8:f32, 1.000000e-01:30>>) -> tensor<?x2xf32>
  %0 = "stablehlo.uniform_dequantize"(%arg0) : (tensor<?x2x!quant.uniform<i8:f32, 0.1:30>>) -> tensor<?x2xf32>
  // CHECK: stablehlo.uniform_dequantize %arg1 {note} : (tensor<2x2x!quant.uniform<i4:bf16:0, {2.500000e-01,5.000000e-01}>>) -> tensor<2x2xbf16>
  %1 = stablehlo.uniform_dequantize %arg1 {note} : (tensor<2x2x!quant.uniform<i4:bf16:0, {0.25, 0.5}>>) -> tensor<2x2xbf16>
  return
}

// -----

func.func @c1(%arg0: tensor<2x2x!quant.uniform<i8:f32, 1.000000e-01:30>>) {
  // expected-error@+2 {{'stablehlo.uniform_dequantize' op inferred type(s) 'tensor<2x2xf32>' are incompatible with return type(s) of operation 'tensor<2x3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.uniform_dequantize %arg0 : (tensor<2x2x!quant.uniform<i8:f32, 1.000000e-01:30>>) -> tensor<2x3xf32>
  return
}

// -----

func.func @c2(%arg0: tensor<2x2x!quant.uniform<i8:f32, 1.000000e-01:30>>) {
  // expected-error@+2 {{'stablehlo.uniform_dequantize' op inferred type(s) 'tensor<2x2xf32>' are incompatible with return type(s) of operation 'tensor<2x2xf64>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.uniform_dequantize %arg0 : (tensor<2x2x!quant.uniform<i8:f32, 1.000000e-01:30>>) -> tensor<2x2xf64>
  return
}

// -----

func.func @operand(%arg0: tensor<2x2xf32>) {
  // expected-error@+1 {{'stablehlo.uniform_dequantize' op operand #0 must be ranked tensor of per-tensor quantized or per-axis quantized values, but got 'tensor<2x2xf32>'}}
  %0 = stablehlo.uniform_dequantize %arg0 : tensor<2x2xf32>
  return
}

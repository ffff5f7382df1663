// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @uniform_quantize
func.func @uniform_quantize(%arg0: tensor<?x2xf32>) {
  // CHECK: stablehlo.uniform_quantize %arg0 : (tensor<?x2xf32>) -> tensor<?x2x!quant.uniform<i8:f32, 1.000000e-01:30>>
  %0 = "stablehlo.uniform_quantize"(%arg0) : (tensor<?x2xf32>) -> tensor<?x2x!quant.uniform<i8:f32, 0.1:30>>
  // Requantization, from one scale to a scale for each column.
  // CHECK: stablehlo.uniform_quantize %0 {note} : (tensor<?x2x!quant.uniform<i8:f32, 1.000000e-01:30>>) -> tensor<?x2x!quant.uniform<i8:f32:1, {1.000000e-01,5.000000e-01:3}>>
  %1 = stablehlo.uniform_quantize %0 {note} : (tensor<?x2x!quant.uniform<i8:f32, 0.1:30>>) -> tensor<?x2x!quant.uniform<i8:f32:1, {0.1, 0.5:3}>>
  // CHECK: stablehlo.uniform_quantize %arg0 : (tensor<?x2xf32>) -> tensor<?x2x!quant.uniform<u8<1:255>:f32, 1.000000e-01:128>>
  %2 = stablehlo.uniform_quantize %arg0 : (tensor<?x2xf32>) -> tensor<?x2x!quant.uniform<u8<1:255>:f32, 0.1:128>>
  return
}

// -----

func.func @c1(%arg0: tensor<2x2xf32>) {
  // expected-error@+1 {{'stablehlo.uniform_quantize' op (C1) shapes of operand and result differ: got 'tensor<2x2xf32>' and 'tensor<2x3x!quant.uniform<i8:f32, 1.000000e-01:30>>'}}
  %0 = stablehlo.uniform_quantize %arg0 : (tensor<2x2xf32>) -> tensor<2x3x!quant.uniform<i8:f32, 1.000000e-01:30>>
  return
}

// -----

func.func @c2(%arg0: tensor<2x2xf64>) {
  // expected-error@+1 {{'stablehlo.uniform_quantize' op (C2) result stands for numbers of type 'f32', operand for 'f64'}}
  %0 = stablehlo.uniform_quantize %arg0 : (tensor<2x2xf64>) -> tensor<2x2x!quant.uniform<i8:f32, 1.000000e-01:30>>
  return
}

// -----

func.func @c2_quantized(%arg0: tensor<2x2x!quant.uniform<i8:bf16, 0.5>>) {
  // expected-error@+1 {{'stablehlo.uniform_quantize' op (C2) result stands for numbers of type 'f32', operand for 'bf16'}}
  %0 = stablehlo.uniform_quantize %arg0 : (tensor<2x2x!quant.uniform<i8:bf16, 0.5>>) -> tensor<2x2x!quant.uniform<i8:f32, 1.000000e-01:30>>
  return
}

// -----

func.func @result(%arg0: tensor<2x2xf32>) {
  // expected-error@+1 {{'stablehlo.uniform_quantize' op result #0 must be ranked tensor of per-tensor quantized or per-axis quantized values, but got 'tensor<2x2xf32>'}}
  %0 = stablehlo.uniform_quantize %arg0 : tensor<2x2xf32>
  return
}

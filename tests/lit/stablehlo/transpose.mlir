// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2x?xf32>) {
  // CHECK: stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x?xf32>) -> tensor<?x2xf32>
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x?xf32>) -> tensor<?x2xf32>
  return
}

// -----

func.func @c1(%arg0: tensor<2xf32>) {
  // expected-error@+2 {{'stablehlo.transpose' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<2xi32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.transpose %arg0, dims = [0] : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @c2_size(%arg0: tensor<2x3xf32>) {
  // expected-error@+2 {{'stablehlo.transpose' op (C2) permutation has the wrong number of elements: got 1, expected 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.transpose %arg0, dims = [0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @c2_range(%arg0: tensor<2x3xf32>) {
  // expected-error@+2 {{'stablehlo.transpose' op (C2) permutation out of range: got 2, expected it in [0, 2)}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.transpose %arg0, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @c2_unique(%arg0: tensor<2x3xf32>) {
  // expected-error@+2 {{'stablehlo.transpose' op (C2) permutation not unique: 1 occurs twice}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.transpose %arg0, dims = [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @c3(%arg0: tensor<2x3xf32>) {
  // expected-error@+2 {{'stablehlo.transpose' op inferred type(s) 'tensor<3x2xf32>' are incompatible with return type(s) of operation 'tensor<2x3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// CHECK-LABEL: func @quantized
func.func @quantized(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, %arg1: tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>) {
  // CHECK: dims = [1, 0] : (tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01:30>>) -> tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01:30>>
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>
  // CHECK: dims = [1, 0] : (tensor<2x2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01:1}>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01:1}>>
  %1 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25:1}>>
  return
}

// -----

func.func @c1_scales(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>) {
  // expected-error@+2 {{'stablehlo.transpose' op inferred type(s) 'tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01:30>>' are incompatible with return type(s) of operation 'tensor<2x2x!quant.uniform<i8:f32, 2.500000e-01>>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.25>>
  return
}

// -----

func.func @c4(%arg0: tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>) {
  // expected-error@+2 {{'stablehlo.transpose' op inferred type(s) 'tensor<2x2x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01:1}>>' are incompatible with return type(s) of operation 'tensor<2x2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01:1}>>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>
  return
}

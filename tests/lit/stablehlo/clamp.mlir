// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2xf32>, %arg1: tensor<f32>) {
  // CHECK: stablehlo.clamp %arg0, %arg0, %arg0 : tensor<2xf32>
  %0 = stablehlo.clamp %arg0, %arg0, %arg0 : tensor<2xf32>
  // CHECK: stablehlo.clamp %arg1, %arg0, %arg1 : (tensor<f32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = stablehlo.clamp %arg1, %arg0, %arg1 : (tensor<f32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @c1_min(%arg0: tensor<2xf32>, %arg1: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.clamp' op (C1) min is neither a scalar nor of the shape of operand: got 'tensor<3xf32>' and 'tensor<2xf32>'}}
  %0 = stablehlo.clamp %arg1, %arg0, %arg0 : (tensor<3xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @c2_max(%arg0: tensor<2xf32>, %arg1: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.clamp' op (C2) max is neither a scalar nor of the shape of operand: got 'tensor<3xf32>' and 'tensor<2xf32>'}}
  %0 = stablehlo.clamp %arg0, %arg0, %arg1 : (tensor<2xf32>, tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @c3_element_types(%arg0: tensor<2xf32>, %arg1: tensor<i32>) {
  // expected-error@+1 {{'stablehlo.clamp' op (C3) element types of min and operand differ: got 'i32' and 'f32'}}
  %0 = stablehlo.clamp %arg1, %arg0, %arg0 : (tensor<i32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @c4_result(%arg0: tensor<2xf32>) {
  // expected-error@+2 {{'stablehlo.clamp' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.clamp %arg0, %arg0, %arg0 : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

// CHECK-LABEL: func @quantized
func.func @quantized(%arg0: tensor<!quant.uniform<i8:f32, 0.25>>, %arg1: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>) {
  // CHECK: stablehlo.clamp %arg0, %arg1, %arg0 : (tensor<!quant.uniform<i8:f32, 2.500000e-01>>, tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01:30>>, tensor<!quant.uniform<i8:f32, 2.500000e-01>>) -> tensor<2x2x!quant.uniform<i8:f32, 2.500000e-01>>
  %0 = stablehlo.clamp %arg0, %arg1, %arg0 : (tensor<!quant.uniform<i8:f32, 0.25>>, tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, tensor<!quant.uniform<i8:f32, 0.25>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.25>>
  return
}

// -----

func.func @c3_quantized(%arg0: tensor<f32>, %arg1: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>) {
  // expected-error@+1 {{'stablehlo.clamp' op (C3) element types of min and operand differ: got 'f32' and '!quant.uniform<i8:f32, 5.000000e-01:30>'}}
  %0 = stablehlo.clamp %arg0, %arg1, %arg0 : (tensor<f32>, tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, tensor<f32>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>
  return
}

// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2x?xf32>, %arg1: tensor<f32>) {
  // CHECK: stablehlo.pad %arg0, %arg1, low = [0, 1], high = [2, 1], interior = [1, 0] : (tensor<2x?xf32>, tensor<f32>) -> tensor<5x?xf32>
  %0 = stablehlo.pad %arg0, %arg1, low = [0, 1], high = [2, 1], interior = [1, 0] : (tensor<2x?xf32>, tensor<f32>) -> tensor<5x?xf32>
  // CHECK: stablehlo.pad %arg0, %arg1, low = [-1, 0], high = [-1, 0], interior = [0, 0] : (tensor<2x?xf32>, tensor<f32>) -> tensor<0x?xf32>
  %1 = stablehlo.pad %arg0, %arg1, low = [-1, 0], high = [-1, 0], interior = [0, 0] : (tensor<2x?xf32>, tensor<f32>) -> tensor<0x?xf32>
  return
}

// -----

func.func @c1(%arg0: tensor<2xf32>, %arg1: tensor<i32>) {
  // expected-error@+2 {{'stablehlo.pad' op (C1) element types of operand and padding_value differ: got 'f32' and 'i32'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.pad %arg0, %arg1, low = [0], high = [0], interior = [0] : (tensor<2xf32>, tensor<i32>) -> tensor<2xf32>
  return
}

// -----

func.func @c2_low(%arg0: tensor<2xf32>, %arg1: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.pad' op (C2) edge_padding_low has the wrong number of elements: got 2, expected 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.pad %arg0, %arg1, low = [0, 0], high = [0], interior = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @c2_high(%arg0: tensor<2xf32>, %arg1: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.pad' op (C2) edge_padding_high has the wrong number of elements: got 0, expected 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.pad %arg0, %arg1, low = [0], high = [], interior = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @c2_interior(%arg0: tensor<2xf32>, %arg1: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.pad' op (C2) interior_padding has the wrong number of elements: got 2, expected 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.pad %arg0, %arg1, low = [0], high = [0], interior = [0, 0] : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @c3(%arg0: tensor<2xf32>, %arg1: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.pad' op (C3) interior_padding too small: got -1, expected at least 0}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.pad %arg0, %arg1, low = [0], high = [0], interior = [-1] : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @c4_negative(%arg0: tensor<2xf32>, %arg1: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.pad' op (C4) result dimension 0 would have the negative size -1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.pad %arg0, %arg1, low = [-3], high = [0], interior = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @c4(%arg0: tensor<2xf32>, %arg1: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.pad' op inferred type(s) 'tensor<6xf32>' are incompatible with return type(s) of operation 'tensor<5xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.pad %arg0, %arg1, low = [1], high = [2], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<5xf32>
  return
}

// -----

func.func @c4_overflow(%arg0: tensor<3xf32>, %arg1: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.pad' op (C4) size of result dimension 0 lies beyond the range of int64}}
  // expected-error@+1 {{'stablehlo.pad' op failed to infer returned types}}
  %0 = stablehlo.pad %arg0, %arg1, low = [9223372036854775807], high = [1], interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<?xf32>
  return
}

// -----

func.func @c4_interior_overflow(%arg0: tensor<3xf32>, %arg1: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.pad' op (C4) size of result dimension 0 lies beyond the range of int64}}
  // expected-error@+1 {{'stablehlo.pad' op failed to infer returned types}}
  %0 = stablehlo.pad %arg0, %arg1, low = [0], high = [0], interior = [9223372036854775807] : (tensor<3xf32>, tensor<f32>) -> tensor<?xf32>
  return
}

// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2xf32>, %arg1: tensor<f32>, %arg2: tensor<1xi64>) {
  // CHECK: stablehlo.dynamic_pad %arg0, %arg1, %arg2, %arg2, %arg2 : (tensor<2xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  %0 = stablehlo.dynamic_pad %arg0, %arg1, %arg2, %arg2, %arg2 : (tensor<2xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @c1(%arg0: tensor<2xf32>, %arg1: tensor<i32>, %arg2: tensor<1xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_pad' op (C1) element types of padding_value and result differ: got 'i32' and 'f32'}}
  %0 = stablehlo.dynamic_pad %arg0, %arg1, %arg2, %arg2, %arg2 : (tensor<2xf32>, tensor<i32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @c2(%arg0: tensor<2xf32>, %arg1: tensor<f32>, %arg2: tensor<1xi64>, %arg3: tensor<2xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_pad' op (C2) edge_padding_high has the wrong number of elements: got 2, expected 1}}
  %0 = stablehlo.dynamic_pad %arg0, %arg1, %arg2, %arg3, %arg2 : (tensor<2xf32>, tensor<f32>, tensor<1xi64>, tensor<2xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @c4(%arg0: tensor<2xf32>, %arg1: tensor<f32>, %arg2: tensor<1xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_pad' op (C4) ranks of operand and result differ: got 1 and 2}}
  %0 = stablehlo.dynamic_pad %arg0, %arg1, %arg2, %arg2, %arg2 : (tensor<2xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @vector_types(%arg0: tensor<2xf32>, %arg1: tensor<f32>, %arg2: tensor<1xi64>, %arg3: tensor<1xi32>) {
  // expected-error@+1 {{'stablehlo.dynamic_pad' op types of edge_padding_low, edge_padding_high and interior_padding differ: got 'tensor<1xi64>', 'tensor<1xi32>', 'tensor<1xi64>'}}
  %0 = stablehlo.dynamic_pad %arg0, %arg1, %arg2, %arg3, %arg2 : (tensor<2xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi32>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @vector_length(%arg0: tensor<2xf32>, %arg1: tensor<f32>, %arg2: tensor<?xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_pad' op operand #2 must be statically shaped 1-dimensional tensor of index or integer values, but got 'tensor<?xi64>'}}
  %0 = stablehlo.dynamic_pad %arg0, %arg1, %arg2, %arg2, %arg2 : (tensor<2xf32>, tensor<f32>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>) -> tensor<?xf32>
  return
}

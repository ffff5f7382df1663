// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @forms
func.func @forms(%arg0: tensor<3xi1>, %arg1: tensor<f32>, %arg2: tensor<?x3xf32>, %arg3: tensor<i1>, %arg4: tensor<2x1xf32>) {
  // CHECK: chlo.broadcast_select %arg0, %arg1, %arg2 : (tensor<3xi1>, tensor<f32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %0 = chlo.broadcast_select %arg0, %arg1, %arg2 : (tensor<3xi1>, tensor<f32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  // CHECK: chlo.broadcast_select %arg3, %arg4, %arg4 {note = "kept"} : (tensor<i1>, tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  %1 = "chlo.broadcast_select"(%arg3, %arg4, %arg4) {note = "kept"} : (tensor<i1>, tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  // CHECK: chlo.broadcast_select %arg0, %arg4, %arg1 : (tensor<3xi1>, tensor<2x1xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = chlo.broadcast_select %arg0, %arg4, %arg1 : (tensor<3xi1>, tensor<2x1xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pred(%arg0: tensor<3xi32>) {
  // expected-error@+1 {{'chlo.broadcast_select' op operand #0 must be ranked tensor of boolean values, but got 'tensor<3xi32>'}}
  %0 = chlo.broadcast_select %arg0, %arg0, %arg0 : (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  return
}

// -----

func.func @element_types(%arg0: tensor<3xi1>, %arg1: tensor<3xf32>, %arg2: tensor<3xf64>) {
  // expected-error@+2 {{'chlo.broadcast_select' op element types of on_true and on_false differ: got 'f32' and 'f64'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_select %arg0, %arg1, %arg2 : (tensor<3xi1>, tensor<3xf32>, tensor<3xf64>) -> tensor<3xf32>
  return
}

// -----

func.func @sizes(%arg0: tensor<2xi1>, %arg1: tensor<3xf32>) {
  // expected-error@+2 {{'chlo.broadcast_select' op operands do not broadcast: dimension 0 of the result has 2 elements in one and 3 in another}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_select %arg0, %arg1, %arg1 : (tensor<2xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @result(%arg0: tensor<3xi1>, %arg1: tensor<3xf32>) {
  // expected-error@+2 {{'chlo.broadcast_select' op inferred type(s) 'tensor<3xf32>' are incompatible with return type(s) of operation 'tensor<4xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_select %arg0, %arg1, %arg1 : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

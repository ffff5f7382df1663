// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<?x?xi8>) {
  // CHECK: stablehlo.dot %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  // CHECK: stablehlo.dot %arg1, %arg1, precision = [HIGH, DEFAULT] {note = 1 : i64} : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %1 = stablehlo.dot %arg1, %arg1, precision = [HIGH, DEFAULT] {note = 1 : i64} : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  // CHECK: stablehlo.dot %arg2, %arg2, precision = [] : (tensor<?x?xi8>, tensor<?x?xi8>) -> tensor<?x4xi32>
  %2 = "stablehlo.dot"(%arg2, %arg2) <{precision_config = []}> : (tensor<?x?xi8>, tensor<?x?xi8>) -> tensor<?x4xi32>
  return
}

// -----

func.func @ranks(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.dot' op ranks of lhs and rhs: got 'tensor<2x3xf32>' and 'tensor<f32>', expected 1 or 2}}
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @contracting(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.dot' op contracting dimensions differ in size: lhs dimension 1 has 3, rhs dimension 0 has 2}}
  %0 = stablehlo.dot %arg0, %arg0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @result(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.dot' op result has the wrong shape: got 'tensor<2x1xf32>', expected 'tensor<2xf32>'}}
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @precision(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) {
  // expected-error@+1 {{custom op 'stablehlo.dot' unknown precision 'BEST'}}
  %0 = stablehlo.dot %arg0, %arg1, precision = [BEST] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

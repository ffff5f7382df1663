// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @forms
func.func @forms(%arg0: tensor<5xf32>, %arg1: tensor<?x4xi32>, %arg2: tensor<?xf32>) {
  // CHECK: %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<5xf32> -> (tensor<2xf32>, tensor<2xi32>)
  %0:2 = chlo.top_k(%arg0, k = 2) : tensor<5xf32> -> (tensor<2xf32>, tensor<2xi32>)
  // CHECK: chlo.top_k(%arg1, k = 4) {note = "kept"} : tensor<?x4xi32> -> (tensor<?x4xi32>, tensor<?x4xi32>)
  %1:2 = "chlo.top_k"(%arg1) {k = 4 : i64, note = "kept"} : (tensor<?x4xi32>) -> (tensor<?x4xi32>, tensor<?x4xi32>)
  // CHECK: chlo.top_k(%arg2, k = 3) : tensor<?xf32> -> (tensor<3xf32>, tensor<3xi32>)
  %2:2 = chlo.top_k(%arg2, k = 3) : tensor<?xf32> -> (tensor<3xf32>, tensor<3xi32>)
  return
}

// -----

func.func @scalar(%arg0: tensor<f32>) {
  // expected-error@+2 {{'chlo.top_k' op operand is a scalar, expected at least one dimension}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = chlo.top_k(%arg0, k = 1) : tensor<f32> -> (tensor<1xf32>, tensor<1xi32>)
  return
}

// -----

func.func @negative(%arg0: tensor<3xf32>) {
  // expected-error@+2 {{'chlo.top_k' op k too small: got -1, expected at least 0}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = chlo.top_k(%arg0, k = -1) : tensor<3xf32> -> (tensor<1xf32>, tensor<1xi32>)
  return
}

// -----

func.func @too_few(%arg0: tensor<3xf32>) {
  // expected-error@+2 {{'chlo.top_k' op operand's last dimension too small: got 3, expected at least 4}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = chlo.top_k(%arg0, k = 4) : tensor<3xf32> -> (tensor<4xf32>, tensor<4xi32>)
  return
}

// -----

func.func @index_type(%arg0: tensor<3xf32>) {
  // expected-error@+2 {{'chlo.top_k' op inferred type(s) 'tensor<2xf32>', 'tensor<2xi32>' are incompatible with return type(s) of operation 'tensor<2xf32>', 'tensor<2xi64>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = chlo.top_k(%arg0, k = 2) : tensor<3xf32> -> (tensor<2xf32>, tensor<2xi64>)
  return
}

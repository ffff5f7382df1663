// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2x3xf32>, %arg1: tensor<?xi1>) {
  // CHECK: stablehlo.broadcast %arg0, sizes = [4, 5] : (tensor<2x3xf32>) -> tensor<4x5x2x3xf32>
  %0 = stablehlo.broadcast %arg0, sizes = [4, 5] : (tensor<2x3xf32>) -> tensor<4x5x2x3xf32>
  // CHECK: stablehlo.broadcast %arg1, sizes = [0] {note = 1 : i64} : (tensor<?xi1>) -> tensor<0x?xi1>
  %1 = stablehlo.broadcast %arg1, sizes = [0] {note = 1 : i64} : (tensor<?xi1>) -> tensor<0x?xi1>
  // CHECK: stablehlo.broadcast %arg0, sizes = [] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "stablehlo.broadcast"(%arg0) {broadcast_sizes = array<i64>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @sizes(%arg0: tensor<2x3xf32>) {
  // expected-error@+2 {{'stablehlo.broadcast' op broadcast_sizes too small: got -4, expected at least 0}}
  // expected-error@+1 {{'stablehlo.broadcast' op failed to infer returned types}}
  %0 = stablehlo.broadcast %arg0, sizes = [-4] : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  return
}

// -----

func.func @result(%arg0: tensor<2x3xf32>) {
  // expected-error@+2 {{'stablehlo.broadcast' op inferred type(s) 'tensor<4x2x3xf32>' are incompatible with return type(s) of operation 'tensor<5x2x3xf32>'}}
  // expected-error@+1 {{'stablehlo.broadcast' op failed to infer returned types}}
  %0 = stablehlo.broadcast %arg0, sizes = [4] : (tensor<2x3xf32>) -> tensor<5x2x3xf32>
  return
}

// -----

func.func @result_element_type(%arg0: tensor<2x3xf32>) {
  // expected-error@+2 {{'stablehlo.broadcast' op inferred type(s) 'tensor<4x2x3xf32>' are incompatible with return type(s) of operation 'tensor<4x2x3xf64>'}}
  // expected-error@+1 {{'stablehlo.broadcast' op failed to infer returned types}}
  %0 = stablehlo.broadcast %arg0, sizes = [4] : (tensor<2x3xf32>) -> tensor<4x2x3xf64>
  return
}

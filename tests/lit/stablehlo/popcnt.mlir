// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%0: tensor<2x3xi32>, %1: tensor<2x3xui8>) {
  // CHECK: stablehlo.popcnt %arg0 : tensor<2x3xi32>
  %r0 = stablehlo.popcnt %0 : tensor<2x3xi32>
  // CHECK: stablehlo.popcnt %arg1 : tensor<2x3xui8>
  %r1 = stablehlo.popcnt %1 : tensor<2x3xui8>
  return
}

// CHECK-LABEL: func @shapes
func.func @shapes(%arg0: tensor<?x3xi32>, %arg1: tensor<i32>, %arg2: tensor<0xi32>) {
  // CHECK: stablehlo.popcnt %arg0 : (tensor<?x3xi32>) -> tensor<2x?xi32>
  %0 = stablehlo.popcnt %arg0 : (tensor<?x3xi32>) -> tensor<2x?xi32>
  // CHECK: stablehlo.popcnt %arg1 {note = "kept"} : tensor<i32>
  %1 = stablehlo.popcnt %arg1 {note = "kept"} : tensor<i32>
  // CHECK: stablehlo.popcnt %arg2 : tensor<0xi32>
  %2 = "stablehlo.popcnt"(%arg2) : (tensor<0xi32>) -> tensor<0xi32>
  return
}

// -----

func.func @element_type(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.popcnt' op operand #0 must be ranked tensor of integer values, but got 'tensor<2xf32>'}}
  %0 = stablehlo.popcnt %arg0 : tensor<2xf32>
  return
}

// -----

func.func @c1_result(%arg0: tensor<2xi32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'stablehlo.popcnt' op inferred type(s) 'tensor<2xi32>' are incompatible with return type(s) of operation 'tensor<3xi32>'}}
  %0 = stablehlo.popcnt %arg0 : (tensor<2xi32>) -> tensor<3xi32>
  return
}

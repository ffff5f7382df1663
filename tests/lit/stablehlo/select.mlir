// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2xi1>, %arg1: tensor<2xf32>, %arg2: tensor<i1>, %arg3: tensor<?xf32>) {
  // CHECK: stablehlo.select %arg0, %arg1, %arg1 : tensor<2xi1>, tensor<2xf32>
  %0 = stablehlo.select %arg0, %arg1, %arg1 : tensor<2xi1>, tensor<2xf32>
  // CHECK: stablehlo.select %arg2, %arg1, %arg1 : tensor<i1>, tensor<2xf32>
  %1 = stablehlo.select %arg2, %arg1, %arg1 : tensor<i1>, tensor<2xf32>
  // CHECK: stablehlo.select %arg2, %arg1, %arg3 : (tensor<i1>, tensor<2xf32>, tensor<?xf32>) -> tensor<2xf32>
  %2 = stablehlo.select %arg2, %arg1, %arg3 : (tensor<i1>, tensor<2xf32>, tensor<?xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @c1_pred(%arg0: tensor<3xi1>, %arg1: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.select' op (C1) pred is neither a scalar nor of the shape of on_true: got 'tensor<3xi1>' and 'tensor<2xf32>'}}
  %0 = stablehlo.select %arg0, %arg1, %arg1 : tensor<3xi1>, tensor<2xf32>
  return
}

// -----

func.func @c2_types(%arg0: tensor<i1>, %arg1: tensor<2xf32>, %arg2: tensor<2xi32>) {
  // expected-error@+2 {{'stablehlo.select' op (C2) types of on_true and on_false differ: got 'tensor<2xf32>' and 'tensor<2xi32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.select %arg0, %arg1, %arg2 : (tensor<i1>, tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @c2_result(%arg0: tensor<i1>, %arg1: tensor<2xf32>) {
  // expected-error@+2 {{'stablehlo.select' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.select %arg0, %arg1, %arg1 : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @types(%arg0: tensor<i1>, %arg1: tensor<2xf32>) {
  // expected-error@+1 {{expected two types, or a function type of three operands and one result}}
  %0 = stablehlo.select %arg0, %arg1, %arg1 : tensor<2xf32>
  return
}

// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%0: tensor<2x3xi1>, %1: tensor<2x3xui64>) {
  // CHECK: stablehlo.not %arg0 : tensor<2x3xi1>
  %r0 = stablehlo.not %0 : tensor<2x3xi1>
  // CHECK: stablehlo.not %arg1 : tensor<2x3xui64>
  %r1 = stablehlo.not %1 : tensor<2x3xui64>
  return
}

// CHECK-LABEL: func @shapes
func.func @shapes(%arg0: tensor<?x3xi1>, %arg1: tensor<i1>, %arg2: tensor<0xi1>) {
  // CHECK: stablehlo.not %arg0 : (tensor<?x3xi1>) -> tensor<2x?xi1>
  %0 = stablehlo.not %arg0 : (tensor<?x3xi1>) -> tensor<2x?xi1>
  // CHECK: stablehlo.not %arg1 {note = "kept"} : tensor<i1>
  %1 = stablehlo.not %arg1 {note = "kept"} : tensor<i1>
  // CHECK: stablehlo.not %arg2 : tensor<0xi1>
  %2 = "stablehlo.not"(%arg2) : (tensor<0xi1>) -> tensor<0xi1>
  return
}

// -----

func.func @element_type(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.not' op operand #0 must be ranked tensor of boolean or integer values, but got 'tensor<2xf32>'}}
  %0 = stablehlo.not %arg0 : tensor<2xf32>
  return
}

// -----

func.func @c1_result(%arg0: tensor<2xi1>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'stablehlo.not' op inferred type(s) 'tensor<2xi1>' are incompatible with return type(s) of operation 'tensor<3xi1>'}}
  %0 = stablehlo.not %arg0 : (tensor<2xi1>) -> tensor<3xi1>
  return
}

// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @async_done
func.func @async_done(%arg0: !stablehlo.future<tensor<2x?xf32>>) {
  // CHECK: "stablehlo.async_done"(%arg0) : (!stablehlo.future<tensor<2x?xf32>>) -> tensor<2x?xf32>
  %0 = "stablehlo.async_done"(%arg0) : (!stablehlo.future<tensor<2x?xf32>>) -> tensor<2x?xf32>
  // CHECK: "stablehlo.async_done"(%arg0) {note} : (!stablehlo.future<tensor<2x?xf32>>) -> tensor<2x?xf32>
  %1 = "stablehlo.async_done"(%arg0) {note} : (!stablehlo.future<tensor<2x?xf32>>) -> tensor<2x?xf32>
  return
}

// -----

func.func @one(%arg0: !stablehlo.future<tensor<2xf32>, tensor<f32>>) {
  // expected-error@+2 {{'stablehlo.async_done' op future has the wrong number of elements: got 2, expected 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.async_done"(%arg0) : (!stablehlo.future<tensor<2xf32>, tensor<f32>>) -> tensor<2xf32>
  return
}

// -----

func.func @operand(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.async_done' op operand #0 must be future, but got 'tensor<4x8xf32>'}}
  %0 = "stablehlo.async_done"(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @result(%arg0: !stablehlo.future<tensor<2xf32>>) {
  // expected-error@+2 {{'stablehlo.async_done' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.async_done"(%arg0) : (!stablehlo.future<tensor<2xf32>>) -> tensor<3xf32>
  return
}

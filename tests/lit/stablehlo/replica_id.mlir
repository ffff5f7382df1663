// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @replica_id
func.func @replica_id() {
  // CHECK: stablehlo.replica_id : tensor<ui32>
  %0 = "stablehlo.replica_id"() : () -> tensor<ui32>
  // CHECK: stablehlo.replica_id {note} : tensor<ui32>
  %1 = stablehlo.replica_id {note} : tensor<ui32>
  return
}

// -----

func.func @element() {
  // expected-error@+1 {{'stablehlo.replica_id' op result #0 must be ranked tensor of 32-bit unsigned integer values, but got 'tensor<i32>'}}
  %0 = stablehlo.replica_id : tensor<i32>
  return
}

// -----

func.func @shape() {
  // expected-error@+2 {{'stablehlo.replica_id' op inferred type(s) 'tensor<ui32>' are incompatible with return type(s) of operation 'tensor<1xui32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.replica_id : tensor<1xui32>
  return
}

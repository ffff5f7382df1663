// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @cross_replica_sum
func.func @cross_replica_sum(%arg0: tensor<4x8xf32>) {
  // CHECK: "stablehlo.cross-replica-sum"(%arg0) <{replica_groups = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi64>}> {note} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = "stablehlo.cross-replica-sum"(%arg0) {note, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @type(%arg0: tensor<4x8xf32>) {
  // expected-error@+2 {{'stablehlo.cross-replica-sum' op inferred type(s) 'tensor<4x8xf32>' are incompatible with return type(s) of operation 'tensor<4x9xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.cross-replica-sum"(%arg0) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x9xf32>
  return
}

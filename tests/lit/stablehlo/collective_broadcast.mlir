// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @collective_broadcast
func.func @collective_broadcast(%arg0: tensor<4x8xf32>) {
  // CHECK: "stablehlo.collective_broadcast"(%arg0) <{replica_groups = dense<{{\[\[}}2, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = "stablehlo.collective_broadcast"(%arg0) {replica_groups = dense<[[2, 1]]> : tensor<1x2xi64>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: "stablehlo.collective_broadcast"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi64>}> {note} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "stablehlo.collective_broadcast"(%arg0) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>}> {note} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @c1(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.collective_broadcast' op (C1) replica_groups not unique: 1 occurs twice}}
  %0 = "stablehlo.collective_broadcast"(%arg0) <{replica_groups = dense<[[0, 1], [1, 3]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @c2(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.collective_broadcast' op (C2) replica_groups too small: got -1, expected at least 0}}
  %0 = "stablehlo.collective_broadcast"(%arg0) <{replica_groups = dense<[[0, -1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @c3(%arg0: tensor<4x8xf32>) {
  // expected-error@+2 {{'stablehlo.collective_broadcast' op inferred type(s) 'tensor<4x8xf32>' are incompatible with return type(s) of operation 'tensor<4x9xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.collective_broadcast"(%arg0) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x9xf32>
  return
}

// -----

// Since StableHLO 1.20.0.
// CHECK-LABEL: func @roots
func.func @roots(%arg0: tensor<4x8xf32>, %arg1: tensor<2xi64>, %arg2: tensor<2xi32>) {
  // CHECK: "stablehlo.collective_broadcast"(%arg0, %arg1, %arg2) <{has_dynamic_root, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>, tensor<2xi64>, tensor<2xi32>) -> (tensor<4x8xf32>, tensor<2xi64>)
  %0:2 = "stablehlo.collective_broadcast"(%arg0, %arg1, %arg2) <{has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>, tensor<2xi64>, tensor<2xi32>) -> (tensor<4x8xf32>, tensor<2xi64>)
  return
}

// -----

func.func @no_operands() {
  // expected-error@+1 {{'stablehlo.collective_broadcast' op no operands: expected at least one}}
  "stablehlo.collective_broadcast"() <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : () -> ()
  return
}

// -----

func.func @no_roots(%arg0: tensor<1xi32>) {
  // expected-error@+1 {{'stablehlo.collective_broadcast' op has_dynamic_root needs operands, then their roots: got 1 in all}}
  "stablehlo.collective_broadcast"(%arg0) <{has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<1xi32>) -> ()
  return
}

// -----

func.func @root_type(%arg0: tensor<4x8xf32>, %arg1: tensor<1xi64>) {
  // expected-error@+1 {{'stablehlo.collective_broadcast' op roots of has_dynamic_root: got 'tensor<1xi64>', expected tensor<1xi32>}}
  %0 = "stablehlo.collective_broadcast"(%arg0, %arg1) <{has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4x8xf32>
  return
}

// -----

func.func @root_count(%arg0: tensor<4x8xf32>, %arg1: tensor<2xi32>) {
  // expected-error@+1 {{'stablehlo.collective_broadcast' op roots of has_dynamic_root: got 'tensor<2xi32>', expected tensor<1xi32>}}
  %0 = "stablehlo.collective_broadcast"(%arg0, %arg1) <{has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>, tensor<2xi32>) -> tensor<4x8xf32>
  return
}

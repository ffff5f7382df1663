// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// Since StableHLO 1.19.0.
// CHECK-LABEL: func @collective_reduce
func.func @collective_reduce(%arg0: tensor<4x8xf32>, %arg1: tensor<?xf32>, %arg2: tensor<2xi32>) {
  // CHECK: "stablehlo.collective_reduce"(%arg0) <{replica_groups = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi64>}> ({
  // CHECK-NEXT: ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
  // CHECK: stablehlo.return
  // CHECK: }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = "stablehlo.collective_reduce"(%arg0) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: "stablehlo.collective_reduce"(%arg0, %arg1, %arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, has_dynamic_root, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  // CHECK: }) {note} : (tensor<4x8xf32>, tensor<?xf32>, tensor<2xi32>) -> (tensor<4x8xf64>, tensor<?xf64>)
  %1:2 = "stablehlo.collective_reduce"(%arg0, %arg1, %arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %sum = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %sum : tensor<f64>
  }) {note} : (tensor<4x8xf32>, tensor<?xf32>, tensor<2xi32>) -> (tensor<4x8xf64>, tensor<?xf64>)
  return
}

// -----

func.func @c1(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.collective_reduce' op (C1) replica_groups not unique: 1 occurs twice}}
  %0 = "stablehlo.collective_reduce"(%arg0) <{replica_groups = dense<[[0, 1], [1, 3]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @c3(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.collective_reduce' op (C3) replica_groups out of range: got 3, expected it in [0, 3)}}
  %0 = "stablehlo.collective_reduce"(%arg0) <{replica_groups = dense<[[0, 1], [3, -1]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @c4(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.collective_reduce' op (C4) use_global_device_ids needs a positive channel id, got 0}}
  %0 = "stablehlo.collective_reduce"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @c5(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.collective_reduce' op (C5) body returns 'tensor<f16>' for an input of element type 'f32', expected a scalar tensor of it or a wider one}}
  %0 = "stablehlo.collective_reduce"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    stablehlo.return %a : tensor<f16>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf16>
  return
}

// -----

func.func @roots(%arg0: tensor<4x8xf32>, %arg1: tensor<i32>) {
  // expected-error@+1 {{'stablehlo.collective_reduce' op roots of has_dynamic_root: got 'tensor<i32>', expected tensor<1xi32>}}
  %0 = "stablehlo.collective_reduce"(%arg0, %arg1) <{has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @result(%arg0: tensor<4x8xf32>) {
  // expected-error@+2 {{'stablehlo.collective_reduce' op inferred type(s) 'tensor<4x8xf32>' are incompatible with return type(s) of operation 'tensor<4x9xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.collective_reduce"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x9xf32>
  return
}

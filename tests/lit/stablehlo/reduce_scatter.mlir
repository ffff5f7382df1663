// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @reduce_scatter
func.func @reduce_scatter(%arg0: tensor<4x8xf32>) {
  // CHECK: "stablehlo.reduce_scatter"(%arg0) <{replica_groups = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi64>, scatter_dimension = 1 : i64}> ({
  // CHECK: }) : (tensor<4x8xf32>) -> tensor<4x4xf32>
  %0 = "stablehlo.reduce_scatter"(%arg0) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, scatter_dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x4xf32>
  // CHECK: "stablehlo.reduce_scatter"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
  // CHECK: }) : (tensor<4x8xf32>) -> tensor<4x4xf64>
  %1 = "stablehlo.reduce_scatter"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids, scatter_dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %sum = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %sum : tensor<f64>
  }) : (tensor<4x8xf32>) -> tensor<4x4xf64>
  // CHECK: }) : (tensor<4x8xf32>) -> tensor<1x?xf32>
  %2 = "stablehlo.reduce_scatter"(%arg0) <{replica_groups = dense<> : tensor<0x0xi64>, scatter_dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<1x?xf32>
  return
}

// -----

// (C1) and how many processes (C8) counts are not checked, as upstream does not.
// CHECK-LABEL: func @as_published
func.func @as_published(%arg0: tensor<16xf32>) {
  // CHECK: (tensor<16xf32>) -> tensor<16xf32>
  %0 = "stablehlo.reduce_scatter"(%arg0) <{replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>, scatter_dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<16xf32>) -> tensor<16xf32>
  return
}

// -----

func.func @c2(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.reduce_scatter' op (C2) scatter_dimension out of range: got 2, expected it in [0, 2)}}
  %0 = "stablehlo.reduce_scatter"(%arg0) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, scatter_dimension = 2 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @c3(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.reduce_scatter' op (C3) replica_groups not unique: 1 occurs twice}}
  %0 = "stablehlo.reduce_scatter"(%arg0) <{replica_groups = dense<[[0, 1], [1, 3]]> : tensor<2x2xi64>, scatter_dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @c5(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.reduce_scatter' op (C5) replica_groups out of range: got 4, expected it in [0, 4)}}
  %0 = "stablehlo.reduce_scatter"(%arg0) <{replica_groups = dense<[[0, 1], [2, 4]]> : tensor<2x2xi64>, scatter_dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @c6(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.reduce_scatter' op (C6) use_global_device_ids needs a positive channel id, got 0}}
  %0 = "stablehlo.reduce_scatter"(%arg0) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids, scatter_dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @c7(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.reduce_scatter' op (C7) body returns 'tensor<f16>' for an input of element type 'f32', expected a scalar tensor of it or a wider one}}
  %0 = "stablehlo.reduce_scatter"(%arg0) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, scatter_dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    %sum = stablehlo.add %a, %b : tensor<f16>
    stablehlo.return %sum : tensor<f16>
  }) : (tensor<4x8xf32>) -> tensor<4x4xf16>
  return
}

// -----

func.func @c8(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.reduce_scatter' op (C8) sizes do not divide: 'tensor<4x8xf32>' is not made of 'tensor<4x3xf32>' along dimension 1}}
  %0 = "stablehlo.reduce_scatter"(%arg0) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, scatter_dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @c8_shape(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.reduce_scatter' op (C8) shapes differ in dimension 0: 'tensor<4x8xf32>' is not made of 'tensor<2x4xf32>' along dimension 1}}
  %0 = "stablehlo.reduce_scatter"(%arg0) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, scatter_dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @c9(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.reduce_scatter' op (C9) result's element type is 'f64', expected the computation's 'f32'}}
  %0 = "stablehlo.reduce_scatter"(%arg0) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, scatter_dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x4xf64>
  return
}

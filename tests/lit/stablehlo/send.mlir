// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @send
func.func @send(%arg0: tensor<4x8xf32>, %arg1: !stablehlo.token) {
  // CHECK: "stablehlo.send"(%arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>}> : (tensor<4x8xf32>, !stablehlo.token) -> !stablehlo.token
  %0 = "stablehlo.send"(%arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>}> : (tensor<4x8xf32>, !stablehlo.token) -> !stablehlo.token
  // CHECK: "stablehlo.send"(%arg0, %arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}> {note} : (tensor<4x8xf32>, tensor<4x8xf32>, !stablehlo.token) -> !stablehlo.token
  %1 = "stablehlo.send"(%arg0, %arg0, %arg1) {note, channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true} : (tensor<4x8xf32>, tensor<4x8xf32>, !stablehlo.token) -> !stablehlo.token
  // CHECK: "stablehlo.send"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, is_host_transfer = false, source_target_pairs = dense<{{\[\[}}0, 1], [1, 2]]> : tensor<2x2xi64>}> : (!stablehlo.token) -> !stablehlo.token
  %2 = "stablehlo.send"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : (!stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @matrix(%arg0: tensor<4x8xf32>, %arg1: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.send' op source_target_pairs is 'tensor<2xi64>', expected a matrix}}
  %0 = "stablehlo.send"(%arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, source_target_pairs = dense<[0, 1]> : tensor<2xi64>}> : (tensor<4x8xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @c1(%arg0: tensor<4x8xf32>, %arg1: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.send' op (C1) source_target_pairs has 3 columns, expected 2}}
  %0 = "stablehlo.send"(%arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> : (tensor<4x8xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @c2(%arg0: tensor<4x8xf32>, %arg1: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.send' op (C2) sources of source_target_pairs not unique: 0 occurs twice}}
  %0 = "stablehlo.send"(%arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @c3(%arg0: tensor<4x8xf32>, %arg1: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.send' op (C3) targets of source_target_pairs not unique: 1 occurs twice}}
  %0 = "stablehlo.send"(%arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @c4(%arg0: tensor<4x8xf32>, %arg1: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.send' op (C4) source_target_pairs too small: got -1, expected at least 0}}
  %0 = "stablehlo.send"(%arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @c5(%arg0: tensor<4x8xf32>, %arg1: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.send' op (C5) channel type is 2, expected 1 (DEVICE_TO_DEVICE) when is_host_transfer is false}}
  %0 = "stablehlo.send"(%arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>}> : (tensor<4x8xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @c5_host(%arg0: tensor<4x8xf32>, %arg1: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.send' op (C5) channel type is 3, expected 2 (DEVICE_TO_HOST) when is_host_transfer is true}}
  %0 = "stablehlo.send"(%arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true}> : (tensor<4x8xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

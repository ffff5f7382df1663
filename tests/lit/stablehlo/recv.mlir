// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @recv
func.func @recv(%arg0: !stablehlo.token) {
  // CHECK: "stablehlo.recv"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, is_host_transfer = false}> : (!stablehlo.token) -> (tensor<4x8xf32>, !stablehlo.token)
  %0:2 = "stablehlo.recv"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, is_host_transfer = false}> : (!stablehlo.token) -> (tensor<4x8xf32>, !stablehlo.token)
  // CHECK: "stablehlo.recv"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true}> {note} : (!stablehlo.token) -> (tensor<4x8xf32>, tensor<i1>, !stablehlo.token)
  %1:3 = "stablehlo.recv"(%arg0) {note, channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<4x8xf32>, tensor<i1>, !stablehlo.token)
  // CHECK: "stablehlo.recv"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, source_target_pairs = dense<{{\[\[}}0, 1], [1, 2]]> : tensor<2x2xi64>}> : (!stablehlo.token) -> !stablehlo.token
  %2 = "stablehlo.recv"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : (!stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @matrix(%arg0: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.recv' op source_target_pairs is 'tensor<2xi64>', expected a matrix}}
  %0:2 = "stablehlo.recv"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, source_target_pairs = dense<[0, 1]> : tensor<2xi64>}> : (!stablehlo.token) -> (tensor<4x8xf32>, !stablehlo.token)
  return
}

// -----

func.func @c1(%arg0: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.recv' op (C1) source_target_pairs has 3 columns, expected 2}}
  %0:2 = "stablehlo.recv"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> : (!stablehlo.token) -> (tensor<4x8xf32>, !stablehlo.token)
  return
}

// -----

func.func @c2(%arg0: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.recv' op (C2) sources of source_target_pairs not unique: 0 occurs twice}}
  %0:2 = "stablehlo.recv"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>}> : (!stablehlo.token) -> (tensor<4x8xf32>, !stablehlo.token)
  return
}

// -----

func.func @c3(%arg0: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.recv' op (C3) targets of source_target_pairs not unique: 1 occurs twice}}
  %0:2 = "stablehlo.recv"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>}> : (!stablehlo.token) -> (tensor<4x8xf32>, !stablehlo.token)
  return
}

// -----

func.func @c4(%arg0: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.recv' op (C4) source_target_pairs too small: got -1, expected at least 0}}
  %0:2 = "stablehlo.recv"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>}> : (!stablehlo.token) -> (tensor<4x8xf32>, !stablehlo.token)
  return
}

// -----

func.func @c5(%arg0: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.recv' op (C5) channel type is 0, expected 1 (DEVICE_TO_DEVICE) when is_host_transfer is false}}
  %0:2 = "stablehlo.recv"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 0>}> : (!stablehlo.token) -> (tensor<4x8xf32>, !stablehlo.token)
  return
}

// -----

func.func @c5_host(%arg0: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.recv' op (C5) channel type is 2, expected 3 (HOST_TO_DEVICE) when is_host_transfer is true}}
  %0:2 = "stablehlo.recv"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4x8xf32>, !stablehlo.token)
  return
}

// -----

func.func @c6(%arg0: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.recv' op (C6) no results: expected at least a token}}
  "stablehlo.recv"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>}> : (!stablehlo.token) -> ()
  return
}

// -----

func.func @c7(%arg0: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.recv' op (C7) result is '!stablehlo.token', expected tensors before the token}}
  %0:2 = "stablehlo.recv"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>}> : (!stablehlo.token) -> (!stablehlo.token, !stablehlo.token)
  return
}

// -----

func.func @c8(%arg0: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.recv' op (C8) last result is 'tensor<f32>', expected a token}}
  %0 = "stablehlo.recv"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>}> : (!stablehlo.token) -> tensor<f32>
  return
}

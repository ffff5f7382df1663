// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>) {
  // CHECK: "stablehlo.reduce_window"(%arg0, %arg1) <{window_dimensions = array<i64: 2, 2>}> ({
  // CHECK: }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf32>
  %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %1 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf32>
  return
}

// CHECK-LABEL: func @window
func.func @window(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>) {
  // CHECK: "stablehlo.reduce_window"(%arg0, %arg1) <{base_dilations = array<i64: 2, 1>, padding = dense<{{\[\[}}1, 1], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 3, 1>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>}> ({
  // CHECK: }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<6x3xf32>
  %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{base_dilations = array<i64: 2, 1>, padding = dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 3, 1>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %1 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<6x3xf32>
  return
}

// -----

func.func @c1(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.reduce_window' op (C1) no inputs: expected at least one}}
  // expected-error@+1 {{failed to infer returned types}}
  "stablehlo.reduce_window"() <{window_dimensions = array<i64: 2, 2>}> ({
    stablehlo.return
  }) : () -> ()
  return
}

// -----

func.func @c2(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>, %arg4: tensor<4x7xf32>) {
  // expected-error@+2 {{'stablehlo.reduce_window' op (C2) shapes of the inputs differ: got 'tensor<4x6xf32>' and 'tensor<4x7xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = "stablehlo.reduce_window"(%arg0, %arg4, %arg1, %arg1) <{window_dimensions = array<i64: 2, 2>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>, %arg7: tensor<f32>, %arg8: tensor<f32>):
      stablehlo.return %arg7, %arg8 : tensor<f32>, tensor<f32>
    }) : (tensor<4x6xf32>, tensor<4x7xf32>, tensor<f32>, tensor<f32>) -> (tensor<3x5xf32>, tensor<3x5xf32>)
  return
}

// -----

func.func @c3(%arg0: tensor<4x6xf32>, %arg1: tensor<i32>) {
  // expected-error@+2 {{'stablehlo.reduce_window' op (C3) init value is 'tensor<i32>' for an input of type 'tensor<4x6xf32>', expected a scalar tensor of its element type}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{window_dimensions = array<i64: 2, 2>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %1 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<i32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @c4(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.reduce_window' op (C4) window_dimensions has the wrong number of elements: got 1, expected 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{window_dimensions = array<i64: 2>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %1 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @c5(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.reduce_window' op (C5) window_dimensions too small: got 0, expected at least 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{window_dimensions = array<i64: 2, 0>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %1 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @c6(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.reduce_window' op (C6) window_strides has the wrong number of elements: got 1, expected 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %1 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @c7(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.reduce_window' op (C7) window_strides too small: got 0, expected at least 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 0>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %1 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @c8(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.reduce_window' op (C8) base_dilations has the wrong number of elements: got 1, expected 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{window_dimensions = array<i64: 2, 2>, base_dilations = array<i64: 2>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %1 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @c9(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.reduce_window' op (C9) base_dilations too small: got 0, expected at least 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{window_dimensions = array<i64: 2, 2>, base_dilations = array<i64: 2, 0>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %1 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @c10(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.reduce_window' op (C10) window_dilations has the wrong number of elements: got 1, expected 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{window_dimensions = array<i64: 2, 2>, window_dilations = array<i64: 2>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %1 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @c11(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.reduce_window' op (C11) window_dilations too small: got 0, expected at least 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{window_dimensions = array<i64: 2, 2>, window_dilations = array<i64: 2, 0>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %1 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @c12(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.reduce_window' op (C12) padding has the wrong shape: got 'tensor<2xi64>', expected tensor<2x2xi64>}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{window_dimensions = array<i64: 2, 2>, padding = dense<0> : tensor<2xi64>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %1 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @c13(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce_window' op (C13) body takes 1 arguments and returns 1 values, expected 2 and 1}}
  %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{window_dimensions = array<i64: 2, 2>}> ({
    ^bb0(%arg2: tensor<f32>):
      stablehlo.return %arg2 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @c15(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.reduce_window' op inferred type(s) 'tensor<3x5xf32>' are incompatible with return type(s) of operation 'tensor<3x6xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{window_dimensions = array<i64: 2, 2>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %1 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x6xf32>
  return
}

// -----

func.func @c15_overflow(%arg0: tensor<3xf32>, %arg1: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.reduce_window' op (C15) the window has too many positions along dimension 0: more than 2^63 - 1}}
  // expected-error@+1 {{'stablehlo.reduce_window' op failed to infer returned types}}
  %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{base_dilations = array<i64: 9223372036854775807>, window_dimensions = array<i64: 1>}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    stablehlo.return %arg2 : tensor<f32>
  }) : (tensor<3xf32>, tensor<f32>) -> tensor<?xf32>
  return
}

// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<?x?x4xbf16>, %arg3: tensor<?xbf16>) {
  // CHECK: %grad_operand, %grad_scale, %grad_offset = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg1, %arg1, %arg0) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %0:3 = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg1, %arg1, %arg0) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  // CHECK: "stablehlo.batch_norm_grad"(%arg2, %arg3, %arg3, %arg3, %arg2) <{epsilon = 0.000000e+00 : f32, feature_index = 2 : i64}> : (tensor<?x?x4xbf16>, tensor<?xbf16>, tensor<?xbf16>, tensor<?xbf16>, tensor<?x?x4xbf16>) -> (tensor<?x?x4xbf16>, tensor<4xbf16>, tensor<?xbf16>)
  %1:3 = "stablehlo.batch_norm_grad"(%arg2, %arg3, %arg3, %arg3, %arg2) {epsilon = 0.0 : f32, feature_index = 2 : i64} : (tensor<?x?x4xbf16>, tensor<?xbf16>, tensor<?xbf16>, tensor<?xbf16>, tensor<?x?x4xbf16>) -> (tensor<?x?x4xbf16>, tensor<4xbf16>, tensor<?xbf16>)
  return
}

// -----

func.func @element_type(%arg0: tensor<2x3xi32>, %arg1: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.batch_norm_grad' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2x3xi32>'}}
  %0:3 = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg1, %arg1, %arg0) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xi32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xi32>) -> (tensor<2x3xi32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @rank(%arg0: tensor<2x3xf32>, %arg1: tensor<3x1xf32>) {
  // expected-error@+1 {{'stablehlo.batch_norm_grad' op operand #1 must be 1D tensor of floating-point values, but got 'tensor<3x1xf32>'}}
  %0:3 = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg1, %arg1, %arg0) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @c1(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) {
  // expected-error@+2 {{'stablehlo.batch_norm_grad' op (C1) feature_index out of range: got 2, expected it in [0, 2)}}
  // expected-error@+1 {{'stablehlo.batch_norm_grad' op failed to infer returned types}}
  %0:3 = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg1, %arg1, %arg0) <{epsilon = 1.0e-3 : f32, feature_index = 2 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @c1_negative(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) {
  // expected-error@+2 {{'stablehlo.batch_norm_grad' op (C1) feature_index out of range: got -1, expected it in [0, 2)}}
  // expected-error@+1 {{'stablehlo.batch_norm_grad' op failed to infer returned types}}
  %0:3 = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg1, %arg1, %arg0) <{epsilon = 1.0e-3 : f32, feature_index = -1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @c2_scale(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf64>) {
  // expected-error@+2 {{'stablehlo.batch_norm_grad' op (C2) element types of operand and scale differ: got 'f32' and 'f64'}}
  // expected-error@+1 {{'stablehlo.batch_norm_grad' op failed to infer returned types}}
  %0:3 = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg1, %arg1, %arg0) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf64>, tensor<3xf64>)
  return
}

// -----

func.func @c2_grad_output(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<2x3xf64>) {
  // expected-error@+2 {{'stablehlo.batch_norm_grad' op (C2) element types of operand and grad_output differ: got 'f32' and 'f64'}}
  // expected-error@+1 {{'stablehlo.batch_norm_grad' op failed to infer returned types}}
  %0:3 = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg1, %arg1, %arg2) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf64>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @c3_grad_output(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<4x3xf32>) {
  // expected-error@+2 {{'stablehlo.batch_norm_grad' op (C3) shapes of operand and grad_output differ: got 'tensor<2x3xf32>' and 'tensor<4x3xf32>'}}
  // expected-error@+1 {{'stablehlo.batch_norm_grad' op failed to infer returned types}}
  %0:3 = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg1, %arg1, %arg2) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @c3_grad_operand(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) {
  // expected-error@+2 {{'stablehlo.batch_norm_grad' op inferred type(s) 'tensor<2x3xf32>', 'tensor<3xf32>', 'tensor<3xf32>' are incompatible with return type(s) of operation 'tensor<4x3xf32>', 'tensor<3xf32>', 'tensor<3xf32>'}}
  // expected-error@+1 {{'stablehlo.batch_norm_grad' op failed to infer returned types}}
  %0:3 = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg1, %arg1, %arg0) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @c4_mean(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<4xf32>) {
  // expected-error@+2 {{'stablehlo.batch_norm_grad' op (C4) size of mean: got 4, expected 3}}
  // expected-error@+1 {{'stablehlo.batch_norm_grad' op failed to infer returned types}}
  %0:3 = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg2, %arg1, %arg0) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @c4_variance(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<4xf32>) {
  // expected-error@+2 {{'stablehlo.batch_norm_grad' op (C4) size of variance: got 4, expected 3}}
  // expected-error@+1 {{'stablehlo.batch_norm_grad' op failed to infer returned types}}
  %0:3 = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg1, %arg2, %arg0) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @c4_grad_offset(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) {
  // expected-error@+2 {{'stablehlo.batch_norm_grad' op inferred type(s) 'tensor<2x3xf32>', 'tensor<3xf32>', 'tensor<3xf32>' are incompatible with return type(s) of operation 'tensor<2x3xf32>', 'tensor<3xf32>', 'tensor<4xf32>'}}
  // expected-error@+1 {{'stablehlo.batch_norm_grad' op failed to infer returned types}}
  %0:3 = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg1, %arg1, %arg0) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<4xf32>)
  return
}

// -----

func.func @c5(%arg0: tensor<2x3xf32>, %arg1: tensor<4xf32>) {
  // expected-error@+2 {{'stablehlo.batch_norm_grad' op (C5) size of scale: got 4, expected 3}}
  // expected-error@+1 {{'stablehlo.batch_norm_grad' op failed to infer returned types}}
  %0:3 = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg1, %arg1, %arg0) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

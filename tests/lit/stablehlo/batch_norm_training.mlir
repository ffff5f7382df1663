// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<?x?x4xf8E4M3FN>, %arg3: tensor<?xf8E4M3FN>) {
  // CHECK: %output, %batch_mean, %batch_var = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg1) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %0:3 = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg1) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  // CHECK: "stablehlo.batch_norm_training"(%arg2, %arg3, %arg3) <{epsilon = 0.000000e+00 : f32, feature_index = 2 : i64}> : (tensor<?x?x4xf8E4M3FN>, tensor<?xf8E4M3FN>, tensor<?xf8E4M3FN>) -> (tensor<?x?x4xf8E4M3FN>, tensor<4xf8E4M3FN>, tensor<?xf8E4M3FN>)
  %1:3 = "stablehlo.batch_norm_training"(%arg2, %arg3, %arg3) {epsilon = 0.0 : f32, feature_index = 2 : i64} : (tensor<?x?x4xf8E4M3FN>, tensor<?xf8E4M3FN>, tensor<?xf8E4M3FN>) -> (tensor<?x?x4xf8E4M3FN>, tensor<4xf8E4M3FN>, tensor<?xf8E4M3FN>)
  return
}

// -----

func.func @element_type(%arg0: tensor<2x3xi1>, %arg1: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.batch_norm_training' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2x3xi1>'}}
  %0:3 = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg1) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xi1>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @c1(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) {
  // expected-error@+2 {{'stablehlo.batch_norm_training' op (C1) feature_index out of range: got 2, expected it in [0, 2)}}
  // expected-error@+1 {{'stablehlo.batch_norm_training' op failed to infer returned types}}
  %0:3 = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg1) <{epsilon = 1.0e-3 : f32, feature_index = 2 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @c2(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf16>) {
  // expected-error@+2 {{'stablehlo.batch_norm_training' op (C2) element types of operand and offset differ: got 'f32' and 'f16'}}
  // expected-error@+1 {{'stablehlo.batch_norm_training' op failed to infer returned types}}
  %0:3 = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg2) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf16>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @c3(%arg0: tensor<2x3xf32>, %arg1: tensor<4xf32>, %arg2: tensor<3xf32>) {
  // expected-error@+2 {{'stablehlo.batch_norm_training' op (C3) size of scale: got 4, expected 3}}
  // expected-error@+1 {{'stablehlo.batch_norm_training' op failed to infer returned types}}
  %0:3 = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg2) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<4xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @c4(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<4xf32>) {
  // expected-error@+2 {{'stablehlo.batch_norm_training' op (C4) size of offset: got 4, expected 3}}
  // expected-error@+1 {{'stablehlo.batch_norm_training' op failed to infer returned types}}
  %0:3 = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg2) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<4xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @c5(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) {
  // expected-error@+2 {{'stablehlo.batch_norm_training' op inferred type(s) 'tensor<2x3xf32>', 'tensor<3xf32>', 'tensor<3xf32>' are incompatible with return type(s) of operation 'tensor<2x3xf32>', 'tensor<4xf32>', 'tensor<3xf32>'}}
  // expected-error@+1 {{'stablehlo.batch_norm_training' op failed to infer returned types}}
  %0:3 = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg1) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<4xf32>, tensor<3xf32>)
  return
}

// -----

func.func @c6(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) {
  // expected-error@+2 {{'stablehlo.batch_norm_training' op inferred type(s) 'tensor<2x3xf32>', 'tensor<3xf32>', 'tensor<3xf32>' are incompatible with return type(s) of operation 'tensor<2x3xf32>', 'tensor<3xf32>', 'tensor<4xf32>'}}
  // expected-error@+1 {{'stablehlo.batch_norm_training' op failed to infer returned types}}
  %0:3 = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg1) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<4xf32>)
  return
}

// -----

func.func @c7(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) {
  // expected-error@+2 {{'stablehlo.batch_norm_training' op inferred type(s) 'tensor<2x3xf32>', 'tensor<3xf32>', 'tensor<3xf32>' are incompatible with return type(s) of operation 'tensor<2x4xf32>', 'tensor<3xf32>', 'tensor<3xf32>'}}
  // expected-error@+1 {{'stablehlo.batch_norm_training' op failed to infer returned types}}
  %0:3 = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg1) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

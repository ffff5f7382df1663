// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2x3xf64>, %arg1: tensor<3xf64>, %arg2: tensor<?x?x4xf16>, %arg3: tensor<?xf16>) {
  // CHECK: "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg1, %arg1, %arg1) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<2x3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> tensor<2x3xf64>
  %0 = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg1, %arg1, %arg1) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> tensor<2x3xf64>
  // CHECK: "stablehlo.batch_norm_inference"(%arg2, %arg3, %arg3, %arg3, %arg3) <{epsilon = 0.000000e+00 : f32, feature_index = 2 : i64}> : (tensor<?x?x4xf16>, tensor<?xf16>, tensor<?xf16>, tensor<?xf16>, tensor<?xf16>) -> tensor<2x?x4xf16>
  %1 = "stablehlo.batch_norm_inference"(%arg2, %arg3, %arg3, %arg3, %arg3) {epsilon = 0.0 : f32, feature_index = 2 : i64} : (tensor<?x?x4xf16>, tensor<?xf16>, tensor<?xf16>, tensor<?xf16>, tensor<?xf16>) -> tensor<2x?x4xf16>
  return
}

// -----

func.func @element_type(%arg0: tensor<2x3xcomplex<f32>>, %arg1: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.batch_norm_inference' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2x3xcomplex<f32>>'}}
  %0 = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg1, %arg1, %arg1) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xcomplex<f32>>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xcomplex<f32>>
  return
}

// -----

func.func @c1(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) {
  // expected-error@+2 {{'stablehlo.batch_norm_inference' op (C1) feature_index out of range: got 2, expected it in [0, 2)}}
  // expected-error@+1 {{'stablehlo.batch_norm_inference' op failed to infer returned types}}
  %0 = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg1, %arg1, %arg1) <{epsilon = 1.0e-3 : f32, feature_index = 2 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @c2(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf64>) {
  // expected-error@+2 {{'stablehlo.batch_norm_inference' op (C2) element types of operand and variance differ: got 'f32' and 'f64'}}
  // expected-error@+1 {{'stablehlo.batch_norm_inference' op failed to infer returned types}}
  %0 = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg1, %arg1, %arg2) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @c3(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<4xf32>) {
  // expected-error@+2 {{'stablehlo.batch_norm_inference' op (C3) size of scale: got 4, expected 3}}
  // expected-error@+1 {{'stablehlo.batch_norm_inference' op failed to infer returned types}}
  %0 = "stablehlo.batch_norm_inference"(%arg0, %arg2, %arg1, %arg1, %arg1) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @c4(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<4xf32>) {
  // expected-error@+2 {{'stablehlo.batch_norm_inference' op (C4) size of offset: got 4, expected 3}}
  // expected-error@+1 {{'stablehlo.batch_norm_inference' op failed to infer returned types}}
  %0 = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg2, %arg1, %arg1) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @c5(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<4xf32>) {
  // expected-error@+2 {{'stablehlo.batch_norm_inference' op (C5) size of mean: got 4, expected 3}}
  // expected-error@+1 {{'stablehlo.batch_norm_inference' op failed to infer returned types}}
  %0 = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg1, %arg2, %arg1) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @c6(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<4xf32>) {
  // expected-error@+2 {{'stablehlo.batch_norm_inference' op (C6) size of variance: got 4, expected 3}}
  // expected-error@+1 {{'stablehlo.batch_norm_inference' op failed to infer returned types}}
  %0 = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg1, %arg1, %arg2) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @c7(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) {
  // expected-error@+2 {{'stablehlo.batch_norm_inference' op inferred type(s) 'tensor<2x3xf32>' are incompatible with return type(s) of operation 'tensor<2x4xf32>'}}
  // expected-error@+1 {{'stablehlo.batch_norm_inference' op failed to infer returned types}}
  %0 = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg1, %arg1, %arg1) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x4xf32>
  return
}

// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%0: tensor<2x3xi8>, %1: tensor<2x3xf32>, %2: tensor<2x3xcomplex<f32>>) {
  // CHECK: stablehlo.sign %arg0 : tensor<2x3xi8>
  %r0 = stablehlo.sign %0 : tensor<2x3xi8>
  // CHECK: stablehlo.sign %arg1 : tensor<2x3xf32>
  %r1 = stablehlo.sign %1 : tensor<2x3xf32>
  // CHECK: stablehlo.sign %arg2 : tensor<2x3xcomplex<f32>>
  %r2 = stablehlo.sign %2 : tensor<2x3xcomplex<f32>>
  return
}

// CHECK-LABEL: func @shapes
func.func @shapes(%arg0: tensor<?x3xi8>, %arg1: tensor<i8>, %arg2: tensor<0xi8>) {
  // CHECK: stablehlo.sign %arg0 : (tensor<?x3xi8>) -> tensor<2x?xi8>
  %0 = stablehlo.sign %arg0 : (tensor<?x3xi8>) -> tensor<2x?xi8>
  // CHECK: stablehlo.sign %arg1 {note = "kept"} : tensor<i8>
  %1 = stablehlo.sign %arg1 {note = "kept"} : tensor<i8>
  // CHECK: stablehlo.sign %arg2 : tensor<0xi8>
  %2 = "stablehlo.sign"(%arg2) : (tensor<0xi8>) -> tensor<0xi8>
  return
}

// -----

func.func @element_type(%arg0: tensor<2xui32>) {
  // expected-error@+1 {{'stablehlo.sign' op operand #0 must be ranked tensor of signed integer or floating-point or complex or per-tensor quantized values, but got 'tensor<2xui32>'}}
  %0 = stablehlo.sign %arg0 : tensor<2xui32>
  return
}

// -----

func.func @c1_result(%arg0: tensor<2xi8>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'stablehlo.sign' op inferred type(s) 'tensor<2xi8>' are incompatible with return type(s) of operation 'tensor<3xi8>'}}
  %0 = stablehlo.sign %arg0 : (tensor<2xi8>) -> tensor<3xi8>
  return
}

// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types() {
  // CHECK: stablehlo.constant dense<1> : tensor<i32>
  %c = stablehlo.constant dense<1> : tensor<i32>
  // CHECK: stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %c_0 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  // CHECK: stablehlo.constant dense<1.000000e+00> : tensor<2x3xf32>
  %cst = stablehlo.constant dense<1.000000e+00> : tensor<2x3xf32>
  // CHECK: stablehlo.constant {note = 1 : i32} dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>
  %cst_1 = stablehlo.constant {note = 1 : i32} dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>
  // CHECK: stablehlo.constant dense<> : tensor<0xi64>
  %c_2 = stablehlo.constant dense<> : tensor<0xi64>
  // CHECK: stablehlo.constant dense_resource<__elided__> : tensor<4xf32>
  %5 = "stablehlo.constant"() <{value = dense_resource<__elided__> : tensor<4xf32>}> : () -> tensor<4xf32>
  return
}

// -----

func.func @c1_type() {
  // expected-error@+2 {{'stablehlo.constant' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<3xf32>
  return
}

// -----

func.func @dynamic() {
  // expected-error@+1 {{'stablehlo.constant' op result #0 must be statically shaped tensor of boolean or integer or floating-point or complex or quantized values, but got 'tensor<?xf32>'}}
  %0 = "stablehlo.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<?xf32>
  return
}

// -----

// CHECK-LABEL: func @quantized
func.func @quantized() {
  // CHECK: stablehlo.constant() <{value = dense<1> : tensor<2x2xi8>}> : () -> tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01:30>>
  %0 = "stablehlo.constant"() <{value = dense<1> : tensor<2x2xi8>}> : () -> tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>
  // CHECK: stablehlo.constant() <{value = dense<[1, 2]> : tensor<2xi8>}> {note} : () -> tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01:1}>>
  %1 = stablehlo.constant() <{value = dense<[1, 2]> : tensor<2xi8>}> {note} : () -> tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>
  return
}

// -----

func.func @c1_storage() {
  // expected-error@+2 {{'stablehlo.constant' op inferred type(s) 'tensor<2xi16>' are incompatible with return type(s) of operation 'tensor<2x!quant.uniform<i8:f32, 5.000000e-01:30>>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.constant() <{value = dense<1> : tensor<2xi16>}> : () -> tensor<2x!quant.uniform<i8:f32, 0.5:30>>
  return
}

// -----

func.func @no_value() {
  // expected-error@+1 {{expected the attribute 'value' and the type of one result}}
  %0 = stablehlo.constant() {note} : () -> tensor<2x!quant.uniform<i8:f32, 0.5:30>>
  return
}

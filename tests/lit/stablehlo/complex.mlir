// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2x3xf32>, %arg1: tensor<?xf64>, %arg2: tensor<2xf64>) {
  // CHECK: stablehlo.complex %arg0, %arg0 : tensor<2x3xcomplex<f32>>
  %0 = stablehlo.complex %arg0, %arg0 : tensor<2x3xcomplex<f32>>
  // CHECK: stablehlo.complex %arg1, %arg2 {note = 1 : i64} : (tensor<?xf64>, tensor<2xf64>) -> tensor<2xcomplex<f64>>
  %1 = stablehlo.complex %arg1, %arg2 {note = 1 : i64} : (tensor<?xf64>, tensor<2xf64>) -> tensor<2xcomplex<f64>>
  // CHECK: stablehlo.complex %arg0, %arg0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<?x3xcomplex<f32>>
  %2 = "stablehlo.complex"(%arg0, %arg0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<?x3xcomplex<f32>>
  return
}

// -----

func.func @element_type(%arg0: tensor<2xf16>) {
  // expected-error@+1 {{'stablehlo.complex' op operand #0 must be ranked tensor of 32-bit float or 64-bit float values, but got 'tensor<2xf16>'}}
  %0 = stablehlo.complex %arg0, %arg0 : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xcomplex<f32>>
  return
}

// -----

func.func @text(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{custom op 'stablehlo.complex' expected a tensor of complex elements, or a function type}}
  %0 = stablehlo.complex %arg0, %arg0 : tensor<2xf32>
  return
}

// -----

func.func @c1(%arg0: tensor<2xf32>, %arg1: tensor<2xf64>) {
  // expected-error@+2 {{'stablehlo.complex' op (C1) operands have incompatible types: 'tensor<2xf32>' and 'tensor<2xf64>'}}
  // expected-error@+1 {{'stablehlo.complex' op failed to infer returned types}}
  %0 = stablehlo.complex %arg0, %arg1 : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xcomplex<f32>>
  return
}

// -----

func.func @c2(%arg0: tensor<2xf32>) {
  // expected-error@+2 {{'stablehlo.complex' op inferred type(s) 'tensor<2xcomplex<f32>>' are incompatible with return type(s) of operation 'tensor<3xcomplex<f32>>'}}
  // expected-error@+1 {{'stablehlo.complex' op failed to infer returned types}}
  %0 = stablehlo.complex %arg0, %arg0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xcomplex<f32>>
  return
}

// -----

func.func @c3(%arg0: tensor<2xf32>) {
  // expected-error@+2 {{'stablehlo.complex' op inferred type(s) 'tensor<2xcomplex<f32>>' are incompatible with return type(s) of operation 'tensor<2xcomplex<f64>>'}}
  // expected-error@+1 {{'stablehlo.complex' op failed to infer returned types}}
  %0 = stablehlo.complex %arg0, %arg0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f64>>
  return
}

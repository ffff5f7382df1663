// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%0: tensor<2x3xi1>, %1: tensor<2x3xui8>, %2: tensor<2x3xf64>, %3: tensor<2x3xcomplex<f32>>) {
  // CHECK: stablehlo.add %arg0, %arg0 : tensor<2x3xi1>
  %r0 = stablehlo.add %0, %0 : tensor<2x3xi1>
  // CHECK: stablehlo.add %arg1, %arg1 : tensor<2x3xui8>
  %r1 = stablehlo.add %1, %1 : tensor<2x3xui8>
  // CHECK: stablehlo.add %arg2, %arg2 : tensor<2x3xf64>
  %r2 = stablehlo.add %2, %2 : tensor<2x3xf64>
  // CHECK: stablehlo.add %arg3, %arg3 : tensor<2x3xcomplex<f32>>
  %r3 = stablehlo.add %3, %3 : tensor<2x3xcomplex<f32>>
  return
}

// CHECK-LABEL: func @shapes
func.func @shapes(%arg0: tensor<?x3xi1>, %arg1: tensor<2x?xi1>, %arg2: tensor<0xi1>) {
  // CHECK: stablehlo.add %arg0, %arg1 : (tensor<?x3xi1>, tensor<2x?xi1>) -> tensor<2x3xi1>
  %0 = stablehlo.add %arg0, %arg1 : (tensor<?x3xi1>, tensor<2x?xi1>) -> tensor<2x3xi1>
  // CHECK: stablehlo.add %arg2, %arg2 {note = "kept"} : tensor<0xi1>
  %1 = "stablehlo.add"(%arg2, %arg2) {note = "kept"} : (tensor<0xi1>, tensor<0xi1>) -> tensor<0xi1>
  return
}

// -----

func.func @element_type(%arg0: tensor<2xindex>) {
  // expected-error@+1 {{'stablehlo.add' op operand #0 must be ranked tensor of boolean or integer or floating-point or complex or per-tensor quantized or per-axis quantized values, but got 'tensor<2xindex>'}}
  %0 = stablehlo.add %arg0, %arg0 : tensor<2xindex>
  return
}

// -----

func.func @c1_shapes(%arg0: tensor<2xi1>, %arg1: tensor<3xi1>) {
  // expected-error@+2 {{'stablehlo.add' op (C1) operands have incompatible types: 'tensor<2xi1>' and 'tensor<3xi1>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.add %arg0, %arg1 : (tensor<2xi1>, tensor<3xi1>) -> tensor<2xi1>
  return
}

// -----

func.func @c1_element_types(%arg0: tensor<2xi1>, %arg1: tensor<2xui8>) {
  // expected-error@+2 {{'stablehlo.add' op (C1) operands have incompatible types: 'tensor<2xi1>' and 'tensor<2xui8>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.add %arg0, %arg1 : (tensor<2xi1>, tensor<2xui8>) -> tensor<2xi1>
  return
}

// -----

func.func @c1_result(%arg0: tensor<2xi1>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'stablehlo.add' op inferred type(s) 'tensor<2xi1>' are incompatible with return type(s) of operation 'tensor<4xi1>'}}
  %0 = stablehlo.add %arg0, %arg0 : (tensor<2xi1>, tensor<2xi1>) -> tensor<4xi1>
  return
}

// -----

// CHECK-LABEL: func @quantized
func.func @quantized(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, %arg1: tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25:1}>>) {
  // CHECK: stablehlo.add %arg0, %arg0 : tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01:30>>
  %0 = stablehlo.add %arg0, %arg0 : tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>
  // CHECK: stablehlo.add %arg0, %arg0 : (tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01:30>>, tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01:30>>) -> tensor<2x2x!quant.uniform<i8:f32, 2.500000e-01>>
  %1 = stablehlo.add %arg0, %arg0 : (tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.25>>
  // CHECK: stablehlo.add %arg1, %arg0 : (tensor<2x2x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01:1}>>, tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01:30>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01:1}>>
  %2 = stablehlo.add %arg1, %arg0 : (tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25:1}>>, tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25:1}>>
  return
}

// -----

func.func @c2(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, %arg1: tensor<2x2xf32>) {
  // expected-error@+1 {{'stablehlo.add' op (C2) some types are quantized and some are not: got '!quant.uniform<i8:f32, 5.000000e-01:30>', 'f32' and '!quant.uniform<i8:f32, 5.000000e-01:30>'}}
  %0 = stablehlo.add %arg0, %arg1 : (tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>
  return
}

// -----

func.func @c3(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, %arg1: tensor<2x2x!quant.uniform<i4:f32, 0.5>>) {
  // expected-error@+1 {{'stablehlo.add' op (C3) storage types differ: got '!quant.uniform<i8:f32, 5.000000e-01:30>', '!quant.uniform<i4:f32, 5.000000e-01>' and '!quant.uniform<i8:f32, 5.000000e-01:30>'}}
  %0 = stablehlo.add %arg0, %arg1 : (tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, tensor<2x2x!quant.uniform<i4:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>
  return
}

// -----

func.func @c4(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, %arg1: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>) {
  // expected-error@+1 {{'stablehlo.add' op (C4) expressed types differ: got '!quant.uniform<i8:f32, 5.000000e-01:30>', '!quant.uniform<i8:f32, 5.000000e-01:30>' and '!quant.uniform<i8:f64, 5.000000e-01>'}}
  %0 = stablehlo.add %arg0, %arg1 : (tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>) -> tensor<2x2x!quant.uniform<i8:f64, 0.5>>
  return
}

// -----

func.func @c5(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, %arg1: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>) {
  // expected-error@+1 {{'stablehlo.add' op (C5) result is '!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01:1}>' for operands '!quant.uniform<i8:f32, 5.000000e-01:30>' and '!quant.uniform<i8:f32, 5.000000e-01:30>', expected scales per axis when an operand has them}}
  %0 = stablehlo.add %arg0, %arg1 : (tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>
  return
}

// -----

func.func @c6(%arg0: tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>, %arg1: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>) {
  // expected-error@+1 {{'stablehlo.add' op (C6) quantized dimensions of lhs and result differ: got 0 and 1}}
  %0 = stablehlo.add %arg0, %arg1 : (tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>, tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25:1}>>
  return
}

// -----

func.func @c7(%arg0: tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>, %arg1: tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25:1}>>) {
  // expected-error@+1 {{'stablehlo.add' op (C7) quantized dimensions of rhs and result differ: got 1 and 0}}
  %0 = stablehlo.add %arg0, %arg1 : (tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>, tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25:1}>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25:1}>>
  return
}

// -----

func.func @scales(%arg0: tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.5, 0.5}>>) {
  // expected-error@+1 {{'stablehlo.add' op operand #0 must be ranked tensor of boolean or integer or floating-point or complex or per-tensor quantized or per-axis quantized values, but got}}
  %0 = stablehlo.add %arg0, %arg0 : tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.5, 0.5}>>
  return
}

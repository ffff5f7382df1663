// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2xf32>, %arg1: tensor<?xi32>, %arg2: tensor<2xcomplex<f32>>, %arg3: tensor<2xi1>) {
  // CHECK: stablehlo.compare LT, %arg0, %arg0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %0 = stablehlo.compare LT, %arg0, %arg0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  // CHECK: stablehlo.compare GE, %arg0, %arg0, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %1 = stablehlo.compare GE, %arg0, %arg0, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  // CHECK: stablehlo.compare NE, %arg1, %arg1, SIGNED {note = 1 : i32} : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi1>
  %2 = stablehlo.compare NE, %arg1, %arg1, SIGNED {note = 1 : i32} : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi1>
  // CHECK: stablehlo.compare EQ, %arg2, %arg2, FLOAT : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xi1>
  %3 = stablehlo.compare EQ, %arg2, %arg2, FLOAT : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xi1>
  // CHECK: stablehlo.compare GT, %arg3, %arg3, UNSIGNED : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  %4 = stablehlo.compare GT, %arg3, %arg3, UNSIGNED : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  // CHECK: stablehlo.compare LE, %arg0, %arg0, NOTYPE : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %5 = stablehlo.compare LE, %arg0, %arg0, NOTYPE : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return
}

// -----

func.func @c1_element_types(%arg0: tensor<2xf32>, %arg1: tensor<2xi32>) {
  // expected-error@+2 {{'stablehlo.compare' op (C1) element types of lhs and rhs differ: got 'f32' and 'i32'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.compare LT, %arg0, %arg1 : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xi1>
  return
}

// -----

func.func @c2_shapes(%arg0: tensor<2xf32>, %arg1: tensor<3xf32>) {
  // expected-error@+2 {{'stablehlo.compare' op (C2) shapes of lhs and rhs differ: got 'tensor<2xf32>' and 'tensor<3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.compare LT, %arg0, %arg1 : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xi1>
  return
}

// -----

// (C3) ties compare_type to the element type. Published artifacts break it, so it is not checked.
// CHECK-LABEL: func @any_compare_type
func.func @any_compare_type(%arg0: tensor<2xf32>, %arg1: tensor<2xi8>, %arg2: tensor<2xui8>, %arg3: tensor<2xi1>, %arg4: tensor<2xcomplex<f32>>) {
  // CHECK: stablehlo.compare LT, %arg0, %arg0, SIGNED : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %0 = stablehlo.compare LT, %arg0, %arg0, SIGNED : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  // CHECK: stablehlo.compare LT, %arg1, %arg1, UNSIGNED : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi1>
  %1 = stablehlo.compare LT, %arg1, %arg1, UNSIGNED : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi1>
  // CHECK: stablehlo.compare LT, %arg2, %arg2, SIGNED : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xi1>
  %2 = stablehlo.compare LT, %arg2, %arg2, SIGNED : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xi1>
  // CHECK: stablehlo.compare LT, %arg3, %arg3, FLOAT : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  %3 = stablehlo.compare LT, %arg3, %arg3, FLOAT : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  // CHECK: stablehlo.compare EQ, %arg4, %arg4, TOTALORDER : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xi1>
  %4 = stablehlo.compare EQ, %arg4, %arg4, TOTALORDER : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xi1>
  return
}

// -----

// CHECK-LABEL: func @quantized
func.func @quantized(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, %arg1: tensor<2x2x!quant.uniform<i8:f32, 0.25>>) {
  // CHECK: stablehlo.compare LT, %arg0, %arg1 : (tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01:30>>, tensor<2x2x!quant.uniform<i8:f32, 2.500000e-01>>) -> tensor<2x2xi1>
  %0 = stablehlo.compare LT, %arg0, %arg1 : (tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, tensor<2x2x!quant.uniform<i8:f32, 0.25>>) -> tensor<2x2xi1>
  return
}

// -----

func.func @c1_quantized(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, %arg1: tensor<2x2xf32>) {
  // expected-error@+2 {{'stablehlo.compare' op (C1) element types of lhs and rhs differ: got '!quant.uniform<i8:f32, 5.000000e-01:30>' and 'f32'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.compare LT, %arg0, %arg1 : (tensor<2x2x!quant.uniform<i8:f32, 0.5:30>>, tensor<2x2xf32>) -> tensor<2x2xi1>
  return
}

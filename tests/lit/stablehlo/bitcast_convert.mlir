// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2x3xf32>, %arg1: tensor<8xi1>, %arg2: tensor<?x2xcomplex<f32>>, %arg3: tensor<?x?xui8>, %arg4: tensor<2xi4>) {
  // CHECK: stablehlo.bitcast_convert %arg0 : (tensor<2x3xf32>) -> tensor<2x3x4xi8>
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<2x3xf32>) -> tensor<2x3x4xi8>
  // CHECK: stablehlo.bitcast_convert %arg0 {note = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xui32>
  %1 = stablehlo.bitcast_convert %arg0 {note = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xui32>
  // CHECK: stablehlo.bitcast_convert %arg1 : (tensor<8xi1>) -> tensor<i8>
  %2 = stablehlo.bitcast_convert %arg1 : (tensor<8xi1>) -> tensor<i8>
  // CHECK: stablehlo.bitcast_convert %arg2 : (tensor<?x2xcomplex<f32>>) -> tensor<?xcomplex<f64>>
  %3 = stablehlo.bitcast_convert %arg2 : (tensor<?x2xcomplex<f32>>) -> tensor<?xcomplex<f64>>
  // CHECK: stablehlo.bitcast_convert %arg3 : (tensor<?x?xui8>) -> tensor<?xf64>
  %4 = stablehlo.bitcast_convert %arg3 : (tensor<?x?xui8>) -> tensor<?xf64>
  // CHECK: stablehlo.bitcast_convert %arg4 : (tensor<2xi4>) -> tensor<f8E5M2>
  %5 = "stablehlo.bitcast_convert"(%arg4) : (tensor<2xi4>) -> tensor<f8E5M2>
  return
}

// -----

func.func @c1_same_width(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.bitcast_convert' op (C1) shapes of operand and result do not hold the same bits: got 'tensor<2x3xf32>' and 'tensor<2x4xi32>', expected 'tensor<2x3xi32>' for 'tensor<2x3xf32>'}}
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<2x3xf32>) -> tensor<2x4xi32>
  return
}

// -----

func.func @c1_rank(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.bitcast_convert' op (C1) shapes of operand and result do not hold the same bits: got 'tensor<2x3xf32>' and 'tensor<2x3xi8>', expected 'tensor<2x3x4xi8>' for 'tensor<2x3xf32>'}}
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<2x3xf32>) -> tensor<2x3xi8>
  return
}

// -----

func.func @c1_narrow(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.bitcast_convert' op (C1) shapes of operand and result do not hold the same bits: got 'tensor<2x3xf32>' and 'tensor<2x3x2xi8>', expected 'tensor<2x3x4xi8>' for 'tensor<2x3xf32>'}}
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<2x3xf32>) -> tensor<2x3x2xi8>
  return
}

// -----

func.func @c1_wide(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.bitcast_convert' op (C1) shapes of operand and result do not hold the same bits: got 'tensor<2x3xf32>' and 'tensor<2xi64>', expected 'tensor<2x2xf32>' for 'tensor<2xi64>'}}
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<2x3xf32>) -> tensor<2xi64>
  return
}

// -----

func.func @c1_divisible(%arg0: tensor<3xf6E2M3FN>) {
  // expected-error@+1 {{'stablehlo.bitcast_convert' op (C1) elements of 6 bits cannot be split into elements of 4 bits}}
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<3xf6E2M3FN>) -> tensor<3x2xi4>
  return
}

// -----

func.func @c2(%arg0: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{'stablehlo.bitcast_convert' op (C2) only one of operand and result is complex: got 'tensor<2xcomplex<f32>>' and 'tensor<2xf64>'}}
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<2xcomplex<f32>>) -> tensor<2xf64>
  return
}

// -----

// The bits of quantized elements are those of what they store.
// CHECK-LABEL: func @quantized
func.func @quantized(%arg0: tensor<2x!quant.uniform<i8:f32, 0.5>>, %arg1: tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) {
  // CHECK: stablehlo.bitcast_convert %arg0 : (tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<2xui8>
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xui8>
  // CHECK: stablehlo.bitcast_convert %arg1 : (tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>) -> tensor<2x2xi4>
  %1 = stablehlo.bitcast_convert %arg1 : (tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<2x2xi4>
  return
}

// -----

func.func @c1_quantized(%arg0: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@+1 {{'stablehlo.bitcast_convert' op (C1) shapes of operand and result do not hold the same bits: got 'tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>' and 'tensor<2xi16>', expected 'tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01>>' for 'tensor<2xi16>'}}
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xi16>
  return
}

// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// Every op whose operands may be quantized, but for those with constraints of their own, in their own files.
// CHECK-LABEL: func @unary
func.func @unary(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.5>>, %arg1: tensor<2x2x!quant.uniform<i8:f32, 0.5>>) {
  // CHECK: stablehlo.abs %arg0 : (tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<2x2x!quant.uniform<i8:f32, 2.500000e-01:-3>>
  %0 = stablehlo.abs %arg0 : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.25:-3>>
  // CHECK: stablehlo.cbrt %arg1 : tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01>>
  %1 = stablehlo.cbrt %arg1 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %2 = stablehlo.ceil %1 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %3 = stablehlo.cosine %2 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %4 = stablehlo.exponential %3 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %5 = stablehlo.exponential_minus_one %4 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %6 = stablehlo.floor %5 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %7 = stablehlo.is_finite %arg0 : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2xi1>
  %8 = stablehlo.log %6 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %9 = stablehlo.log_plus_one %8 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %10 = stablehlo.logistic %9 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %11 = stablehlo.negate %10 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %12 = stablehlo.round_nearest_afz %11 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %13 = stablehlo.round_nearest_even %12 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %14 = stablehlo.rsqrt %13 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %15 = stablehlo.sign %14 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %16 = stablehlo.sine %15 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %17 = stablehlo.sqrt %16 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %18 = stablehlo.tan %17 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  // CHECK: stablehlo.tanh %18 : (tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<2x2x!quant.uniform<i8:f32, 7.812500e-03>>
  %19 = stablehlo.tanh %18 : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.0078125>>
  return
}

// -----

// CHECK-LABEL: func @binary
func.func @binary(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.5>>, %arg1: tensor<2x2x!quant.uniform<i8:f32, 0.25>>) {
  // CHECK: stablehlo.atan2 %arg0, %arg1 : (tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<2x2x!quant.uniform<i8:f32, 2.500000e-01>>) -> tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01>>
  %0 = stablehlo.atan2 %arg0, %arg1 : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<2x2x!quant.uniform<i8:f32, 0.25>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %1 = stablehlo.divide %arg0, %arg0 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %2 = stablehlo.maximum %arg0, %arg0 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %3 = stablehlo.minimum %arg0, %arg0 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %4 = stablehlo.power %arg0, %arg0 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %5 = stablehlo.remainder %arg0, %arg0 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %6 = stablehlo.subtract %arg0, %arg0 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

// CHECK-LABEL: func @moving
func.func @moving(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.5>>, %arg1: tensor<!quant.uniform<i8:f32, 0.5>>,
                  %pred: tensor<i1>, %index: tensor<i32>, %indices: tensor<3x1xi64>, %sizes: tensor<2xi64>) {
  // CHECK: stablehlo.select %arg2, %arg0, %arg0 : tensor<i1>, tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01>>
  %0 = stablehlo.select %pred, %arg0, %arg0 : tensor<i1>, tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %1 = stablehlo.slice %arg0 [0:1, 0:2] : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x2x!quant.uniform<i8:f32, 0.5>>
  %2 = stablehlo.pad %arg0, %arg1, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<3x2x!quant.uniform<i8:f32, 0.5>>
  %3 = stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<4x2x!quant.uniform<i8:f32, 0.5>>
  %4 = stablehlo.reverse %arg0, dims = [0] : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %5 = stablehlo.iota dim = 0 : tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %6 = stablehlo.dynamic_slice %arg0, %index, %index, sizes = [1, 1] : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<i32>, tensor<i32>) -> tensor<1x1x!quant.uniform<i8:f32, 0.5>>
  %7 = stablehlo.dynamic_update_slice %arg0, %6, %index, %index : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<1x1x!quant.uniform<i8:f32, 0.5>>, tensor<i32>, tensor<i32>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  %8 = "stablehlo.gather"(%4, %indices) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<3x1xi64>) -> tensor<3x2x!quant.uniform<i8:f32, 0.5>>
  %9 = stablehlo.dynamic_reshape %arg0, %sizes : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<2xi64>) -> tensor<?x?x!quant.uniform<i8:f32, 0.5>>
  %10 = stablehlo.dynamic_broadcast_in_dim %arg0, %sizes, dims = [0, 1] : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<2xi64>) -> tensor<?x?x!quant.uniform<i8:f32, 0.5>>
  %11 = stablehlo.dynamic_iota %sizes, dim = 0 : (tensor<2xi64>) -> tensor<?x?x!quant.uniform<i8:f32, 0.5>>
  %12 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<i32>
  // CHECK: stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0] : (tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>
  %13 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0] : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  %14 = "stablehlo.all_gather"(%7) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<4x2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @not_quantizable(%arg0: tensor<2x2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@+1 {{'stablehlo.convert' op operand #0 must be ranked tensor of boolean or integer or floating-point or complex values, but got 'tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01>>'}}
  %0 = stablehlo.convert %arg0 : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2xf32>
  return
}

// -----

// Quantization by blocks is in MLIR, but not in StableHLO.
func.func @blocks(%arg0: tensor<2x2x!quant.uniform<i8:f32:{0:1, 1:1}, {{0.5:1, 0.25}, {0.25, 0.5}}>>) {
  // expected-error@+1 {{'stablehlo.add' op operand #0 must be ranked tensor of boolean or integer or floating-point or complex or per-tensor quantized or per-axis quantized values, but got}}
  %0 = stablehlo.add %arg0, %arg0 : tensor<2x2x!quant.uniform<i8:f32:{0:1, 1:1}, {{0.5:1, 0.25}, {0.25, 0.5}}>>
  return
}

// -----

func.func @axis(%arg0: tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>) {
  // expected-error@+1 {{'stablehlo.tanh' op operand #0 must be ranked tensor of floating-point or complex or per-tensor quantized values, but got}}
  %0 = stablehlo.tanh %arg0 : tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>
  return
}

// -----

func.func @zero_point(%arg0: tensor<2x!quant.uniform<i8:f32, 0.5:200>>) {
  // expected-error@+1 {{'stablehlo.tanh' op operand #0 must be ranked tensor of floating-point or complex or per-tensor quantized values, but got}}
  %0 = stablehlo.tanh %arg0 : tensor<2x!quant.uniform<i8:f32, 0.5:200>>
  return
}

// -----

// What passes values on takes quantized ones.
// CHECK-LABEL: func @passed_on
func.func @passed_on(%arg0: tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>, %arg1: tensor<i1>, %arg2: tensor<i32>) {
  // CHECK: stablehlo.while(%iterArg = %arg0) : tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>
  %0 = "stablehlo.while"(%arg0) ({
  ^bb0(%x: tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>):
    stablehlo.return %arg1 : tensor<i1>
  }, {
  ^bb0(%x: tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>):
    stablehlo.return %x : tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  }) : (tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  // CHECK: (tensor<i1>) -> tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>
  %1 = "stablehlo.if"(%arg1) ({
    stablehlo.return %arg0 : tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  }, {
    stablehlo.return %arg0 : tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  }) : (tensor<i1>) -> tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  // CHECK: (tensor<i32>) -> tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>
  %2 = "stablehlo.case"(%arg2) ({
    stablehlo.return %arg0 : tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  }) : (tensor<i32>) -> tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  // CHECK: stablehlo.tuple %arg0 : tuple<tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>>
  %3 = stablehlo.tuple %arg0 : tuple<tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>>
  // CHECK: stablehlo.custom_call @f(%arg0) : (tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>) -> !stablehlo.future<tensor<2xf32>>
  %4 = stablehlo.custom_call @f(%arg0) : (tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> !stablehlo.future<tensor<2xf32>>
  // CHECK: stablehlo.custom_call @g(%4) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>
  %5 = stablehlo.custom_call @g(%4) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// RUN: torchere-opt %s --chlo-legalize-to-stablehlo -split-input-file | FileCheck %s

// CHECK-LABEL: func @constants
func.func @constants(%arg0: tensor<?x2xi32>) -> (tensor<2xf32>, tensor<?x2xf32>) {
  // CHECK: stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
  %0 = chlo.constant dense<1.0> : tensor<2xf32>
  // CHECK: %[[C:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<f32>
  // CHECK: %[[SHAPE:.*]] = stablehlo.concatenate
  // CHECK: stablehlo.dynamic_broadcast_in_dim %[[C]], %[[SHAPE]], dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>
  %1 = "chlo.constant_like"(%arg0) {value = 2.0 : f32} : (tensor<?x2xi32>) -> tensor<?x2xf32>
  return %0, %1 : tensor<2xf32>, tensor<?x2xf32>
}

// -----

// Half precision is computed in float32, and in turn float64 in itself.
// CHECK-LABEL: func @precisions
func.func @precisions(%arg0: tensor<2xf16>, %arg1: tensor<2xf64>) -> (tensor<2xf16>, tensor<2xf64>) {
  // CHECK: stablehlo.convert %arg0 : (tensor<2xf16>) -> tensor<2xf32>
  // CHECK: stablehlo.exponential %{{.*}} : tensor<2xf32>
  // CHECK: stablehlo.convert %{{.*}} : (tensor<2xf32>) -> tensor<2xf16>
  %0 = chlo.sinh %arg0 : tensor<2xf16> -> tensor<2xf16>
  // CHECK: stablehlo.exponential %{{.*}} : tensor<2xf64>
  %1 = chlo.sinh %arg1 : tensor<2xf64> -> tensor<2xf64>
  return %0, %1 : tensor<2xf16>, tensor<2xf64>
}

// -----

// Constants of unknown shape share one computed shape.
// CHECK-LABEL: func @unknown_shape
func.func @unknown_shape(%arg0: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-COUNT-1: stablehlo.get_dimension_size
  // CHECK-NOT: stablehlo.get_dimension_size
  %0 = chlo.erf %arg0 : tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func @arc_tangents
func.func @arc_tangents(%arg0: tensor<2xf32>, %arg1: tensor<2xf64>) -> (tensor<2xf32>, tensor<2xf64>) {
  // CHECK: stablehlo.atan2 %arg0, %{{.*}} : tensor<2xf32>
  // CHECK: stablehlo.atan2 %arg1, %{{.*}} : tensor<2xf64>
  %0 = chlo.atan %arg0 : tensor<2xf32> -> tensor<2xf32>
  %1 = chlo.atan %arg1 : tensor<2xf64> -> tensor<2xf64>
  return %0, %1 : tensor<2xf32>, tensor<2xf64>
}

// -----

// CHECK-LABEL: func @renamed
func.func @renamed(%arg0: tensor<2xcomplex<f32>>, %arg1: tensor<2xf32>) -> (tensor<2xcomplex<f32>>, tensor<2xf32>) {
  // CHECK: stablehlo.tan %arg0 : tensor<2xcomplex<f32>>
  %0 = chlo.tan %arg0 : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  // CHECK: return %{{.*}}, %arg1
  %1 = chlo.conj %arg1 : tensor<2xf32> -> tensor<2xf32>
  return %0, %1 : tensor<2xcomplex<f32>>, tensor<2xf32>
}

// -----

// Some types of 8 bits have no infinity.
// CHECK-LABEL: func @no_infinity
func.func @no_infinity(%arg0: tensor<2xf8E4M3FN>, %arg1: tensor<2xf8E5M2>) -> (tensor<2xi1>, tensor<2xi1>) {
  // CHECK: stablehlo.constant dense<false> : tensor<2xi1>
  %0 = chlo.is_inf %arg0 : tensor<2xf8E4M3FN> -> tensor<2xi1>
  // CHECK: stablehlo.compare EQ
  %1 = chlo.is_neg_inf %arg1 : tensor<2xf8E5M2> -> tensor<2xi1>
  return %0, %1 : tensor<2xi1>, tensor<2xi1>
}

// -----

// CHECK-LABEL: func @top_k
func.func @top_k(%arg0: tensor<2x5xf32>, %arg1: tensor<?x5xi32>) -> (tensor<2x3xf32>, tensor<?x3xi32>) {
  // CHECK: %[[I:.*]] = stablehlo.iota dim = 1 : tensor<2x5xi32>
  // CHECK: "stablehlo.sort"(%arg0, %[[I]]) <{dimension = 1 : i64, is_stable = true}>
  // CHECK: stablehlo.compare GT, %{{.*}}, %{{.*}}, TOTALORDER
  // CHECK: stablehlo.slice %{{.*}} [0:2, 0:3] : (tensor<2x5xf32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.slice %{{.*}} [0:2, 0:3] : (tensor<2x5xi32>) -> tensor<2x3xi32>
  %0:2 = chlo.top_k(%arg0, k = 3) : tensor<2x5xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)
  // CHECK: stablehlo.dynamic_iota
  // CHECK: stablehlo.compare GT, %{{.*}}, %{{.*}}, SIGNED
  // CHECK: stablehlo.real_dynamic_slice
  %1:2 = chlo.top_k(%arg1, k = 3) : tensor<?x5xi32> -> (tensor<?x3xi32>, tensor<?x3xi32>)
  return %0#0, %1#0 : tensor<2x3xf32>, tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func @scan
func.func @scan(%arg0: tensor<3x4xf32>, %arg1: tensor<3xf32>) -> tensor<3x4xf32> {
  // CHECK: stablehlo.while
  // CHECK: stablehlo.compare LT
  // CHECK: stablehlo.dynamic_slice %{{.*}}, sizes = [3, 1] : (tensor<3x4xf32>, tensor<i64>, tensor<i64>) -> tensor<3x1xf32>
  // CHECK: stablehlo.add
  // CHECK: stablehlo.dynamic_update_slice
  %0:2 = chlo.scan(%arg0) inits(%arg1) dimension=1 {
  ^bb0(%input: tensor<3xf32>, %carry: tensor<3xf32>):
    %1 = chlo.broadcast_add %input, %carry : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    stablehlo.return %1, %1 : tensor<3xf32>, tensor<3xf32>
  } : (tensor<3x4xf32>, tensor<3xf32>) -> (tensor<3x4xf32>, tensor<3xf32>)
  return %0#0 : tensor<3x4xf32>
}

// -----

// CHECK-LABEL: func @ragged_dot
func.func @ragged_dot(%arg0: tensor<11x5xf32>, %arg1: tensor<3x5x7xf32>, %arg2: tensor<3xi32>) -> tensor<11x7xf32> {
  // CHECK: %[[ALL:.*]] = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [1] : (tensor<11x5xf32>, tensor<3x5x7xf32>) -> tensor<11x3x7xf32>
  // CHECK: "stablehlo.reduce_window"
  // CHECK: stablehlo.select %{{.*}}, %[[ALL]], %{{.*}} : tensor<11x3x7xi1>, tensor<11x3x7xf32>
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.add across dimensions = [1]
  %0 = "chlo.ragged_dot"(%arg0, %arg1, %arg2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi32>) -> tensor<11x7xf32>
  return %0 : tensor<11x7xf32>
}

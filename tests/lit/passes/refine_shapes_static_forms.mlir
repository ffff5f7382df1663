// RUN: torchere-opt %s -split-input-file --stablehlo-refine-shapes | FileCheck %s
// Dynamic ops become their static forms once their shapes are constants.

// CHECK-LABEL: func @main
// CHECK-SAME: -> tensor<2x3xf32>
// CHECK-NEXT: stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: return
func.func @main(%arg0: tensor<3xf32>) -> tensor<?x?xf32> {
  %shape = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %0 = stablehlo.dynamic_broadcast_in_dim %arg0, %shape, dims = [1] : (tensor<3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func @main
// CHECK-NEXT: stablehlo.reshape %arg0 {note = 1 : i32} : (tensor<2x3xf32>) -> tensor<6xf32>
func.func @main(%arg0: tensor<2x3xf32>) -> tensor<?xf32> {
  %shape = stablehlo.constant dense<6> : tensor<1xi32>
  %0 = stablehlo.dynamic_reshape %arg0, %shape {note = 1 : i32} : (tensor<2x3xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func @main
// CHECK-NEXT: stablehlo.iota dim = 1 : tensor<0x4xf32>
func.func @main() -> tensor<?x?xf32> {
  %shape = stablehlo.constant dense<[0, 4]> : tensor<2xui32>
  %0 = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xui32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func @main
// CHECK-NEXT: stablehlo.pad %arg0, %arg1, low = [1], high = [2], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<6xf32>
func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<f32>) -> tensor<?xf32> {
  %low = stablehlo.constant dense<1> : tensor<1xi64>
  %high = stablehlo.constant dense<2> : tensor<1xi64>
  %0 = stablehlo.dynamic_pad %arg0, %arg1, %low, %high, %low : (tensor<2xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func @main
// CHECK-NEXT: stablehlo.slice %arg0 [1:4:2] : (tensor<5xf32>) -> tensor<2xf32>
func.func @main(%arg0: tensor<5xf32>) -> tensor<?xf32> {
  %start = stablehlo.constant dense<1> : tensor<1xi32>
  %limit = stablehlo.constant dense<4> : tensor<1xi32>
  %stride = stablehlo.constant dense<2> : tensor<1xi32>
  %0 = stablehlo.real_dynamic_slice %arg0, %start, %limit, %stride : (tensor<5xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func @main
// CHECK-NEXT: "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 3>}> : (tensor<4x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
func.func @main(%arg0: tensor<4x3xf32>, %arg1: tensor<5x1xi32>) -> tensor<5x?xf32> {
  %sizes = stablehlo.constant dense<[1, 3]> : tensor<2xi64>
  %0 = "stablehlo.dynamic_gather"(%arg0, %arg1, %sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true}> : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<2xi64>) -> tensor<5x?xf32>
  return %0 : tensor<5x?xf32>
}

// -----

// CHECK-LABEL: func @main
// CHECK-NEXT: stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = {{\[\[}}1, 2]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x4xf32>, tensor<3x4x16xf32>) -> tensor<1x5x16xf32>
func.func @main(%arg0: tensor<1x8x4xf32>, %arg1: tensor<3x4x16xf32>) -> tensor<1x?x16xf32> {
  %padding = stablehlo.constant dense<[[1, 2]]> : tensor<1x2xi32>
  %0 = "stablehlo.dynamic_conv"(%arg0, %arg1, %padding) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, window_strides = array<i64: 2>}> : (tensor<1x8x4xf32>, tensor<3x4x16xf32>, tensor<1x2xi32>) -> tensor<1x?x16xf32>
  return %0 : tensor<1x?x16xf32>
}

// -----

// Nothing is taken from nothing: the slice fits its operand.
// CHECK-LABEL: func @main
// CHECK: "stablehlo.gather"(%{{.*}}, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 0, 3>}> : (tensor<0x3xf32>, tensor<0x1xi32>) -> tensor<0x3xf32>
func.func @main(%arg0: tensor<f32>, %arg1: tensor<0x1xi32>) -> tensor<?x?xf32> {
  %shape = stablehlo.constant dense<[0, 3]> : tensor<2xi64>
  %sizes = stablehlo.constant dense<[1, 3]> : tensor<2xi64>
  %0 = stablehlo.dynamic_broadcast_in_dim %arg0, %shape, dims = [] : (tensor<f32>, tensor<2xi64>) -> tensor<?x3xf32>
  %1 = "stablehlo.dynamic_gather"(%0, %arg1, %sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true}> : (tensor<?x3xf32>, tensor<0x1xi32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// RUN: torchere-opt %s -split-input-file --stablehlo-canonicalize-dynamism | FileCheck %s

// CHECK-LABEL: func @broadcast
// CHECK: %[[STATIC:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
// CHECK: %[[UNTYPED:.*]] = stablehlo.dynamic_broadcast_in_dim {{.*}} -> tensor<?x4xf32>
// CHECK: %[[COMPUTED:.*]] = stablehlo.dynamic_broadcast_in_dim {{.*}} -> tensor<3x4xf32>
// CHECK: return %[[STATIC]], %[[UNTYPED]], %[[COMPUTED]]
func.func @broadcast(%arg0: tensor<4xf32>, %arg1: tensor<2xi64>) -> (tensor<3x4xf32>, tensor<?x4xf32>, tensor<3x4xf32>) {
  %shape = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
  %0 = stablehlo.dynamic_broadcast_in_dim %arg0, %shape, dims = [1] : (tensor<4xf32>, tensor<2xi64>) -> tensor<3x4xf32>
  // The type says less than the constant; this pass changes no types.
  %1 = stablehlo.dynamic_broadcast_in_dim %arg0, %shape, dims = [1] : (tensor<4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  %2 = stablehlo.dynamic_broadcast_in_dim %arg0, %arg1, dims = [1] : (tensor<4xf32>, tensor<2xi64>) -> tensor<3x4xf32>
  return %0, %1, %2 : tensor<3x4xf32>, tensor<?x4xf32>, tensor<3x4xf32>
}

// -----

// CHECK-LABEL: func @reshape_and_iota
// CHECK-NEXT: stablehlo.reshape %arg0 : (tensor<4xf32>) -> tensor<2x2xf32>
// CHECK-NEXT: stablehlo.iota dim = 1 : tensor<2x2xf32>
// CHECK-NEXT: return
func.func @reshape_and_iota(%arg0: tensor<4xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %shape = stablehlo.constant dense<2> : tensor<2xi64>
  %0 = stablehlo.dynamic_reshape %arg0, %shape : (tensor<4xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  %1 = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xi64>) -> tensor<2x2xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// CHECK-LABEL: func @pad_and_slice
// CHECK-NEXT: stablehlo.pad %arg0, %arg1, low = [1], high = [1], interior = [1] : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
// CHECK-NEXT: stablehlo.slice %arg2 [1:3] : (tensor<4xf32>) -> tensor<?xf32>
// CHECK-NEXT: return
func.func @pad_and_slice(%arg0: tensor<?xf32>, %arg1: tensor<f32>, %arg2: tensor<4xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %one = stablehlo.constant dense<1> : tensor<1xi64>
  %three = stablehlo.constant dense<3> : tensor<1xi64>
  %0 = stablehlo.dynamic_pad %arg0, %arg1, %one, %one, %one : (tensor<?xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  %1 = stablehlo.real_dynamic_slice %arg2, %one, %three, %one : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// -----

// CHECK-LABEL: func @slice_of_constant_size
// CHECK-NEXT: %[[ELEMENT:.*]] = stablehlo.slice %arg1 [0:1] : (tensor<1xi64>) -> tensor<1xi64>
// CHECK-NEXT: %[[START:.*]] = stablehlo.reshape %[[ELEMENT]] : (tensor<1xi64>) -> tensor<i64>
// CHECK-NEXT: stablehlo.dynamic_slice %arg0, %[[START]], sizes = [2] : (tensor<4xf32>, tensor<i64>) -> tensor<2xf32>
// CHECK-NEXT: return
func.func @slice_of_constant_size(%arg0: tensor<4xf32>, %arg1: tensor<1xi64>) -> tensor<2xf32> {
  %one = stablehlo.constant dense<1> : tensor<1xi64>
  %two = stablehlo.constant dense<2> : tensor<1xi64>
  %limit = stablehlo.add %two, %arg1 : tensor<1xi64>
  %0 = stablehlo.real_dynamic_slice %arg0, %arg1, %limit, %one : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// A stride is no part of a dynamic_slice.
// CHECK-LABEL: func @slice_with_stride
// CHECK: stablehlo.real_dynamic_slice
func.func @slice_with_stride(%arg0: tensor<4xf32>, %arg1: tensor<1xi64>) -> tensor<1xf32> {
  %two = stablehlo.constant dense<2> : tensor<1xi64>
  %limit = stablehlo.add %arg1, %two : tensor<1xi64>
  %0 = stablehlo.real_dynamic_slice %arg0, %arg1, %limit, %two : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// -----

// CHECK-LABEL: func @gather
// CHECK-NEXT: "stablehlo.gather"(%arg0, %arg1){{.*}}slice_sizes = array<i64: 1, 3>
func.func @gather(%arg0: tensor<5x3xf32>, %arg1: tensor<2x1xi64>) -> tensor<2x3xf32> {
  %sizes = stablehlo.constant dense<[1, 3]> : tensor<2xi64>
  %0 = "stablehlo.dynamic_gather"(%arg0, %arg1, %sizes) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>
  }> : (tensor<5x3xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func @custom_call
// CHECK-NEXT: %[[RESULTS:.*]]:2 = stablehlo.custom_call @foo(%arg0) : (tensor<4xf32>) -> (tensor<1x2xf32>, tensor<3x4xf32>)
// CHECK-NEXT: stablehlo.custom_call @foo(%arg0, %arg1) {indices_of_shape_operands = dense<1> : tensor<1xi64>}
func.func @custom_call(%arg0: tensor<4xf32>, %arg1: tensor<2xi64>) -> (tensor<1x2xf32>, tensor<3x4xf32>, tensor<1x2xf32>) {
  %first = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %second = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
  %0:2 = stablehlo.custom_call @foo(%arg0, %first, %second) {indices_of_shape_operands = dense<[1, 2]> : tensor<2xi64>} : (tensor<4xf32>, tensor<2xi64>, tensor<2xi64>) -> (tensor<1x2xf32>, tensor<3x4xf32>)
  %1 = stablehlo.custom_call @foo(%arg0, %arg1) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<4xf32>, tensor<2xi64>) -> tensor<1x2xf32>
  return %0#0, %0#1, %1 : tensor<1x2xf32>, tensor<3x4xf32>, tensor<1x2xf32>
}

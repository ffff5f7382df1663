// RUN: torchere-opt %s --chlo-legalize-to-stablehlo -split-input-file | FileCheck %s

// CHECK-LABEL: func @aligned_at_the_end
func.func @aligned_at_the_end(%arg0: tensor<3xf32>, %arg1: tensor<2x1xf32>) -> tensor<2x3xf32> {
  // CHECK: %[[L:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: %[[R:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.subtract %[[L]], %[[R]] : tensor<2x3xf32>
  %0 = chlo.broadcast_subtract %arg0, %arg1 : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func @equal_shapes
func.func @equal_shapes(%arg0: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK-NEXT: %[[R:.*]] = stablehlo.add %arg0, %arg0 : tensor<3xf32>
  // CHECK-NEXT: return %[[R]]
  %0 = chlo.broadcast_add %arg0, %arg0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// CHECK-LABEL: func @at_given_dimensions
func.func @at_given_dimensions(%arg0: tensor<3xf32>, %arg1: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<3xf32>) -> tensor<3x4xf32>
  // CHECK-NEXT: stablehlo.maximum
  %0 = chlo.broadcast_maximum %arg0, %arg1 {broadcast_dimensions = array<i64: 0>} : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

// The size is that of the operand which has not one element there.
// CHECK-LABEL: func @unknown_sizes
func.func @unknown_sizes(%arg0: tensor<?xf32>, %arg1: tensor<4x?xf32>) -> tensor<4x?xf32> {
  // CHECK-DAG: %[[LEFT:.*]] = stablehlo.get_dimension_size %arg0, dim = 0
  // CHECK-DAG: %[[RIGHT:.*]] = stablehlo.get_dimension_size %arg1, dim = 1
  // CHECK-DAG: %[[ONE:.*]] = stablehlo.constant dense<1> : tensor<i32>
  // CHECK: %[[IS:.*]] = stablehlo.compare EQ, %[[LEFT]], %[[ONE]], SIGNED
  // CHECK: %[[SIZE:.*]] = stablehlo.select %[[IS]], %[[RIGHT]], %[[LEFT]]
  // CHECK: %[[SHAPE:.*]] = stablehlo.concatenate
  // CHECK: stablehlo.dynamic_broadcast_in_dim %arg0, %[[SHAPE]], dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<4x?xf32>
  // CHECK: stablehlo.dynamic_broadcast_in_dim %arg1, %[[SHAPE]], dims = [0, 1] : (tensor<4x?xf32>, tensor<2xi32>) -> tensor<4x?xf32>
  // CHECK: stablehlo.multiply
  %0 = chlo.broadcast_multiply %arg0, %arg1 : (tensor<?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// -----

// A result that is declared less precisely than it is known keeps its type.
// CHECK-LABEL: func @declared_less_precise
func.func @declared_less_precise(%arg0: tensor<3xf32>) -> tensor<?xf32> {
  // CHECK: %[[SUM:.*]] = stablehlo.add %arg0, %arg0 : tensor<3xf32>
  // CHECK: stablehlo.convert %[[SUM]] : (tensor<3xf32>) -> tensor<?xf32>
  %0 = chlo.broadcast_add %arg0, %arg0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func @select_of_scalar
func.func @select_of_scalar(%arg0: tensor<i1>, %arg1: tensor<2xf32>, %arg2: tensor<f32>) -> tensor<2xf32> {
  // CHECK: %[[F:.*]] = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2xf32>
  // CHECK: stablehlo.select %arg0, %arg1, %[[F]] : tensor<i1>, tensor<2xf32>
  %0 = chlo.broadcast_select %arg0, %arg1, %arg2 : (tensor<i1>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// CHECK-LABEL: func @compare
func.func @compare(%arg0: tensor<2xi32>, %arg1: tensor<i32>) -> tensor<2xi1> {
  // CHECK: stablehlo.compare GE, %arg0, %{{.*}}, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
  %0 = chlo.broadcast_compare %arg0, %arg1 {comparison_direction = #chlo<comparison_direction GE>, compare_type = #chlo<comparison_type SIGNED>} : (tensor<2xi32>, tensor<i32>) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}

// -----

// CHECK-LABEL: func @expanded_in_turn
// CHECK-NOT: chlo.
func.func @expanded_in_turn(%arg0: tensor<2xf32>, %arg1: tensor<f32>) -> tensor<2xf32> {
  // CHECK: stablehlo.power
  %0 = chlo.broadcast_zeta %arg0, %arg1 : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

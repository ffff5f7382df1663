// RUN: torchere-opt %s --torchere-prepare-xla-cpu-donated-writes --split-input-file | FileCheck %s

// A write that is read.
// CHECK-LABEL: func @main
// CHECK: %[[WRITE:.*]] = stablehlo.dynamic_update_slice %arg0
// CHECK-NEXT: %[[BARRIER:.*]] = stablehlo.optimization_barrier %[[WRITE]] : tensor<4xf32>
// CHECK-NEXT: %[[READ:.*]] = stablehlo.negate %[[BARRIER]]
// CHECK-NEXT: return %[[BARRIER]], %[[READ]]
func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<2xf32>, %i: tensor<i64>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.dynamic_update_slice %a, %b, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i64>) -> tensor<4xf32>
  %1 = stablehlo.negate %0 : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A chain of writes: nothing but the next write reads the second.
// CHECK-LABEL: func @main
// CHECK: %[[FIRST:.*]] = "stablehlo.scatter"(%arg0
// CHECK: %[[BEHIND:.*]] = stablehlo.optimization_barrier %[[FIRST]]
// CHECK-NEXT: %[[SECOND:.*]] = stablehlo.dynamic_update_slice %[[BEHIND]]
// CHECK-NEXT: %[[MASK:.*]] = stablehlo.compare
// CHECK-NEXT: %[[THIRD:.*]] = stablehlo.select %[[MASK]], %arg4, %[[SECOND]]
// CHECK-NEXT: %[[LAST:.*]] = stablehlo.optimization_barrier %[[THIRD]]
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[BEHIND]], %[[LAST]]
// CHECK-NEXT: return %[[LAST]], %[[SUM]]
func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<2xf32>, %i: tensor<i64>, %s: tensor<1x1xi64>, %n: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = stablehlo.slice %b [0:1] : (tensor<2xf32>) -> tensor<1xf32>
  %0 = "stablehlo.scatter"(%a, %s, %c) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<4xf32>, tensor<1x1xi64>, tensor<1xf32>) -> tensor<4xf32>
  %1 = stablehlo.dynamic_update_slice %0, %b, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i64>) -> tensor<4xf32>
  %m = stablehlo.compare LT, %n, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %2 = stablehlo.select %m, %n, %1 : tensor<4xi1>, tensor<4xf32>
  %3 = stablehlo.add %0, %2 : tensor<4xf32>
  return %2, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// What is not written in place, is donated to a result that is not there, or is not donated.
// CHECK-LABEL: func @main
// CHECK-NOT: optimization_barrier
func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<2xf32>, %i: tensor<i64>, %c: tensor<4xf32> {tf.aliasing_output = 7 : i32}, %d: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.negate %a : tensor<4xf32>
  %1 = stablehlo.dynamic_update_slice %0, %b, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i64>) -> tensor<4xf32>
  %2 = stablehlo.dynamic_update_slice %c, %b, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i64>) -> tensor<4xf32>
  %3 = stablehlo.dynamic_update_slice %d, %b, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i64>) -> tensor<4xf32>
  %4 = stablehlo.add %2, %3 : tensor<4xf32>
  %5 = stablehlo.add %4, %1 : tensor<4xf32>
  return %1, %2, %3, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// No @main to be called.
// CHECK-LABEL: func @other
// CHECK-NOT: optimization_barrier
func.func @other(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<2xf32>, %i: tensor<i64>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.dynamic_update_slice %a, %b, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i64>) -> tensor<4xf32>
  %1 = stablehlo.negate %0 : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// RUN: torchere-opt %s --stablehlo-compatibility-expander=target=1.0.0 | FileCheck %s --check-prefixes=CHECK,OLD
// RUN: torchere-opt %s --stablehlo-compatibility-expander=target=1.3.5 | FileCheck %s --check-prefixes=CHECK,MIDDLE
// RUN: torchere-opt %s --stablehlo-compatibility-expander=target=1.4.0 | FileCheck %s --check-prefixes=CHECK,NEW
// RUN: not torchere-opt %s --stablehlo-compatibility-expander 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not torchere-opt %s --stablehlo-compatibility-expander=target=one 2>&1 | FileCheck %s --check-prefix=MALFORMED

// MISSING: target
// MALFORMED: target

// CHECK-LABEL: func @tan
// OLD-NEXT: %[[SINE:.*]] = stablehlo.sine %arg0 : tensor<4xf64>
// OLD-NEXT: %[[COSINE:.*]] = stablehlo.cosine %arg0 : tensor<4xf64>
// OLD-NEXT: stablehlo.divide %[[SINE]], %[[COSINE]] : tensor<4xf64>
// MIDDLE: stablehlo.divide
// NEW-NEXT: stablehlo.tan %arg0 : tensor<4xf64>
func.func @tan(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = stablehlo.tan %x : tensor<4xf64>
  return %0 : tensor<4xf64>
}

// CHECK-LABEL: func @complex_tan
// OLD-NEXT: %[[REAL:.*]] = stablehlo.real %arg0
// OLD-NEXT: %[[SINE:.*]] = stablehlo.sine %[[REAL]]
// OLD-NEXT: %[[COSINE:.*]] = stablehlo.cosine %[[REAL]]
// OLD-NEXT: %[[TAN:.*]] = stablehlo.divide %[[SINE]], %[[COSINE]]
// OLD-NEXT: %[[IMAG:.*]] = stablehlo.imag %arg0
// OLD-NEXT: %[[TANH:.*]] = stablehlo.tanh %[[IMAG]]
// OLD-NEXT: %[[NUMERATOR:.*]] = stablehlo.complex %[[TAN]], %[[TANH]]
// OLD-NEXT: %[[PRODUCT:.*]] = stablehlo.multiply %[[TAN]], %[[TANH]]
// OLD-NEXT: %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<4xf32>
// OLD-NEXT: %[[NEGATIVE:.*]] = stablehlo.negate %[[PRODUCT]]
// OLD-NEXT: %[[DENOMINATOR:.*]] = stablehlo.complex %[[ONE]], %[[NEGATIVE]]
// OLD-NEXT: stablehlo.divide %[[NUMERATOR]], %[[DENOMINATOR]]
// NEW-NEXT: stablehlo.tan
func.func @complex_tan(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = stablehlo.tan %x : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// CHECK-LABEL: func @dynamic_complex_tan
// OLD: stablehlo.get_dimension_size
// OLD: stablehlo.dynamic_broadcast_in_dim
// OLD-NOT: stablehlo.tan %
func.func @dynamic_complex_tan(%x: tensor<?x2xcomplex<f32>>) -> tensor<?x2xcomplex<f32>> {
  %0 = stablehlo.tan %x : tensor<?x2xcomplex<f32>>
  return %0 : tensor<?x2xcomplex<f32>>
}

// Positions along the batching dimensions of the indices come first in each index.
// CHECK-LABEL: func @gather
// OLD-NEXT: %[[FIRST:.*]] = stablehlo.iota dim = 1 : tensor<4x3x5x1xi32>
// OLD-NEXT: %[[SECOND:.*]] = stablehlo.iota dim = 0 : tensor<4x3x5x1xi32>
// OLD-NEXT: %[[INDICES:.*]] = stablehlo.concatenate %[[FIRST]], %[[SECOND]], %arg1, dim = 3 : (tensor<4x3x5x1xi32>, tensor<4x3x5x1xi32>, tensor<4x3x5x2xi32>) -> tensor<4x3x5x4xi32>
// OLD-NEXT: "stablehlo.gather"(%arg0, %[[INDICES]])
// OLD-SAME: offset_dims = [3], collapsed_slice_dims = [0, 1, 2, 3], start_index_map = [0, 2, 1, 3], index_vector_dim = 3>
// MIDDLE: operand_batching_dims = [0, 2]
func.func @gather(%x: tensor<3x2x4x7x9xi32>, %indices: tensor<4x3x5x2xi32>) -> tensor<4x3x5x8xi32> {
  %0 = "stablehlo.gather"(%x, %indices) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [3], collapsed_slice_dims = [1, 3], operand_batching_dims = [0, 2],
      start_indices_batching_dims = [1, 0], start_index_map = [1, 3], index_vector_dim = 3>,
    slice_sizes = array<i64: 1, 1, 1, 1, 8>
  }> : (tensor<3x2x4x7x9xi32>, tensor<4x3x5x2xi32>) -> tensor<4x3x5x8xi32>
  return %0 : tensor<4x3x5x8xi32>
}

// Indices without a vector become vectors, and a type too narrow for the positions a wider one.
// CHECK-LABEL: func @gather_of_narrow_scalars
// OLD-NEXT: %[[WIDE:.*]] = stablehlo.convert %arg1 : (tensor<128x5xi8>) -> tensor<128x5xi32>
// OLD-NEXT: %[[VECTORS:.*]] = stablehlo.reshape %[[WIDE]] : (tensor<128x5xi32>) -> tensor<128x5x1xi32>
// OLD-NEXT: %[[POSITIONS:.*]] = stablehlo.iota dim = 0 : tensor<128x5x1xi32>
// OLD-NEXT: %[[INDICES:.*]] = stablehlo.concatenate %[[POSITIONS]], %[[VECTORS]], dim = 2
// OLD-NEXT: "stablehlo.gather"(%arg0, %[[INDICES]])
func.func @gather_of_narrow_scalars(%x: tensor<128x2x9xf32>, %indices: tensor<128x5xi8>) -> tensor<128x5x9xf32> {
  %0 = "stablehlo.gather"(%x, %indices) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0],
      start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1, 9>
  }> : (tensor<128x2x9xf32>, tensor<128x5xi8>) -> tensor<128x5x9xf32>
  return %0 : tensor<128x5x9xf32>
}

// A size that is not known cannot be counted along.
// CHECK-LABEL: func @dynamic_gather
// CHECK: operand_batching_dims = [0]
func.func @dynamic_gather(%x: tensor<?x2x9xf32>, %indices: tensor<?x5x1xi32>) -> tensor<?x5x9xf32> {
  %0 = "stablehlo.gather"(%x, %indices) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0],
      start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1, 9>
  }> : (tensor<?x2x9xf32>, tensor<?x5x1xi32>) -> tensor<?x5x9xf32>
  return %0 : tensor<?x5x9xf32>
}

// Sorted indices stay sorted, because the positions ascend before them.
// CHECK-LABEL: func @scatter
// OLD-NEXT: %[[POSITIONS:.*]] = stablehlo.iota dim = 0 : tensor<2x3x1xi32>
// OLD-NEXT: %[[INDICES:.*]] = stablehlo.concatenate %[[POSITIONS]], %arg1, dim = 2
// OLD-NEXT: "stablehlo.scatter"(%arg0, %[[INDICES]], %arg2)
// OLD-SAME: indices_are_sorted = true
// OLD-SAME: update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>
// OLD-SAME: unique_indices = true
// MIDDLE: input_batching_dims = [0]
func.func @scatter(%x: tensor<2x4x5xf32>, %indices: tensor<2x3x1xi32>, %updates: tensor<2x3x5xf32>) -> tensor<2x4x5xf32> {
  %0 = "stablehlo.scatter"(%x, %indices, %updates) <{
    indices_are_sorted = true, unique_indices = true,
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1],
      input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>
  }> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<2x4x5xf32>, tensor<2x3x1xi32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  return %0 : tensor<2x4x5xf32>
}

// Positions that descend in the order of the map spoil the order of the indices.
// CHECK-LABEL: func @no_longer_sorted
// OLD: "stablehlo.gather"
// OLD-NOT: indices_are_sorted = true
// OLD: return
func.func @no_longer_sorted(%x: tensor<3x2x4xf32>, %indices: tensor<2x3x1xi32>) -> tensor<2x3xf32> {
  %0 = "stablehlo.gather"(%x, %indices) <{
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1],
      start_indices_batching_dims = [1, 0], start_index_map = [2], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1, 1>, indices_are_sorted = true
  }> : (tensor<3x2x4xf32>, tensor<2x3x1xi32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func @dynamic_slices
// OLD-NEXT: %[[POSITIONS:.*]] = stablehlo.iota dim = 0 : tensor<2x5x1xi32>
// OLD-NEXT: %[[INDICES:.*]] = stablehlo.concatenate %[[POSITIONS]], %arg1, dim = 2
// OLD-NEXT: "stablehlo.dynamic_gather"(%arg0, %[[INDICES]], %arg2)
// OLD-SAME: collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>
// MIDDLE: operand_batching_dims = [0]
func.func @dynamic_slices(%x: tensor<2x4x9xf32>, %indices: tensor<2x5x1xi32>, %sizes: tensor<3xi32>) -> tensor<2x5x?xf32> {
  %0 = "stablehlo.dynamic_gather"(%x, %indices, %sizes) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0],
      start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>
  }> : (tensor<2x4x9xf32>, tensor<2x5x1xi32>, tensor<3xi32>) -> tensor<2x5x?xf32>
  return %0 : tensor<2x5x?xf32>
}

// A quotient promises no accuracy.
// CHECK-LABEL: func @accurate_tan
// CHECK-NEXT: stablehlo.tan
func.func @accurate_tan(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = stablehlo.tan %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf64>
  return %0 : tensor<4xf64>
}

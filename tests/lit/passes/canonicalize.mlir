// RUN: torchere-opt %s -canonicalize | FileCheck %s

// The ops' own folders, as any pass that folds uses them.

// CHECK-LABEL: func @parts
func.func @parts(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = stablehlo.complex %arg0, %arg1 : tensor<2xcomplex<f32>>
  %1 = stablehlo.real %0 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %2 = stablehlo.imag %0 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %3 = stablehlo.real %arg1 : tensor<2xf32>
  // CHECK-NEXT: return %arg0, %arg1, %arg1
  return %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func @parts_of_other_types
func.func @parts_of_other_types(%arg0: tensor<?xf32>) -> (tensor<2xf32>, tensor<?xf32>) {
  // CHECK: stablehlo.complex
  %0 = stablehlo.complex %arg0, %arg0 : tensor<?xcomplex<f32>>
  // CHECK: stablehlo.real
  %1 = stablehlo.real %0 : (tensor<?xcomplex<f32>>) -> tensor<2xf32>
  // CHECK: stablehlo.imag %arg0
  %2 = stablehlo.imag %arg0 : tensor<?xf32>
  return %1, %2 : tensor<2xf32>, tensor<?xf32>
}

// CHECK-LABEL: func @tuples
func.func @tuples(%arg0: tensor<2xf32>, %arg1: tensor<i32>) -> (tensor<i32>, tensor<2xf32>) {
  %0 = stablehlo.tuple %arg0, %arg1 : tuple<tensor<2xf32>, tensor<i32>>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<2xf32>, tensor<i32>>) -> tensor<i32>
  %2 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<2xf32>, tensor<i32>>) -> tensor<2xf32>
  // CHECK-NEXT: return %arg1, %arg0
  return %1, %2 : tensor<i32>, tensor<2xf32>
}

// CHECK-LABEL: func @identities
func.func @identities(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.broadcast %arg0, sizes = [] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = stablehlo.convert %arg0 : tensor<2x3xf32>
  %3 = stablehlo.reshape %2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = stablehlo.transpose %3, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = stablehlo.slice %4 [0:2, 0:3] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: return %arg0, %arg0, %arg0
  return %0, %1, %6 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func @constants
func.func @constants(%arg0: tensor<4x?xf32>, %arg1: tensor<f32>) -> (tensor<i32>, tensor<2x1xi32>, tensor<f32>) {
  // CHECK-DAG: %[[ROWS:.*]] = stablehlo.constant dense<4> : tensor<i32>
  // CHECK-DAG: %[[COLUMN:.*]] = stablehlo.constant dense<{{\[\[}}1], [2]]> : tensor<2x1xi32>
  %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<4x?xf32>) -> tensor<i32>
  %c = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %1 = stablehlo.reshape %c : (tensor<2xi32>) -> tensor<2x1xi32>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.select %true, %arg1, %cst : tensor<i1>, tensor<f32>
  // CHECK: return %[[ROWS]], %[[COLUMN]], %arg1
  return %0, %1, %2 : tensor<i32>, tensor<2x1xi32>, tensor<f32>
}

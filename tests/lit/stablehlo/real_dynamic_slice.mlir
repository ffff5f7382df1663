// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<?xf32>, %arg1: tensor<1xi32>) {
  // CHECK: stablehlo.real_dynamic_slice %arg0, %arg1, %arg1, %arg1 : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  %0 = stablehlo.real_dynamic_slice %arg0, %arg1, %arg1, %arg1 : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return
}

// -----

func.func @element_types(%arg0: tensor<?xi32>, %arg1: tensor<1xi32>) {
  // expected-error@+1 {{'stablehlo.real_dynamic_slice' op element types of operand and result differ: got 'i32' and 'f32'}}
  %0 = stablehlo.real_dynamic_slice %arg0, %arg1, %arg1, %arg1 : (tensor<?xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return
}

// -----

func.func @length(%arg0: tensor<?xf32>, %arg1: tensor<1xi32>, %arg2: tensor<2xi32>) {
  // expected-error@+1 {{'stablehlo.real_dynamic_slice' op limit_indices has the wrong number of elements: got 2, expected 1}}
  %0 = stablehlo.real_dynamic_slice %arg0, %arg1, %arg2, %arg1 : (tensor<?xf32>, tensor<1xi32>, tensor<2xi32>, tensor<1xi32>) -> tensor<?xf32>
  return
}

// -----

func.func @rank(%arg0: tensor<?xf32>, %arg1: tensor<1xi32>) {
  // expected-error@+1 {{'stablehlo.real_dynamic_slice' op ranks of operand and result differ: got 1 and 2}}
  %0 = stablehlo.real_dynamic_slice %arg0, %arg1, %arg1, %arg1 : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @index_types(%arg0: tensor<?xf32>, %arg1: tensor<1xi32>, %arg2: tensor<1xi64>) {
  // expected-error@+1 {{'stablehlo.real_dynamic_slice' op types of start_indices, limit_indices and strides differ: got 'tensor<1xi32>', 'tensor<1xi32>', 'tensor<1xi64>'}}
  %0 = stablehlo.real_dynamic_slice %arg0, %arg1, %arg1, %arg2 : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @bounds
// CHECK-SAME: %arg0: tensor<?x3xf32, #stablehlo.bounds<4, ?>>
// CHECK-SAME: %arg1: tensor<?x?xf32, #stablehlo.bounds<0, 5>>
// CHECK-SAME: %arg2: tensor<2x3xf32, #stablehlo.bounds<?, ?>>
// CHECK-SAME: %arg3: tensor<f32, #stablehlo.bounds<>>
func.func @bounds(%arg0: tensor<?x3xf32, #stablehlo.bounds<4, ?>>,
                  %arg1: tensor<?x?xf32, #stablehlo.type_extensions<bounds = [0, 5]>>,
                  %arg2: tensor<2x3xf32, #stablehlo.bounds<?, ?>>,
                  %arg3: tensor<f32, #stablehlo.bounds<>>) {
  // CHECK: stablehlo.add %arg0, %arg0 : tensor<?x3xf32, #stablehlo.bounds<4, ?>>
  %0 = stablehlo.add %arg0, %arg0 : tensor<?x3xf32, #stablehlo.bounds<4, ?>>
  return
}

// -----

// expected-error@+1 {{bounds of 1 dimensions in a tensor of rank 2}}
func.func @rank(%arg0: tensor<?x3xf32, #stablehlo.bounds<4>>) {
  return
}

// -----

// expected-error@+1 {{dimension 1 has the size 3, so it takes no bound: got 5}}
func.func @known(%arg0: tensor<?x3xf32, #stablehlo.bounds<4, 5>>) {
  return
}

// -----

// expected-error@+1 {{unknown attribute 'nonsense' in dialect 'stablehlo'}}
func.func @unknown(%arg0: tensor<?x3xf32, #stablehlo.nonsense<4>>) {
  return
}

// -----

// The bounds of a result are the least of its operands'.
func.func @least(%arg0: tensor<?x3xf32, #stablehlo.bounds<5, ?>>, %arg1: tensor<?x3xf32, #stablehlo.bounds<4, ?>>) {
  // expected-error@+2 {{'stablehlo.add' op inferred type(s) 'tensor<?x3xf32, #stablehlo.bounds<4, ?>>' are incompatible with return type(s) of operation 'tensor<5x3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.add %arg0, %arg1 : (tensor<?x3xf32, #stablehlo.bounds<5, ?>>, tensor<?x3xf32, #stablehlo.bounds<4, ?>>) -> tensor<5x3xf32>
  return
}

// -----

func.func @exceeded(%arg0: tensor<?x3xf32, #stablehlo.bounds<5, ?>>, %arg1: tensor<6x3xf32>) {
  // expected-error@+2 {{'stablehlo.multiply' op (C1) operands have incompatible types: 'tensor<?x3xf32, #stablehlo.bounds<5, ?>>' and 'tensor<6x3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.multiply %arg0, %arg1 : (tensor<?x3xf32, #stablehlo.bounds<5, ?>>, tensor<6x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

// A size that becomes known needs no bound.
// CHECK-LABEL: func @known_from_another
func.func @known_from_another(%arg0: tensor<?x?xf32, #stablehlo.bounds<4, 5>>, %arg1: tensor<2x?xf32>) {
  // CHECK: stablehlo.multiply %arg0, %arg1 : (tensor<?x?xf32, #stablehlo.bounds<4, 5>>, tensor<2x?xf32>) -> tensor<2x?xf32, #stablehlo.bounds<?, 5>>
  %0 = stablehlo.multiply %arg0, %arg1 : (tensor<?x?xf32, #stablehlo.bounds<4, 5>>, tensor<2x?xf32>) -> tensor<2x?xf32, #stablehlo.bounds<?, 5>>
  // CHECK: stablehlo.transpose %0, dims = [1, 0] : (tensor<2x?xf32, #stablehlo.bounds<?, 5>>) -> tensor<?x2xf32, #stablehlo.bounds<5, ?>>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x?xf32, #stablehlo.bounds<?, 5>>) -> tensor<?x2xf32, #stablehlo.bounds<5, ?>>
  // CHECK: stablehlo.concatenate %0, %0, dim = 1 : (tensor<2x?xf32, #stablehlo.bounds<?, 5>>, tensor<2x?xf32, #stablehlo.bounds<?, 5>>) -> tensor<2x?xf32>
  %2 = stablehlo.concatenate %0, %0, dim = 1 : (tensor<2x?xf32, #stablehlo.bounds<?, 5>>, tensor<2x?xf32, #stablehlo.bounds<?, 5>>) -> tensor<2x?xf32>
  // CHECK: stablehlo.slice %0 [0:1, 0:3] : (tensor<2x?xf32, #stablehlo.bounds<?, 5>>) -> tensor<1x3xf32>
  %3 = stablehlo.slice %0 [0:1, 0:3] : (tensor<2x?xf32, #stablehlo.bounds<?, 5>>) -> tensor<1x3xf32>
  return
}

// -----

func.func @moved(%arg0: tensor<?x3xf32, #stablehlo.bounds<5, ?>>) {
  // expected-error@+2 {{'stablehlo.transpose' op inferred type(s) 'tensor<3x?xf32, #stablehlo.bounds<?, 5>>' are incompatible with return type(s) of operation 'tensor<3x6xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<?x3xf32, #stablehlo.bounds<5, ?>>) -> tensor<3x6xf32>
  return
}

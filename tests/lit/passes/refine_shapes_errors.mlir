// RUN: torchere-opt %s -split-input-file -verify-diagnostics --stablehlo-refine-shapes
// What cannot be refined is named.

func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<1xi32>) -> tensor<?xf32> {
  // expected-error@+1 {{'stablehlo.dynamic_reshape' op keeps an unknown dimension, because it depends on values: got 'tensor<?xf32>'}}
  %0 = stablehlo.dynamic_reshape %arg0, %arg1 : (tensor<2xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @main(%arg0: tensor<2xf32>) -> tensor<?xf32> {
  %shape = stablehlo.constant dense<-3> : tensor<1xi32>
  // expected-error@+1 {{'stablehlo.dynamic_reshape' op size in the computed shape too small: got -3, expected at least 0}}
  %0 = stablehlo.dynamic_reshape %arg0, %shape : (tensor<2xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @main(%arg0: tensor<f32>) -> tensor<4xf32> {
  %shape = stablehlo.constant dense<3> : tensor<1xi32>
  // expected-error@+1 {{'stablehlo.dynamic_broadcast_in_dim' op computed shape does not fit the result: got 'tensor<3xf32>', expected 'tensor<4xf32>'}}
  %0 = stablehlo.dynamic_broadcast_in_dim %arg0, %shape, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%arg0: tensor<2xf32>) -> tensor<?xf32> {
  %limit = stablehlo.constant dense<9> : tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  // expected-error@+1 {{'stablehlo.slice' op (C3) range of dimension 0: got 1:9, expected 0 <= start <= limit <= 2}}
  %0 = stablehlo.real_dynamic_slice %arg0, %one, %limit, %one : (tensor<2xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<3xf32>) -> tensor<?xf32> {
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %three = stablehlo.constant dense<3> : tensor<1xi32>
  %0 = stablehlo.dynamic_reshape %arg0, %two : (tensor<2xf32>, tensor<1xi32>) -> tensor<?xf32>
  %1 = stablehlo.dynamic_reshape %arg1, %three : (tensor<3xf32>, tensor<1xi32>) -> tensor<?xf32>
  // expected-error@+1 {{'stablehlo.add' op (C1) operands have incompatible types: 'tensor<2xf32>' and 'tensor<3xf32>'}}
  %2 = stablehlo.add %0, %1 : tensor<?xf32>
  return %2 : tensor<?xf32>
}

// -----

func.func @main(%arg0: tensor<2x3xf32>) -> tensor<5xf32> {
  %two = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  %0 = stablehlo.dynamic_reshape %arg0, %two : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // expected-error@+1 {{'stablehlo.reduce' op has the result type 'tensor<5xf32>', but the shapes at hand give 'tensor<2xf32>'}}
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<?x3xf32>, tensor<f32>) -> tensor<5xf32>
  return %1 : tensor<5xf32>
}

// -----

func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @again(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @again(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{'func.call' op is recursive: @again is being called already}}
  %0 = call @again(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @main(%arg0: tensor<2xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{'stablehlo.custom_call' op indices_of_shape_operands names operand 3 of 1}}
  %0 = stablehlo.custom_call @f(%arg0) {indices_of_shape_operands = dense<3> : tensor<1xi64>} : (tensor<2xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @main(%arg0: tensor<2xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{'stablehlo.custom_call' op indices_of_shape_operands has 2 elements, expected 1}}
  %0 = stablehlo.custom_call @f(%arg0) {indices_of_shape_operands = dense<0> : tensor<2xi64>} : (tensor<2xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// expected-error@+1 {{the module has no function @main}}
module {
  func.func @other() {
    return
  }
}

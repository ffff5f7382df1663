// RUN: torchere-opt %s -split-input-file -verify-diagnostics --stablehlo-check-shape-assertions | FileCheck %s

// CHECK-LABEL: func @holds
// CHECK-NOT: shape_assertion
// CHECK: return
func.func @holds() {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %size = stablehlo.constant dense<4> : tensor<i64>
  stablehlo.custom_call @shape_assertion(%true, %size) {error_message = "size {0}", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
  return
}

// -----

func.func @fails() {
  %false = stablehlo.constant dense<false> : tensor<i1>
  %left = stablehlo.constant dense<-4> : tensor<i64>
  %right = stablehlo.constant dense<7> : tensor<i32>
  // expected-error@+1 {{sizes {x} -4, 7 and -4 differ}}
  stablehlo.custom_call @shape_assertion(%false, %left, %right) {error_message = "sizes {x} {0}, {1,3} and {0:d} differ", has_side_effect = true} : (tensor<i1>, tensor<i64>, tensor<i32>) -> ()
  return
}

// -----

func.func @unknown(%arg0: tensor<i1>) {
  // expected-error@+1 {{@shape_assertion: the condition is not known: it depends on values, or shapes have not been refined}}
  stablehlo.custom_call @shape_assertion(%arg0) {error_message = "never", has_side_effect = true} : (tensor<i1>) -> ()
  return
}

// -----

func.func @unknown_input(%arg0: tensor<i64>) {
  %false = stablehlo.constant dense<false> : tensor<i1>
  // expected-error@+1 {{@shape_assertion: input 0 of the message is no constant}}
  stablehlo.custom_call @shape_assertion(%false, %arg0) {error_message = "{0}", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
  return
}

// -----

func.func @placeholder_out_of_range() {
  %false = stablehlo.constant dense<false> : tensor<i1>
  // expected-error@+1 {{@shape_assertion: the message names input 2 of 0}}
  stablehlo.custom_call @shape_assertion(%false) {error_message = "{2}", has_side_effect = true} : (tensor<i1>) -> ()
  return
}

// -----

func.func @no_condition() {
  // expected-error@+1 {{@shape_assertion: the first operand is the condition, expected 'tensor<i1>'}}
  stablehlo.custom_call @shape_assertion() {error_message = "", has_side_effect = true} : () -> ()
  return
}

// -----

func.func @condition_of_wrong_type(%arg0: tensor<i32>) {
  // expected-error@+1 {{@shape_assertion: the first operand is the condition, expected 'tensor<i1>'}}
  stablehlo.custom_call @shape_assertion(%arg0) {error_message = "", has_side_effect = true} : (tensor<i32>) -> ()
  return
}

// -----

func.func @input_of_wrong_type(%arg0: tensor<f32>) {
  %true = stablehlo.constant dense<true> : tensor<i1>
  // expected-error@+1 {{@shape_assertion: input 0 of the message: got 'tensor<f32>', expected 'tensor<i32>' or 'tensor<i64>'}}
  stablehlo.custom_call @shape_assertion(%true, %arg0) {error_message = "", has_side_effect = true} : (tensor<i1>, tensor<f32>) -> ()
  return
}

// -----

func.func @results() -> tensor<i32> {
  %true = stablehlo.constant dense<true> : tensor<i1>
  // expected-error@+1 {{@shape_assertion has 1 results, expected none}}
  %0 = stablehlo.custom_call @shape_assertion(%true) {error_message = "", has_side_effect = true} : (tensor<i1>) -> tensor<i32>
  return %0 : tensor<i32>
}

// -----

func.func @no_message() {
  %true = stablehlo.constant dense<true> : tensor<i1>
  // expected-error@+1 {{@shape_assertion has no error_message}}
  stablehlo.custom_call @shape_assertion(%true) {has_side_effect = true} : (tensor<i1>) -> ()
  return
}

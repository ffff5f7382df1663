// RUN: not torchere-translate --interpret -split-input-file %s 2>&1 | FileCheck %s
// Each part fails: a check that cannot fail would show nothing.

// CHECK: error: [check.expect_eq_const] element [1]: got 2, expected 3; at {{.*}}:7:3
func.func @expect_eq_const() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const %0, dense<[1, 3]> : tensor<2xi32>
  func.return
}

// -----

// CHECK: error: [check.expect_eq_const] element []: got 0, expected -0
func.func @zeros() {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  check.expect_eq_const %0, dense<-0.0> : tensor<f32>
  func.return
}

// -----

// CHECK: error: [check.expect_eq] element [0, 1]: got (1,2), expected (1,3)
func.func @expect_eq() {
  %0 = stablehlo.constant dense<[[(0.0, 0.0), (1.0, 2.0)]]> : tensor<1x2xcomplex<f32>>
  %1 = stablehlo.constant dense<[[(0.0, 0.0), (1.0, 3.0)]]> : tensor<1x2xcomplex<f32>>
  check.expect_eq %0, %1 : tensor<1x2xcomplex<f32>>
  func.return
}

// -----

// CHECK: error: [check.expect_almost_eq_const] element [0]: got 1, expected 1.01 within 0.001
func.func @expect_almost_eq_const() {
  %0 = stablehlo.constant dense<[1.0]> : tensor<1xf32>
  check.expect_almost_eq_const %0, dense<[1.01]> : tensor<1xf32>
  func.return
}

// -----

// CHECK: error: [check.expect_almost_eq] element [0]: got 1, expected 1.01 within 0.0001
func.func @expect_almost_eq() {
  %0 = stablehlo.constant dense<[1.0]> : tensor<1xf64>
  %1 = stablehlo.constant dense<[1.01]> : tensor<1xf64>
  check.expect_almost_eq %0, %1 {tolerance = 0.1 : f64} : tensor<1xf64>
  check.expect_almost_eq %0, %1 {tolerance = 0.0001 : f64} : tensor<1xf64>
  func.return
}

// -----

// CHECK: error: [check.expect_close] element [1]: got 1.0000004, expected 1, 0 to 2 representable numbers away
func.func @expect_close() {
  %0 = stablehlo.constant dense<[1.0, 1.0000004]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf32>
  check.expect_close %0, %1 : tensor<2xf32>, tensor<2xf32>
  check.expect_close %0, %1, max_ulp_difference = 2 : tensor<2xf32>, tensor<2xf32>
  func.return
}

// -----

// CHECK: error: [check.expect_close] element [0]: got 1, expected 1, 1 to 3 representable numbers away
func.func @expect_not_too_close() {
  %0 = stablehlo.constant dense<[1.0]> : tensor<1xf32>
  check.expect_close %0, %0, max_ulp_difference = 3, min_ulp_difference = 1 : tensor<1xf32>, tensor<1xf32>
  func.return
}

// -----

// CHECK: error: [stablehlo.custom_call] element [0]: got 1, expected nan
func.func @nan_is_not_close() {
  %0 = stablehlo.constant dense<[1.0]> : tensor<1xf32>
  %1 = stablehlo.constant dense<[0x7FC00000]> : tensor<1xf32>
  stablehlo.custom_call @check.expect_close(%0, %1) {has_side_effect = true} : (tensor<1xf32>, tensor<1xf32>) -> ()
  func.return
}

// -----

// CHECK: error: [stablehlo.custom_call] element [1]: got 2, expected 3
func.func @eq_integers() {
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %b = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
  %0 = stablehlo.custom_call @check.eq(%a, %b) : (tensor<2xi32>, tensor<2xi32>) -> tensor<i1>
  func.return
}

// -----

// CHECK: error: [stablehlo.custom_call] element []: got 1, expected 1.0002 within 0.0001
func.func @eq_floats() {
  %a = stablehlo.constant dense<1.0> : tensor<f32>
  %b = stablehlo.constant dense<1.0002> : tensor<f32>
  %0 = stablehlo.custom_call @check.eq(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<i1>
  func.return
}

// -----

// CHECK: error: [stablehlo.custom_call] element []: got nan, expected 1 within 0.0001
func.func @eq_nan() {
  %a = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %b = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.custom_call @check.eq(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<i1>
  func.return
}

// -----

// CHECK: error: [stablehlo.custom_call] element []: got (1,2), expected (1,2.1) within 0.0001
func.func @eq_complex() {
  %a = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f32>>
  %b = stablehlo.constant dense<(1.0, 2.1)> : tensor<complex<f32>>
  %0 = stablehlo.custom_call @check.eq(%a, %b) : (tensor<complex<f32>>, tensor<complex<f32>>) -> tensor<i1>
  func.return
}

// -----

// CHECK: error: [stablehlo.custom_call] got tensor<i32>, expected tensor<i64>
func.func @eq_types() {
  %a = stablehlo.constant dense<1> : tensor<i32>
  %b = stablehlo.constant dense<1> : tensor<i64>
  %0 = stablehlo.custom_call @check.eq(%a, %b) : (tensor<i32>, tensor<i64>) -> tensor<i1>
  func.return
}

// -----

// CHECK: error: [stablehlo.custom_call] wrong type of result 0: got tensor<i1>, expected tensor<i32>
func.func @eq_result() {
  %a = stablehlo.constant dense<1> : tensor<i32>
  %b = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.custom_call @check.eq(%a, %b) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  func.return
}

// -----

// CHECK: error: [stablehlo.custom_call] wrong operands of check.eq: got tensor<i32>, expected two tensors
func.func @eq_operands() {
  %a = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.custom_call @check.eq(%a) : (tensor<i32>) -> tensor<i1>
  func.return
}

// -----

// CHECK: error: [stablehlo.custom_call] wrong operands of check.expect_eq: got a token, a token, expected two tensors
func.func @expect_eq_operands() {
  %a = stablehlo.create_token : !stablehlo.token
  stablehlo.custom_call @check.expect_eq(%a, %a) : (!stablehlo.token, !stablehlo.token) -> ()
  func.return
}

// -----

// CHECK: error: [check.expect_eq_const] no kernel is registered for the custom call's target
func.func @expect_eq_const_call() {
  %a = stablehlo.constant dense<1> : tensor<i32>
  stablehlo.custom_call @check.expect_eq_const(%a) : (tensor<i32>) -> ()
  func.return
}

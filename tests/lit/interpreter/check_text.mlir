// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// torchere-opt reads, checks and writes the dialects of interpreted programs.
// CHECK-LABEL: func.func @checks
func.func @checks(%arg0: tensor<2xf32>) {
  // CHECK: check.expect_eq %arg0, %arg0 : tensor<2xf32>
  check.expect_eq %arg0, %arg0 : tensor<2xf32>
  // CHECK: check.expect_eq_const %arg0, dense<1.000000e+00> : tensor<2xf32>
  check.expect_eq_const %arg0, dense<1.0> : tensor<2xf32>
  // CHECK: check.expect_almost_eq_const %arg0, dense<1.000000e+00> : tensor<2xf32>
  check.expect_almost_eq_const %arg0, dense<1.0> : tensor<2xf32>
  // CHECK: check.expect_close %arg0, %arg0, max_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  check.expect_close %arg0, %arg0, max_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  // CHECK: interpreter.probe %arg0, probe_id = "x" : tensor<2xf32>
  %0 = interpreter.probe %arg0, probe_id = "x" : tensor<2xf32>
  return
}

// -----

func.func @not_close(%arg0: tensor<2xi32>) {
  // expected-error@+1 {{'check.expect_close' op operand #0 must be ranked tensor of floating-point or complex values, but got 'tensor<2xi32>'}}
  "check.expect_close"(%arg0, %arg0) : (tensor<2xi32>, tensor<2xi32>) -> ()
  return
}

// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types() {
  // CHECK: stablehlo.create_token : !stablehlo.token
  %0 = stablehlo.create_token : !stablehlo.token
  // CHECK: stablehlo.create_token {note = 1 : i64} : !stablehlo.token
  %1 = "stablehlo.create_token"() {note = 1 : i64} : () -> !stablehlo.token
  return
}

// -----

func.func @result() {
  // expected-error@+1 {{'stablehlo.create_token' op result #0 must be token, but got 'tensor<i1>'}}
  %0 = "stablehlo.create_token"() : () -> tensor<i1>
  return
}

// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @create_token
func.func @create_token() -> !stablehlo.token {
  // CHECK: stablehlo.create_token : !stablehlo.token
  %0 = "stablehlo.create_token"() : () -> !stablehlo.token
  // CHECK: stablehlo.create_token {note} : !stablehlo.token
  %1 = stablehlo.create_token {note} : !stablehlo.token
  return %0 : !stablehlo.token
}

// -----

func.func @result() {
  // expected-error@+1 {{'stablehlo.create_token' op result #0 must be token, but got 'tensor<f32>'}}
  %0 = stablehlo.create_token : tensor<f32>
  return
}

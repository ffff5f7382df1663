// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @after_all
func.func @after_all(%arg0: !stablehlo.token, %arg1: !stablehlo.token) {
  // CHECK: stablehlo.after_all %arg0, %arg1 : !stablehlo.token
  %0 = "stablehlo.after_all"(%arg0, %arg1) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
  // CHECK: stablehlo.after_all %arg0 {note} : !stablehlo.token
  %1 = stablehlo.after_all %arg0 {note} : !stablehlo.token
  // CHECK: stablehlo.after_all  : !stablehlo.token
  %2 = stablehlo.after_all : !stablehlo.token
  // CHECK: stablehlo.after_all %arg0, %arg1 : !stablehlo.token
  %3 = stablehlo.after_all %arg0, %arg1 : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @operand(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.after_all' op operand #0 must be variadic of token, but got 'tensor<4x8xf32>'}}
  %0 = "stablehlo.after_all"(%arg0) : (tensor<4x8xf32>) -> !stablehlo.token
  return
}

// -----

func.func @types(%arg0: !stablehlo.token) {
  // expected-error@+1 {{expected 1 operand types and one result type}}
  %0 = stablehlo.after_all %arg0 : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
  return
}

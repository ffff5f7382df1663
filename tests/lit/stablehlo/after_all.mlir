// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: !stablehlo.token) {
  // CHECK: stablehlo.after_all %arg0, %arg0 : !stablehlo.token
  %0 = stablehlo.after_all %arg0, %arg0 : !stablehlo.token
  // CHECK: stablehlo.after_all %arg0, %0 {note = 1 : i64} : !stablehlo.token
  %1 = stablehlo.after_all %arg0, %0 {note = 1 : i64} : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
  // CHECK: stablehlo.after_all  : !stablehlo.token
  %2 = "stablehlo.after_all"() : () -> !stablehlo.token
  return
}

// -----

func.func @inputs(%arg0: tensor<i1>) {
  // expected-error@+1 {{'stablehlo.after_all' op operand #0 must be variadic of token, but got 'tensor<i1>'}}
  %0 = "stablehlo.after_all"(%arg0) : (tensor<i1>) -> !stablehlo.token
  return
}

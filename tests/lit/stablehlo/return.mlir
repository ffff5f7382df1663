// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<i1>) {
  // CHECK: stablehlo.return %arg0 : tensor<i1>
  // CHECK: stablehlo.return {{$}}
  stablehlo.while() cond {
    stablehlo.return %arg0 : tensor<i1>
  } do {
    stablehlo.return
  }
  return
}

// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @outfeed
func.func @outfeed(%arg0: tensor<4x?xf32>, %arg1: tensor<2xi1>, %arg2: !stablehlo.token) {
  // CHECK: "stablehlo.outfeed"(%arg0, %arg2) <{outfeed_config = ""}> : (tensor<4x?xf32>, !stablehlo.token) -> !stablehlo.token
  %0 = "stablehlo.outfeed"(%arg0, %arg2) : (tensor<4x?xf32>, !stablehlo.token) -> !stablehlo.token
  // CHECK: "stablehlo.outfeed"(%arg0, %arg1, %arg2) <{outfeed_config = "there"}> {note} : (tensor<4x?xf32>, tensor<2xi1>, !stablehlo.token) -> !stablehlo.token
  %1 = "stablehlo.outfeed"(%arg0, %arg1, %arg2) {note, outfeed_config = "there"} : (tensor<4x?xf32>, tensor<2xi1>, !stablehlo.token) -> !stablehlo.token
  // CHECK: "stablehlo.outfeed"(%arg2) <{outfeed_config = ""}> : (!stablehlo.token) -> !stablehlo.token
  %2 = "stablehlo.outfeed"(%arg2) : (!stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @token(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.outfeed' op operand #0 must be token, but got 'tensor<4x8xf32>'}}
  %0 = "stablehlo.outfeed"(%arg0) : (tensor<4x8xf32>) -> !stablehlo.token
  return
}

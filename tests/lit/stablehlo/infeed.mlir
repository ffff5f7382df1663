// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @infeed
func.func @infeed(%arg0: !stablehlo.token) {
  // CHECK: "stablehlo.infeed"(%arg0) <{infeed_config = ""}> : (!stablehlo.token) -> (tensor<4x8xf32>, !stablehlo.token)
  %0:2 = "stablehlo.infeed"(%arg0) : (!stablehlo.token) -> (tensor<4x8xf32>, !stablehlo.token)
  // CHECK: "stablehlo.infeed"(%arg0) <{infeed_config = "here", layout = {{\[\[}}1, 0], [0]]}> {note} : (!stablehlo.token) -> (tensor<4x8xf32>, tensor<3xi1>, !stablehlo.token)
  %1:3 = "stablehlo.infeed"(%arg0) <{infeed_config = "here", layout = [[1, 0], [0]]}> {note} : (!stablehlo.token) -> (tensor<4x8xf32>, tensor<3xi1>, !stablehlo.token)
  // CHECK: "stablehlo.infeed"(%arg0) <{infeed_config = "", layout = []}> : (!stablehlo.token) -> !stablehlo.token
  %2 = "stablehlo.infeed"(%arg0) {layout = []} : (!stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @c1(%arg0: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.infeed' op (C1) no results: expected at least a token}}
  "stablehlo.infeed"(%arg0) : (!stablehlo.token) -> ()
  return
}

// -----

func.func @c2(%arg0: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.infeed' op (C2) result is '!stablehlo.token', expected tensors before the token}}
  %0:2 = "stablehlo.infeed"(%arg0) : (!stablehlo.token) -> (!stablehlo.token, !stablehlo.token)
  return
}

// -----

func.func @c3(%arg0: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.infeed' op (C3) last result is 'tensor<f32>', expected a token}}
  %0 = "stablehlo.infeed"(%arg0) : (!stablehlo.token) -> tensor<f32>
  return
}

// -----

func.func @layout_size(%arg0: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.infeed' op layout has the wrong number of elements: got 0, expected 1}}
  %0:2 = "stablehlo.infeed"(%arg0) <{layout = []}> : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)
  return
}

// -----

func.func @layout(%arg0: !stablehlo.token) {
  // expected-error@+1 {{'stablehlo.infeed' op layout holds "a", expected arrays of integers}}
  %0:2 = "stablehlo.infeed"(%arg0) <{layout = ["a"]}> : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)
  return
}

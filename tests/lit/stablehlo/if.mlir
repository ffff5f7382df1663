// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<i1>, %arg1: tensor<2xf32>, %arg2: tensor<?xf32>, %arg3: !stablehlo.token) {
  // CHECK: "stablehlo.if"(%arg0) ({
  %0:2 = "stablehlo.if"(%arg0) ({
    stablehlo.return %arg1, %arg3 : tensor<2xf32>, !stablehlo.token
  }, {
    stablehlo.return %arg2, %arg3 : tensor<?xf32>, !stablehlo.token
  }) {note = 1 : i64} : (tensor<i1>) -> (tensor<?xf32>, !stablehlo.token)
  // CHECK: "stablehlo.if"(%arg0) ({
  "stablehlo.if"(%arg0) ({
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> ()
  return
}

// -----

func.func @pred(%arg0: tensor<2xi1>) {
  // expected-error@+1 {{'stablehlo.if' op operand #0 must be 0D tensor of boolean values, but got 'tensor<2xi1>'}}
  "stablehlo.if"(%arg0) ({
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<2xi1>) -> ()
  return
}

// -----

func.func @c1(%arg0: tensor<i1>) {
  // expected-error@+2 {{'stablehlo.if' op (C1) branch 1 takes 1 arguments, expected none}}
  // expected-error@+1 {{'stablehlo.if' op failed to infer returned types}}
  "stablehlo.if"(%arg0) ({
    stablehlo.return
  }, {
  ^bb0(%arg1: tensor<i32>):
    stablehlo.return
  }) : (tensor<i1>) -> ()
  return
}

// -----

func.func @c2(%arg0: tensor<i1>, %arg1: tensor<2xf32>, %arg2: tensor<2xf64>) {
  // expected-error@+2 {{'stablehlo.if' op (C2) branch 1 returns ('tensor<2xf64>'), branch 0 returns ('tensor<2xf32>')}}
  // expected-error@+1 {{'stablehlo.if' op failed to infer returned types}}
  %0 = "stablehlo.if"(%arg0) ({
    stablehlo.return %arg1 : tensor<2xf32>
  }, {
    stablehlo.return %arg2 : tensor<2xf64>
  }) : (tensor<i1>) -> tensor<2xf32>
  return
}

// -----

func.func @c3(%arg0: tensor<i1>, %arg1: tensor<2xf32>) {
  // expected-error@+2 {{'stablehlo.if' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error@+1 {{'stablehlo.if' op failed to infer returned types}}
  %0 = "stablehlo.if"(%arg0) ({
    stablehlo.return %arg1 : tensor<2xf32>
  }, {
    stablehlo.return %arg1 : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<3xf32>
  return
}

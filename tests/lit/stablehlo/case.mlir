// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<i32>, %arg1: tensor<2xf32>, %arg2: tensor<?xf32>, %arg3: !stablehlo.token) {
  // CHECK: "stablehlo.case"(%arg0) ({
  %0:2 = "stablehlo.case"(%arg0) ({
    stablehlo.return %arg1, %arg3 : tensor<2xf32>, !stablehlo.token
  }, {
    stablehlo.return %arg2, %arg3 : tensor<?xf32>, !stablehlo.token
  }) {note = 1 : i64} : (tensor<i32>) -> (tensor<?xf32>, !stablehlo.token)
  // CHECK: "stablehlo.case"(%arg0) ({
  "stablehlo.case"(%arg0) ({
    stablehlo.return
  }) : (tensor<i32>) -> ()
  return
}

// -----

func.func @index(%arg0: tensor<i64>) {
  // expected-error@+1 {{'stablehlo.case' op operand #0 must be 0D tensor of 32-bit signless integer values, but got 'tensor<i64>'}}
  "stablehlo.case"(%arg0) ({
    stablehlo.return
  }) : (tensor<i64>) -> ()
  return
}

// -----

func.func @c1(%arg0: tensor<i32>) {
  // expected-error@+2 {{'stablehlo.case' op (C1) no branches: expected at least one}}
  // expected-error@+1 {{'stablehlo.case' op failed to infer returned types}}
  "stablehlo.case"(%arg0) : (tensor<i32>) -> ()
  return
}

// -----

func.func @c2(%arg0: tensor<i32>) {
  // expected-error@+2 {{'stablehlo.case' op (C2) branch 1 takes 1 arguments, expected none}}
  // expected-error@+1 {{'stablehlo.case' op failed to infer returned types}}
  "stablehlo.case"(%arg0) ({
    stablehlo.return
  }, {
  ^bb0(%arg1: tensor<i32>):
    stablehlo.return
  }) : (tensor<i32>) -> ()
  return
}

// -----

func.func @c3(%arg0: tensor<i32>, %arg1: tensor<2xf32>, %arg2: tensor<3xf32>) {
  // expected-error@+2 {{'stablehlo.case' op (C3) branch 1 returns ('tensor<3xf32>'), branch 0 returns ('tensor<2xf32>')}}
  // expected-error@+1 {{'stablehlo.case' op failed to infer returned types}}
  %0 = "stablehlo.case"(%arg0) ({
    stablehlo.return %arg1 : tensor<2xf32>
  }, {
    stablehlo.return %arg2 : tensor<3xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  return
}

// -----

func.func @c3_count(%arg0: tensor<i32>, %arg1: tensor<2xf32>) {
  // expected-error@+2 {{'stablehlo.case' op (C3) branch 1 returns ('tensor<2xf32>', 'tensor<2xf32>'), branch 0 returns ('tensor<2xf32>')}}
  // expected-error@+1 {{'stablehlo.case' op failed to infer returned types}}
  %0 = "stablehlo.case"(%arg0) ({
    stablehlo.return %arg1 : tensor<2xf32>
  }, {
    stablehlo.return %arg1, %arg1 : tensor<2xf32>, tensor<2xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  return
}

// -----

func.func @c4(%arg0: tensor<i32>, %arg1: tensor<2xf32>) {
  // expected-error@+2 {{'stablehlo.case' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error@+1 {{'stablehlo.case' op failed to infer returned types}}
  %0 = "stablehlo.case"(%arg0) ({
    stablehlo.return %arg1 : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<3xf32>
  return
}

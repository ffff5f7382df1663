// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2x3xf32>) {
  // CHECK: "stablehlo.sort"(%arg0) <{dimension = -1 : i64, is_stable = true}> ({
  // CHECK: }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = "stablehlo.sort"(%arg0) <{dimension = -1 : i64, is_stable = true}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %1 = stablehlo.compare LT, %arg2, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func @defaults
func.func @defaults(%arg0: tensor<2x3xf32>) {
  // CHECK: "stablehlo.sort"(%arg0) ({
  // CHECK: }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = "stablehlo.sort"(%arg0) ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %1 = stablehlo.compare LT, %arg2, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func @pairs
func.func @pairs(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xi32>) {
  // CHECK: "stablehlo.sort"(%arg0, %arg1) ({
  // CHECK: }) : (tensor<2x3xf32>, tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  %0:2 = "stablehlo.sort"(%arg0, %arg1) ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<i32>, %arg5: tensor<i32>):
    %1 = stablehlo.compare LT, %arg2, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<2x3xf32>, tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  return
}

// -----

func.func @c1() {
  // expected-error@+1 {{'stablehlo.sort' op (C1) no inputs: expected at least one}}
  "stablehlo.sort"() ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %1 = stablehlo.compare LT, %arg2, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : () -> ()
  return
}

// -----

func.func @c2(%arg0: tensor<2x3xf32>) {
  // expected-error@+2 {{'stablehlo.sort' op inferred type(s) 'tensor<2x3xf32>' are incompatible with return type(s) of operation 'tensor<3x2xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.sort"(%arg0) ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %1 = stablehlo.compare LT, %arg2, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @c3(%arg0: tensor<2x3xf32>, %arg1: tensor<3x2xi32>) {
  // expected-error@+2 {{'stablehlo.sort' op (C3) shapes of the inputs differ: got 'tensor<2x3xf32>' and 'tensor<3x2xi32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = "stablehlo.sort"(%arg0, %arg1) ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<i32>, %arg5: tensor<i32>):
      %1 = stablehlo.compare LT, %arg2, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<2x3xf32>, tensor<3x2xi32>) -> (tensor<2x3xf32>, tensor<3x2xi32>)
  return
}

// -----

func.func @c4(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.sort' op (C4) dimension out of range: got 2, expected it in [-2, 2)}}
  %0 = "stablehlo.sort"(%arg0) <{dimension = 2 : i64}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %1 = stablehlo.compare LT, %arg2, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @c5_arguments(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.sort' op (C5) comparator has the wrong arguments: got ('tensor<f32>', 'tensor<f32>', 'tensor<i32>', 'tensor<i32>'), expected ('tensor<f32>', 'tensor<f32>')}}
  %0 = "stablehlo.sort"(%arg0) ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<i32>, %arg5: tensor<i32>):
      %1 = stablehlo.compare LT, %arg2, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @c5_results(%arg0: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.sort' op (C5) comparator has the wrong results: got ('tensor<f32>'), expected ('tensor<i1>')}}
  %0 = "stablehlo.sort"(%arg0) ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      stablehlo.return %arg2 : tensor<f32>
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xi32>) {
  // CHECK: "stablehlo.map"(%arg0, %arg1) <{dimensions = array<i64: 0, 1>}> ({
  %0 = "stablehlo.map"(%arg0, %arg1) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<i32>):
    %1 = stablehlo.convert %arg3 : (tensor<i32>) -> tensor<f64>
    stablehlo.return %1 : tensor<f64>
  }) {note = 1 : i64} : (tensor<2x3xf32>, tensor<?x3xi32>) -> tensor<2x3xf64>
  return
}

// -----

func.func @c1(%arg0: tensor<2xf32>, %arg1: tensor<3xf32>) {
  // expected-error@+2 {{'stablehlo.map' op (C1) shapes of the inputs differ: got 'tensor<2xf32>' and 'tensor<3xf32>'}}
  // expected-error@+1 {{'stablehlo.map' op failed to infer returned types}}
  %0 = "stablehlo.map"(%arg0, %arg1) <{dimensions = array<i64: 0>}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    stablehlo.return %arg2 : tensor<f32>
  }) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @c1_result(%arg0: tensor<2xf32>) {
  // expected-error@+2 {{'stablehlo.map' op inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error@+1 {{'stablehlo.map' op failed to infer returned types}}
  %0 = "stablehlo.map"(%arg0) <{dimensions = array<i64: 0>}> ({
  ^bb0(%arg2: tensor<f32>):
    stablehlo.return %arg2 : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @c2(%arg0: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.map' op (C2) no inputs: expected at least one}}
  // expected-error@+1 {{'stablehlo.map' op failed to infer returned types}}
  %0 = "stablehlo.map"() <{dimensions = array<i64>}> ({
    stablehlo.return %arg0 : tensor<f32>
  }) : () -> tensor<f32>
  return
}

// -----

func.func @c3_order(%arg0: tensor<2x3xf32>) {
  // expected-error@+2 {{'stablehlo.map' op (C3) dimensions: got [1, 0], expected all of the inputs' in order, 2 of them}}
  // expected-error@+1 {{'stablehlo.map' op failed to infer returned types}}
  %0 = "stablehlo.map"(%arg0) <{dimensions = array<i64: 1, 0>}> ({
  ^bb0(%arg2: tensor<f32>):
    stablehlo.return %arg2 : tensor<f32>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @c3_size(%arg0: tensor<2x3xf32>) {
  // expected-error@+2 {{'stablehlo.map' op (C3) dimensions: got [0], expected all of the inputs' in order, 2 of them}}
  // expected-error@+1 {{'stablehlo.map' op failed to infer returned types}}
  %0 = "stablehlo.map"(%arg0) <{dimensions = array<i64: 0>}> ({
  ^bb0(%arg2: tensor<f32>):
    stablehlo.return %arg2 : tensor<f32>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @c4_arguments(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.map' op (C4) computation has the wrong arguments: got ('tensor<f64>'), expected ('tensor<f32>')}}
  %0 = "stablehlo.map"(%arg0) <{dimensions = array<i64: 0>}> ({
  ^bb0(%arg2: tensor<f64>):
    stablehlo.return %arg2 : tensor<f64>
  }) : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @c4_argument_count(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.map' op (C4) computation has the wrong arguments: got ('tensor<f32>', 'tensor<f32>'), expected ('tensor<f32>')}}
  %0 = "stablehlo.map"(%arg0) <{dimensions = array<i64: 0>}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    stablehlo.return %arg2 : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @c4_result(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.map' op (C4) computation has the wrong results: got ('tensor<f32>'), expected ('tensor<f64>')}}
  %0 = "stablehlo.map"(%arg0) <{dimensions = array<i64: 0>}> ({
  ^bb0(%arg2: tensor<f32>):
    stablehlo.return %arg2 : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @c4_result_rank(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.map' op (C4) computation has the wrong results: got ('tensor<2xf32>'), expected ('tensor<f32>')}}
  %0 = "stablehlo.map"(%arg0) <{dimensions = array<i64: 0>}> ({
  ^bb0(%arg2: tensor<f32>):
    stablehlo.return %arg0 : tensor<2xf32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

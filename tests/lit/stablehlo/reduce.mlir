// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @short
func.func @short(%arg0: tensor<2x?xf32>, %arg1: tensor<f32>) {
  // CHECK: stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [1] : (tensor<2x?xf32>, tensor<f32>) -> tensor<2xf32>
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [1] : (tensor<2x?xf32>, tensor<f32>) -> tensor<2xf32>
  // CHECK: stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.maximum across dimensions = [0, 1] {note = 1 : i32} : (tensor<2x?xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0, 1] {note = 1 : i32} : (tensor<2x?xf32>, tensor<f32>) -> tensor<f32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }
  return
}

// CHECK-LABEL: func @long
func.func @long(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // The order of operands matters: not short.
  // CHECK: stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  // CHECK-NEXT: reducer(%arg2: tensor<f32>, %arg3: tensor<f32>)  {
  // CHECK-NEXT: stablehlo.add %arg3, %arg2 : tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %m = stablehlo.add %b, %a : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }
  // A wider accumulator, (C6) and (C8).
  // CHECK: stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf64>
  // CHECK-NEXT: reducer(%arg2: tensor<f64>, %arg3: tensor<f64>)  {
  %1 = stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf64>
    reducer(%a: tensor<f64>, %b: tensor<f64>) {
    %m = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %m : tensor<f64>
  }
  // CHECK: stablehlo.reduce(%arg0 init: %arg1), (%arg0 init: %arg1) across dimensions = [] : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  // CHECK-NEXT: reducer(%arg2: tensor<f32>, %arg4: tensor<f32>) (%arg3: tensor<f32>, %arg5: tensor<f32>)  {
  // CHECK-NEXT: stablehlo.return %arg2, %arg5 : tensor<f32>, tensor<f32>
  %2:2 = stablehlo.reduce(%arg0 init: %arg1), (%arg0 init: %arg1) across dimensions = [] : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<f32>, %d: tensor<f32>) {
    stablehlo.return %a, %d : tensor<f32>, tensor<f32>
  }
  return
}

// -----

func.func @c1(%arg0: tensor<2xf32>, %arg1: tensor<f32>, %arg2: tensor<3xf32>) {
  // expected-error@+2 {{'stablehlo.reduce' op (C1) shapes of the inputs differ: got 'tensor<2xf32>' and 'tensor<3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = stablehlo.reduce(%arg0 init: %arg1), (%arg2 init: %arg1) across dimensions = [0] : (tensor<2xf32>, tensor<3xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<f32>, %d: tensor<f32>) {
    stablehlo.return %a, %d : tensor<f32>, tensor<f32>
  }
  return
}

// -----

func.func @c2(%arg0: tensor<2x3xf32>, %arg1: tensor<i32>) {
  // expected-error@+2 {{'stablehlo.reduce' op (C2) init value is 'tensor<i32>' for an input of type 'tensor<2x3xf32>', expected a scalar tensor of its element type}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0] : (tensor<2x3xf32>, tensor<i32>) -> tensor<3xf32>
  return
}

// -----

func.func @c4(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.reduce' op (C4) dimensions out of range: got 2, expected it in [0, 2)}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}

// -----

func.func @c5(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.reduce' op (C5) dimensions not unique: 0 occurs twice}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}

// -----

func.func @c7(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.reduce' op inferred type(s) 'tensor<3xf32>' are incompatible with return type(s) of operation 'tensor<2xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @c3() {
  // expected-error@+2 {{'stablehlo.reduce' op (C3) no inputs: expected at least one}}
  // expected-error@+1 {{failed to infer returned types}}
  "stablehlo.reduce"() <{dimensions = array<i64: 0>}> ({
    stablehlo.return
  }) : () -> ()
  return
}

// -----

func.func @c6(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce' op (C6) body returns 'tensor<f16>' for an input of element type 'f32', expected a scalar tensor of it or a wider one}}
  %0 = stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf16>
    reducer(%a: tensor<f16>, %b: tensor<f16>) {
    stablehlo.return %a : tensor<f16>
  }
  return
}

// -----

func.func @c6_argument(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce' op (C6) body argument 1 is 'tensor<f64>', expected 'tensor<f32>'}}
  %0 = stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
    reducer(%a: tensor<f32>, %b: tensor<f64>) {
    stablehlo.return %a : tensor<f32>
  }
  return
}

// -----

func.func @not_commutative(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error@+1 {{'applies' takes a commutative StableHLO op, got stablehlo.subtract}}
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.subtract across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}


// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @forms
func.func @forms(%arg0: tensor<3x4xf32>, %arg1: tensor<3xf32>, %arg2: tensor<?x4xf32>) {
  // CHECK: %0:2 = chlo.scan(%arg0) inits (%arg1) dimension=1  {
  // CHECK-NEXT: ^bb0(%input: tensor<3xf32>, %carry: tensor<3xf32>):
  // CHECK-NEXT: %4 = stablehlo.add %input, %carry : tensor<3xf32>
  // CHECK-NEXT: stablehlo.return %4, %4 : tensor<3xf32>, tensor<3xf32>
  // CHECK-NEXT: } : (tensor<3x4xf32>, tensor<3xf32>) -> (tensor<3x4xf32>, tensor<3xf32>)
  %0:2 = chlo.scan(%arg0) inits(%arg1) dimension=1 {
  ^bb0(%input: tensor<3xf32>, %carry: tensor<3xf32>):
    %4 = stablehlo.add %input, %carry : tensor<3xf32>
    stablehlo.return %4, %4 : tensor<3xf32>, tensor<3xf32>
  } : (tensor<3x4xf32>, tensor<3xf32>) -> (tensor<3x4xf32>, tensor<3xf32>)
  // CHECK: chlo.scan(%arg0, %arg0) inits (%arg1) dimension=0  attributes {is_associative = true, is_reverse = false} {
  // CHECK-NEXT: ^bb0(%input: tensor<4xf32>, %input_0: tensor<4xf32>, %carry: tensor<3xf32>):
  %1:2 = "chlo.scan"(%arg0, %arg0, %arg1) <{dimension = 0 : i64, is_associative = true, is_reverse = false, operandSegmentSizes = array<i32: 2, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<3xf32>):
    stablehlo.return %a, %c : tensor<4xf32>, tensor<3xf32>
  }) : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3xf32>) -> (tensor<3x4xf32>, tensor<3xf32>)
  // CHECK: chlo.scan() inits (%arg1) dimension=0  attributes {scan_dim_size = 5 : i64} {
  %2:2 = chlo.scan() inits(%arg1) dimension=0 attributes {scan_dim_size = 5 : i64} {
  ^bb0(%carry: tensor<3xf32>):
    stablehlo.return %carry, %carry : tensor<3xf32>, tensor<3xf32>
  } : (tensor<3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>)
  // CHECK: chlo.scan(%arg2) inits () dimension=0  {
  %3 = chlo.scan(%arg2) inits() dimension=0 {
  ^bb0(%input: tensor<4xf32>):
    stablehlo.return %input : tensor<4xf32>
  } : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @nothing(%arg0: tensor<3xf32>) {
  // expected-error@+1 {{'chlo.scan' op neither inputs nor outputs: expected at least one}}
  %0 = chlo.scan() inits(%arg0) dimension=0 {
  ^bb0(%carry: tensor<3xf32>):
    stablehlo.return %carry : tensor<3xf32>
  } : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @dimension(%arg0: tensor<3xf32>) {
  // expected-error@+1 {{'chlo.scan' op dimension out of range: got 1, expected it in [0, 1)}}
  %0 = chlo.scan(%arg0) inits() dimension=1 {
  ^bb0(%input: tensor<3xf32>):
    stablehlo.return %input : tensor<3xf32>
  } : (tensor<3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @output_dimension(%arg0: tensor<3x2xf32>) {
  // expected-error@+2 {{'chlo.scan' op dimension out of range: got 1, expected it in [0, 1)}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.scan(%arg0) inits() dimension=1 {
  ^bb0(%input: tensor<3xf32>):
    %1 = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  } : (tensor<3x2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @sizes(%arg0: tensor<3xf32>, %arg1: tensor<4xf32>) {
  // expected-error@+1 {{'chlo.scan' op sizes of the scanned dimension differ: got 4 in 'tensor<4xf32>', expected 3}}
  %0 = chlo.scan(%arg0, %arg1) inits() dimension=0 {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  } : (tensor<3xf32>, tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @arguments(%arg0: tensor<3xf32>) {
  // expected-error@+1 {{'chlo.scan' op body has the wrong arguments: got ('tensor<3xf32>'), expected ('tensor<f32>')}}
  %0 = chlo.scan(%arg0) inits() dimension=0 {
  ^bb0(%input: tensor<3xf32>):
    %1 = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  } : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @too_few_results(%arg0: tensor<3xf32>) {
  // expected-error@+2 {{'chlo.scan' op body returns 0 values, expected one for each of 1 carries}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.scan(%arg0) inits(%arg0) dimension=0 {
  ^bb0(%input: tensor<f32>, %carry: tensor<3xf32>):
    stablehlo.return
  } : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @result(%arg0: tensor<3xf32>) {
  // expected-error@+2 {{'chlo.scan' op inferred type(s) 'tensor<3xf32>' are incompatible with return type(s) of operation 'tensor<4xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.scan(%arg0) inits() dimension=0 {
  ^bb0(%input: tensor<f32>):
    stablehlo.return %input : tensor<f32>
  } : (tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @operand_types(%arg0: tensor<3xf32>) {
  // expected-error@+1 {{expected 1 operand types, got 2}}
  %0 = chlo.scan(%arg0) inits() dimension=0 {
  ^bb0(%input: tensor<f32>):
    stablehlo.return %input : tensor<f32>
  } : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @result_types(%arg0: tensor<3xf32>) {
  // expected-error@+1 {{expected at least 1 result types, got 0}}
  chlo.scan() inits(%arg0) dimension=0 {
  ^bb0(%input: tensor<3xf32>):
    stablehlo.return %input : tensor<3xf32>
  } : (tensor<3xf32>) -> ()
  return
}

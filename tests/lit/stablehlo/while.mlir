// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<i32>, %arg1: tensor<?xf32>, %arg2: tensor<i1>) {
  // CHECK: stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<i32>, tensor<?xf32> attributes {note = 1 : i32}
  // CHECK-NEXT: cond {
  // CHECK-NEXT: stablehlo.compare LT, %iterArg, %arg0
  // CHECK-NEXT: stablehlo.return
  // CHECK-NEXT: } do {
  // CHECK-NEXT: stablehlo.return %iterArg, %iterArg_0 : tensor<i32>, tensor<?xf32>
  %0:2 = stablehlo.while(%i = %arg0, %x = %arg1) : tensor<i32>, tensor<?xf32> attributes {note = 1 : i32} cond {
    %1 = stablehlo.compare LT, %i, %arg0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    stablehlo.return %i, %x : tensor<i32>, tensor<?xf32>
  }
  // CHECK: stablehlo.while()
  // CHECK-NEXT: cond {
  stablehlo.while() cond {
    stablehlo.return %arg2 : tensor<i1>
  } do {
    stablehlo.return
  }
  return
}

// -----

func.func @c1(%arg0: tensor<i32>) {
  // expected-error@+1 {{'stablehlo.while' op (C1) cond has the wrong results: got ('tensor<i32>'), expected ('tensor<i1>')}}
  %0 = stablehlo.while(%i = %arg0) : tensor<i32> cond {
    stablehlo.return %i : tensor<i32>
  } do {
    stablehlo.return %i : tensor<i32>
  }
  return
}

// -----

func.func @c1_arguments(%arg0: tensor<i32>, %arg1: tensor<i1>) {
  // expected-error@+1 {{'stablehlo.while' op (C1) cond has the wrong arguments: got ('tensor<i64>'), expected ('tensor<i32>')}}
  %0 = "stablehlo.while"(%arg0) ({
  ^bb0(%i: tensor<i64>):
    stablehlo.return %arg1 : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>):
    stablehlo.return %i : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

func.func @c2(%arg0: tensor<i32>, %arg1: tensor<i1>) {
  // expected-error@+1 {{'stablehlo.while' op (C2) body has the wrong results: got ('tensor<i1>'), expected ('tensor<i32>')}}
  %0 = stablehlo.while(%i = %arg0) : tensor<i32> cond {
    stablehlo.return %arg1 : tensor<i1>
  } do {
    stablehlo.return %arg1 : tensor<i1>
  }
  return
}

// -----

func.func @c3(%arg0: tensor<i32>, %arg1: tensor<i1>) {
  // expected-error@+2 {{'stablehlo.while' op inferred type(s) 'tensor<i32>' are incompatible with return type(s) of operation 'tensor<i64>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.while"(%arg0) ({
  ^bb0(%i: tensor<i32>):
    stablehlo.return %arg1 : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>):
    stablehlo.return %i : tensor<i32>
  }) : (tensor<i32>) -> tensor<i64>
  return
}

// -----

func.func @operand(%arg0: tensor<2xindex>) {
  // expected-error@+1 {{'stablehlo.while' op operand #0 must be variadic of ranked tensor of boolean or integer or floating-point or complex or per-tensor quantized or per-axis quantized values or token or memref of boolean or integer or floating-point or complex values, but got 'tensor<2xindex>'}}
  %0 = stablehlo.while(%iterArg = %arg0) : tensor<2xindex>
  cond {
    %1 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    stablehlo.return %iterArg : tensor<2xindex>
  }
  return
}

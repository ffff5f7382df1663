// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @async_start
func.func @async_start(%arg0: tensor<4x8xf32>) {
  // CHECK: "stablehlo.async_start"(%arg0) ({
  // CHECK-NEXT: ^bb0(%arg1: tensor<4x8xf32>):
  // CHECK-NEXT: "stablehlo.all_gather"(%arg1)
  // CHECK-NEXT: stablehlo.return
  // CHECK-NEXT: }) {note} : (tensor<4x8xf32>) -> !stablehlo.future<tensor<4x16xf32>>
  %0 = "stablehlo.async_start"(%arg0) ({
  ^bb0(%a: tensor<4x8xf32>):
    %g = "stablehlo.all_gather"(%a) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
    stablehlo.return %g : tensor<4x16xf32>
  }) {note} : (tensor<4x8xf32>) -> !stablehlo.future<tensor<4x16xf32>>
  // CHECK: "stablehlo.async_start"(%arg0) ({
  // CHECK: stablehlo.slice
  // CHECK: }) : (tensor<4x8xf32>) -> !stablehlo.future<tensor<2x4xf32>>
  %1 = "stablehlo.async_start"(%arg0) ({
  ^bb0(%a: tensor<4x8xf32>):
    %s = stablehlo.slice %a [0:2, 0:4] : (tensor<4x8xf32>) -> tensor<2x4xf32>
    stablehlo.return %s : tensor<2x4xf32>
  }) : (tensor<4x8xf32>) -> !stablehlo.future<tensor<2x4xf32>>
  return
}

// -----

func.func @arguments(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.async_start' op body has the wrong arguments: got ('tensor<4x8xf32>'), expected ()}}
  %0 = "stablehlo.async_start"() ({
  ^bb0(%a: tensor<4x8xf32>):
    %s = stablehlo.slice %a [0:2, 0:4] : (tensor<4x8xf32>) -> tensor<2x4xf32>
    stablehlo.return %s : tensor<2x4xf32>
  }) : () -> !stablehlo.future<tensor<2x4xf32>>
  return
}

// -----

func.func @one_op(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.async_start' op body holds more or less than one op and a return}}
  %0 = "stablehlo.async_start"(%arg0) ({
  ^bb0(%a: tensor<4x8xf32>):
    stablehlo.return %a : tensor<4x8xf32>
  }) : (tensor<4x8xf32>) -> !stablehlo.future<tensor<4x8xf32>>
  return
}

// -----

func.func @which_op(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.async_start' op body holds stablehlo.add, expected a collective op or a slice}}
  %0 = "stablehlo.async_start"(%arg0) ({
  ^bb0(%a: tensor<4x8xf32>):
    %s = stablehlo.add %a, %a : tensor<4x8xf32>
    stablehlo.return %s : tensor<4x8xf32>
  }) : (tensor<4x8xf32>) -> !stablehlo.future<tensor<4x8xf32>>
  return
}

// -----

func.func @one_result(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.async_start' op body's results has the wrong number of elements: got 2, expected 1}}
  %0 = "stablehlo.async_start"(%arg0) ({
  ^bb0(%a: tensor<4x8xf32>):
    %s = stablehlo.slice %a [0:2, 0:4] : (tensor<4x8xf32>) -> tensor<2x4xf32>
    stablehlo.return %s, %s : tensor<2x4xf32>, tensor<2x4xf32>
  }) : (tensor<4x8xf32>) -> !stablehlo.future<tensor<2x4xf32>, tensor<2x4xf32>>
  return
}

// -----

func.func @result(%arg0: tensor<4x8xf32>) {
  // expected-error@+2 {{'stablehlo.async_start' op inferred type(s) '!stablehlo.future<tensor<2x4xf32>>' are incompatible with return type(s) of operation '!stablehlo.future<tensor<2x5xf32>>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "stablehlo.async_start"(%arg0) ({
  ^bb0(%a: tensor<4x8xf32>):
    %s = stablehlo.slice %a [0:2, 0:4] : (tensor<4x8xf32>) -> tensor<2x4xf32>
    stablehlo.return %s : tensor<2x4xf32>
  }) : (tensor<4x8xf32>) -> !stablehlo.future<tensor<2x5xf32>>
  return
}

// -----

func.func @held(%arg0: !stablehlo.token) {
  // expected-error@+1 {{a future holds ranked tensors, got 'i32'}}
  %0 = "stablehlo.async_start"(%arg0) : (!stablehlo.token) -> !stablehlo.future<i32>
  return
}

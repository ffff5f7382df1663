// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

func.func private @decomposition(tensor<2xf32>) -> tensor<2xf32>
func.func private @nothing()

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2xf32>) {
  // CHECK: stablehlo.composite "my.op" %arg0 {composite_attributes = {a = 1 : i64}, decomposition = @decomposition, note = 1 : i64, version = 2 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  %0 = stablehlo.composite "my.op" %arg0 {composite_attributes = {a = 1 : i64}, decomposition = @decomposition, note = 1 : i64, version = 2 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: stablehlo.composite "my.op$1" %arg0 {decomposition = @decomposition} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "stablehlo.composite"(%arg0) <{name = "my.op$1", composite_attributes = {}, decomposition = @decomposition, version = 0 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: stablehlo.composite "a.b.c" {decomposition = @nothing} : () -> ()
  stablehlo.composite "a.b.c" {decomposition = @nothing} : () -> ()
  // CHECK: stablehlo.composite "my.op" %arg0 ({
  // CHECK-NEXT:   stablehlo.return %arg0 : tensor<2xf32>
  // CHECK-NEXT: }, {
  // CHECK-NEXT: ^bb0(%arg1: tensor<2xf32>):
  // CHECK-NEXT:   stablehlo.return %arg1 : tensor<2xf32>
  // CHECK-NEXT: }) {decomposition = @decomposition} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = stablehlo.composite "my.op" %arg0 ({
    stablehlo.return %arg0 : tensor<2xf32>
  }, {
  ^bb0(%arg1: tensor<2xf32>):
    stablehlo.return %arg1 : tensor<2xf32>
  }) {decomposition = @decomposition} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func private @decomposition()

func.func @c1_no_namespace() {
  // expected-error@+1 {{'stablehlo.composite' op (C1) name: got "op", expected a name in a namespace, such as "my_namespace.my_op"}}
  stablehlo.composite "op" {decomposition = @decomposition} : () -> ()
  return
}

// -----

func.func private @decomposition()

func.func @c1_letters() {
  // expected-error@+1 {{'stablehlo.composite' op (C1) name: got "my-space.op", expected a name in a namespace, such as "my_namespace.my_op"}}
  stablehlo.composite "my-space.op" {decomposition = @decomposition} : () -> ()
  return
}

// -----

func.func @c2() {
  // expected-error@+1 {{'stablehlo.composite' op (C2) decomposition: there is no function @decomposition}}
  stablehlo.composite "my.op" {decomposition = @decomposition} : () -> ()
  return
}

// -----

func.func private @decomposition(tensor<2xf32>)

func.func @c3_count() {
  // expected-error@+1 {{'stablehlo.composite' op (C3) number of inputs: got 0, the decomposition has 1}}
  stablehlo.composite "my.op" {decomposition = @decomposition} : () -> ()
  return
}

// -----

func.func private @decomposition(tensor<?xf32>)

func.func @c3_type(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.composite' op (C3) type 0 of the inputs: got 'tensor<2xf32>', the decomposition has 'tensor<?xf32>'}}
  stablehlo.composite "my.op" %arg0 {decomposition = @decomposition} : (tensor<2xf32>) -> ()
  return
}

// -----

func.func private @decomposition(tensor<2xf32>) -> tensor<2xf32>

func.func @c4_count(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.composite' op (C4) number of results: got 0, the decomposition has 1}}
  stablehlo.composite "my.op" %arg0 {decomposition = @decomposition} : (tensor<2xf32>) -> ()
  return
}

// -----

func.func private @decomposition(tensor<2xf32>) -> tensor<2xf32>

func.func @c4_type(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.composite' op (C4) type 0 of the results: got 'tensor<2xf64>', the decomposition has 'tensor<2xf32>'}}
  %0 = stablehlo.composite "my.op" %arg0 {decomposition = @decomposition} : (tensor<2xf32>) -> tensor<2xf64>
  return
}

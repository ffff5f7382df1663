// RUN: torchere-opt %s -split-input-file --stablehlo-refine-arguments='types=tensor<4x3xf32>' --stablehlo-refine-shapes | FileCheck %s
// Types are carried through every kind of op, through loops and through calls; shape arithmetic is removed.

// CHECK-LABEL: func @main(%arg0: tensor<4x3xf32>) -> (tensor<12xf32>, tensor<3xf32>, tensor<4x4xf32>, tensor<4x3xi1>)
func.func @main(%arg0: tensor<?x3xf32>) -> (tensor<?xf32>, tensor<3xf32>, tensor<?x?xf32>, tensor<?x3xi1>) {
  // CHECK-NEXT: %[[FLAT:.*]] = stablehlo.reshape %arg0 : (tensor<4x3xf32>) -> tensor<12xf32>
  // CHECK-NEXT: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.reduce(%arg0 init: %[[ZERO]]) applies stablehlo.add across dimensions = [0] : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
  // CHECK-NEXT: %[[HALF:.*]] = stablehlo.convert %arg0 : (tensor<4x3xf32>) -> tensor<4x3xf16>
  // CHECK-NEXT: %[[DOT:.*]] = stablehlo.dot_general %[[HALF]], %[[HALF]], contracting_dims = [1] x [1] : (tensor<4x3xf16>, tensor<4x3xf16>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[COMPARED:.*]] = stablehlo.compare GT, %arg0, %arg0 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
  // CHECK-NEXT: return %[[FLAT]], %[[SUM]], %[[DOT]], %[[COMPARED]]
  %rows = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %size = stablehlo.multiply %rows, %three : tensor<i32>
  %shape = stablehlo.reshape %size : (tensor<i32>) -> tensor<1xi32>
  %flat = stablehlo.dynamic_reshape %arg0, %shape : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%arg0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?x3xf32>, tensor<f32>) -> tensor<3xf32>
  %half = stablehlo.convert %arg0 : (tensor<?x3xf32>) -> tensor<?x3xf16>
  %dot = stablehlo.dot_general %half, %half, contracting_dims = [1] x [1] : (tensor<?x3xf16>, tensor<?x3xf16>) -> tensor<?x?xf32>
  %compared = stablehlo.compare GT, %arg0, %arg0 : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xi1>
  return %flat, %sum, %dot, %compared : tensor<?xf32>, tensor<3xf32>, tensor<?x?xf32>, tensor<?x3xi1>
}

// -----

// CHECK-LABEL: func @main(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32>
func.func @main(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  // CHECK: stablehlo.while({{.*}}) : tensor<i32>, tensor<4x3xf32>
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} : tensor<4x3xf32>
  // CHECK: stablehlo.return {{.*}} : tensor<i32>, tensor<4x3xf32>
  %0:2 = stablehlo.while(%i = %zero, %x = %arg0) : tensor<i32>, tensor<?x3xf32> cond {
    %1 = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.add %x, %x : tensor<?x3xf32>
    %3 = stablehlo.add %i, %i : tensor<i32>
    stablehlo.return %3, %2 : tensor<i32>, tensor<?x3xf32>
  }
  return %0#1 : tensor<?x3xf32>
}

// -----

// Regions use sizes and tensors from outside, and hold each other.
// CHECK-LABEL: func @main(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32>
func.func @main(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %start = stablehlo.constant dense<1> : tensor<i32>
  // CHECK: %[[ROWS:.*]] = stablehlo.constant dense<4> : tensor<i32>
  %rows = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %one = stablehlo.reshape %rows : (tensor<i32>) -> tensor<1xi32>
  %three = stablehlo.constant dense<3> : tensor<1xi32>
  %shape = stablehlo.concatenate %one, %three, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  // CHECK: stablehlo.while({{.*}}) : tensor<i32>, tensor<4x3xf32>
  %0:2 = stablehlo.while(%i = %start, %x = %arg0) : tensor<i32>, tensor<?x3xf32> cond {
    // CHECK: stablehlo.compare LT, %{{.*}}, %[[ROWS]]
    %1 = stablehlo.compare LT, %i, %rows : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.compare LT, %i, %start : (tensor<i32>, tensor<i32>) -> tensor<i1>
    // CHECK: "stablehlo.if"
    %2 = "stablehlo.if"(%1) ({
      // CHECK: stablehlo.convert %{{.*}} : (tensor<i32>) -> tensor<f32>
      // CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
      %3 = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
      %4 = stablehlo.dynamic_broadcast_in_dim %3, %shape, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
      stablehlo.return %4 : tensor<?x3xf32>
    }, {
      // CHECK: stablehlo.add %{{.*}}, %arg0 : tensor<4x3xf32>
      %3 = stablehlo.add %x, %arg0 : tensor<?x3xf32>
      stablehlo.return %3 : tensor<?x3xf32>
    // CHECK: (tensor<i1>) -> tensor<4x3xf32>
    }) : (tensor<i1>) -> tensor<?x3xf32>
    %3 = stablehlo.add %i, %i : tensor<i32>
    stablehlo.return %3, %2 : tensor<i32>, tensor<?x3xf32>
  }
  return %0#1 : tensor<?x3xf32>
}

// -----

// A function that is called with two signatures is copied; one that is called twice with the same is not.
// CHECK-LABEL: func @main(%arg0: tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<2x3xf32>, tensor<4x3xf32>)
// CHECK: call @double(%arg0) : (tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK: call @double_0(%{{.*}}) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK: call @double(%arg0) : (tensor<4x3xf32>) -> tensor<4x3xf32>
func.func @main(%arg0: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) {
  %0 = call @double(%arg0) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %part = stablehlo.slice %arg0 [0:2, 0:3] : (tensor<?x3xf32>) -> tensor<2x3xf32>
  %rows = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  %wide = stablehlo.dynamic_reshape %part, %rows : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
  %1 = call @double(%wide) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %2 = call @double(%arg0) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0, %1, %2 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>
}
// CHECK: func private @double(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK: func private @double_0(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NOT: func private
func.func private @double(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// Sizes are passed to functions and returned from them.
// CHECK-LABEL: func @main(%arg0: tensor<4x3xf32>) -> tensor<8xf32>
// CHECK: stablehlo.iota dim = 0 : tensor<8xf32>
func.func @main(%arg0: tensor<?x3xf32>) -> tensor<?xf32> {
  %rows = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %size = call @twice(%arg0, %rows) : (tensor<?x3xf32>, tensor<i32>) -> tensor<i32>
  %shape = stablehlo.reshape %size : (tensor<i32>) -> tensor<1xi32>
  %0 = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @twice(%arg0: tensor<?x3xf32>, %arg1: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.add %arg1, %arg1 : tensor<i32>
  return %0 : tensor<i32>
}

// -----

// CHECK-LABEL: func @main(%arg0: tensor<4x3xf32>) -> tensor<4x5xf32>
// CHECK: stablehlo.custom_call @made_elsewhere(%arg0, %{{.*}}) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<4x5xf32>
func.func @main(%arg0: tensor<?x3xf32>) -> tensor<?x?xf32> {
  %shape = stablehlo.constant dense<[4, 5]> : tensor<2xi64>
  %0 = stablehlo.custom_call @made_elsewhere(%arg0, %shape) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// The types of branches become those of what chooses among them.
// CHECK-LABEL: func @main(%arg0: tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4xi32>)
func.func @main(%arg0: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?xi32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %row = stablehlo.reduce(%arg0 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<?x3xf32>, tensor<f32>) -> tensor<f32>
  %positive = stablehlo.compare GT, %row, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
  // CHECK: %[[CHOSEN:.*]] = "stablehlo.if"
  // CHECK: stablehlo.add %arg0, %arg0 : tensor<4x3xf32>
  // CHECK: (tensor<i1>) -> tensor<4x3xf32>
  %chosen = "stablehlo.if"(%positive) ({
    %0 = stablehlo.add %arg0, %arg0 : tensor<?x3xf32>
    stablehlo.return %0 : tensor<?x3xf32>
  }, {
    stablehlo.return %arg0 : tensor<?x3xf32>
  }) : (tensor<i1>) -> tensor<?x3xf32>
  %index = stablehlo.convert %row : (tensor<f32>) -> tensor<i32>
  %rows = stablehlo.get_dimension_size %chosen, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %shape = stablehlo.reshape %rows : (tensor<i32>) -> tensor<1xi32>
  // CHECK: %[[COUNT:.*]] = "stablehlo.case"
  // CHECK: stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  // CHECK: stablehlo.constant dense<4> : tensor<4xi32>
  // CHECK: (tensor<i32>) -> tensor<4xi32>
  // CHECK: return %[[CHOSEN]], %[[COUNT]]
  %count = "stablehlo.case"(%index) ({
    %0 = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
    stablehlo.return %0 : tensor<?xi32>
  }, {
    %0 = stablehlo.dynamic_broadcast_in_dim %rows, %shape, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    stablehlo.return %0 : tensor<?xi32>
  }) : (tensor<i32>) -> tensor<?xi32>
  return %chosen, %count : tensor<?x3xf32>, tensor<?xi32>
}

// -----

// A composite keeps its name; what it is made of is refined as a call is.
// CHECK-LABEL: func @main(%arg0: tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<2x3xf32>)
// CHECK: stablehlo.composite "lib.double" %arg0 {decomposition = @double} : (tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK: stablehlo.composite "lib.double" %{{.*}} {decomposition = @double_0} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @main(%arg0: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %0 = stablehlo.composite "lib.double" %arg0 {decomposition = @double} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %part = stablehlo.slice %arg0 [0:2, 0:3] : (tensor<?x3xf32>) -> tensor<2x3xf32>
  %rows = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  %wide = stablehlo.dynamic_reshape %part, %rows : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
  %1 = stablehlo.composite "lib.double" %wide {decomposition = @double} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<?x3xf32>, tensor<?x3xf32>
}
// CHECK: func private @double(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK: func private @double_0(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32>
func.func private @double(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// Elements of another width have a dimension more, or one less.
// CHECK-LABEL: func @main(%arg0: tensor<4x3xf32>) -> (tensor<4x3xi32>, tensor<4x3x2xi16>, tensor<4x3xi32>)
func.func @main(%arg0: tensor<?x3xf32>) -> (tensor<?x3xi32>, tensor<?x3x2xi16>, tensor<?x3xi32>) {
  // CHECK-NEXT: stablehlo.bitcast_convert %arg0 : (tensor<4x3xf32>) -> tensor<4x3xi32>
  // CHECK-NEXT: stablehlo.bitcast_convert %arg0 : (tensor<4x3xf32>) -> tensor<4x3x2xi16>
  // CHECK-NEXT: stablehlo.bitcast_convert %{{.*}} : (tensor<4x3x2xi16>) -> tensor<4x3xi32>
  %same = stablehlo.bitcast_convert %arg0 : (tensor<?x3xf32>) -> tensor<?x3xi32>
  %halves = stablehlo.bitcast_convert %arg0 : (tensor<?x3xf32>) -> tensor<?x3x2xi16>
  %joined = stablehlo.bitcast_convert %halves : (tensor<?x3x2xi16>) -> tensor<?x3xi32>
  return %same, %halves, %joined : tensor<?x3xi32>, tensor<?x3x2xi16>, tensor<?x3xi32>
}

// RUN: torchere-opt %s --torchere-prepare-xla-loop-counters --split-input-file | FileCheck %s

// CHECK-LABEL: func @doubled
// CHECK: do {
// CHECK: %[[TWO:.*]] = stablehlo.constant dense<2> : tensor<i64>
// CHECK: %[[NEXT:.*]] = stablehlo.multiply %iterArg, %[[TWO]] : tensor<i64>
// CHECK: %[[SUM:.*]] = stablehlo.add %iterArg_0, %iterArg_0 : tensor<3xf32>
// CHECK: stablehlo.return %[[NEXT]], %[[SUM]]
func.func @doubled(%i: tensor<i64>, %n: tensor<i64>, %x: tensor<3xf32>) -> tensor<3xf32> {
  %0:2 = stablehlo.while(%iterArg = %i, %iterArg_0 = %x) : tensor<i64>, tensor<3xf32>
  cond {
    %1 = stablehlo.compare LT, %iterArg, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %iterArg, %iterArg : tensor<i64>
    %2 = stablehlo.add %iterArg_0, %iterArg_0 : tensor<3xf32>
    stablehlo.return %1, %2 : tensor<i64>, tensor<3xf32>
  }
  return %0#1 : tensor<3xf32>
}

// -----

// A counter that grows otherwise, and one that becomes twice another.
// CHECK-LABEL: func @others
// CHECK-NOT: stablehlo.multiply
// CHECK: stablehlo.add %iterArg, %iterArg_0 : tensor<i32>
// CHECK: stablehlo.add %iterArg, %iterArg : tensor<i32>
func.func @others(%i: tensor<i32>, %n: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %0:2 = stablehlo.while(%iterArg = %i, %iterArg_0 = %n) : tensor<i32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %iterArg, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %iterArg, %iterArg_0 : tensor<i32>
    %2 = stablehlo.add %iterArg, %iterArg : tensor<i32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<i32>, tensor<i32>
}

// RUN: torchere-opt %s --allow-unregistered-dialect --chlo-legalize-to-stablehlo | FileCheck %s --check-prefixes=CHECK,LEGAL
// RUN: torchere-opt %s --allow-unregistered-dialect --stablehlo-refine-shapes | FileCheck %s --check-prefixes=CHECK,FOLDED
// RUN: torchere-opt %s --allow-unregistered-dialect --stablehlo-canonicalize-dynamism | FileCheck %s
// RUN: torchere-opt %s --allow-unregistered-dialect --stablehlo-check-shape-assertions | FileCheck %s
// RUN: torchere-opt %s --allow-unregistered-dialect --stablehlo-legalize-composite-to-call | FileCheck %s
// RUN: torchere-opt %s --allow-unregistered-dialect --stablehlo-compatibility-expander=target=1.0.0 | FileCheck %s
// RUN: torchere-opt %s --allow-unregistered-dialect --stablehlo-aggressive-simplification | FileCheck %s --check-prefixes=CHECK
// RUN: torchere-opt %s --allow-unregistered-dialect --stablehlo-aggressive-folder | FileCheck %s --check-prefixes=CHECK,FOLDED
// RUN: torchere-opt %s --allow-unregistered-dialect --stablehlo-target-independent-optimization | FileCheck %s --check-prefixes=CHECK,FOLDED
// RUN: torchere-opt %s --allow-unregistered-dialect --canonicalize --cse --strip-debuginfo | FileCheck %s

// Ops of no known dialect stay, with what stands within them; others are treated as ever.

// CHECK-LABEL: func.func @main
func.func @main(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<i32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  // FOLDED: %[[TWO:.*]] = stablehlo.constant dense<2> : tensor<i32>
  %two = stablehlo.add %one, %one : tensor<i32>
  // CHECK: "a.b"(%{{.*}}) : (tensor<i32>) -> tensor<i32>
  %b = "a.b"(%two) : (tensor<i32>) -> tensor<i32>
  // CHECK: "a.c"(%arg0) ({
  %c = "a.c"(%a) ({
    // LEGAL: stablehlo.multiply %arg0, %arg0 : tensor<2xf32>
    %s = chlo.square %a : tensor<2xf32> -> tensor<2xf32>
    // CHECK: "a.d"(%{{.*}}) : (tensor<2xf32>) -> ()
    "a.d"(%s) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return %c, %b : tensor<2xf32>, tensor<i32>
}

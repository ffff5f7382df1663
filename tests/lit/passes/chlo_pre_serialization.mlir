// RUN: torchere-opt %s --chlo-pre-serialization-pipeline | FileCheck %s
// RUN: torchere-opt %s --chlo-pre-serialization-pipeline | torchere-opt --pass-pipeline='builtin.module(chlo-pre-serialization-pipeline)' | FileCheck %s
// RUN: torchere-opt %s --chlo-pre-serialization-pipeline -inline | torchere-translate --interpret

// As upstream's test programs use it: CHLO is expanded, the assertions stay.
// CHECK-LABEL: func.func @main
// CHECK-NOT: chlo.
// CHECK: check.expect_close
// CHECK-NOT: chlo.
func.func @main() {
  %0 = stablehlo.constant dense<[0.5, -2.0]> : tensor<2xf32>
  %1 = call @square(%0) : (tensor<2xf32>) -> tensor<2xf32>
  %2 = stablehlo.constant dense<[0.25, 4.0]> : tensor<2xf32>
  check.expect_close %1, %2, max_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  return
}

// CHECK-LABEL: func.func private @square
// CHECK: stablehlo.multiply
func.func private @square(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  %0 = chlo.square %arg0 : tensor<2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

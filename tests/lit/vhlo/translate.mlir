// RUN: torchere-translate --serialize --strip-debuginfo %s | torchere-translate --deserialize | FileCheck %s
// RUN: torchere-translate --serialize --target=minimum %s | torchere-translate --deserialize | FileCheck %s
// RUN: torchere-translate --serialize --target=current %s -o %t.bc
// RUN: torchere-translate --deserialize %t.bc | FileCheck %s
// RUN: torchere-translate --serialize --target=0.13.0 %t.bc | torchere-translate --deserialize | FileCheck %s
// RUN: not torchere-translate --serialize --target=1.16 %s 2>&1 | FileCheck %s --check-prefix=VERSION
// RUN: not torchere-translate --serialize --target=1.21.0 %s 2>&1 | FileCheck %s --check-prefix=NEWER
// RUN: not torchere-translate --deserialize %s 2>&1 | FileCheck %s --check-prefix=TEXT

// VERSION: error: [target] not a StableHLO version: got "1.16", expected three numbers as in "1.16.0"
// NEWER: error: [target_version] StableHLO 1.21.0 cannot be written: expected 0.9.0 to 1.20.0
// TEXT: translate.mlir] not a portable artifact: it does not begin with the magic bytes of MLIR's bytecode

// CHECK-LABEL: module @named attributes {mhlo.num_partitions = 1 : i32}
module @named attributes {mhlo.num_partitions = 1 : i32} {
  // CHECK: func.func public @main(%arg0: tensor<2xf32> {mhlo.sharding = "{replicated}"}) -> (tensor<2xf32> {jax.result_info = "r"}) attributes {note = ["kept", 1 : i32]} {
  func.func public @main(%arg0: tensor<2xf32> {mhlo.sharding = "{replicated}"})
      -> (tensor<2xf32> {jax.result_info = "r"}) attributes {note = ["kept", 1 : i32]} {
    // CHECK-NEXT: %0 = call @twice(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
    %0 = call @twice(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
    // CHECK-NEXT: return %0 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  // CHECK: func.func private @twice(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  func.func private @twice(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    // CHECK-NEXT: %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>
    %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

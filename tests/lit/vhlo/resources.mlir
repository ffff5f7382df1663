// RUN: torchere-translate --serialize --target=1.16.0 %s | torchere-translate --deserialize | FileCheck %s

// A resource's bytes become a constant like any other.
// CHECK-LABEL: func @resources
func.func @resources() {
  // CHECK: dense<[1, 2, 3]> : tensor<3xi32>
  %0 = stablehlo.constant dense_resource<numbers> : tensor<3xi32>
  // CHECK: dense<[true, false, true, true, false, false, false, false, true]> : tensor<9xi1>
  %1 = stablehlo.constant dense_resource<bits> : tensor<9xi1>
  return
}

{-#
  dialect_resources: {
    builtin: {
      numbers: "0x04000000010000000200000003000000",
      bits: "0x010000000D01"
    }
  }
#-}

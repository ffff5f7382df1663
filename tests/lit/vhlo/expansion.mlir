// RUN: torchere-translate --serialize --target=0.13.0 %s | torchere-translate --deserialize | FileCheck %s
// RUN: torchere-translate --serialize --target=1.3.0 %s | torchere-translate --deserialize | FileCheck %s --check-prefix=MIDDLE
// RUN: torchere-translate --serialize --target=1.16.0 %s | torchere-translate --deserialize | FileCheck %s --check-prefix=NEW
// What an old target lacks is written in the ops that it has.

// CHECK-LABEL: func.func @main
// CHECK: call @made_of(%arg0)
// CHECK: stablehlo.sine
// CHECK: stablehlo.cosine
// CHECK: stablehlo.divide
// MIDDLE: stablehlo.composite "lib.abs"
// MIDDLE: stablehlo.sine
// NEW: stablehlo.composite "lib.abs"
// NEW: stablehlo.tan
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.composite "lib.abs" %x {decomposition = @made_of} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = stablehlo.tan %0 : tensor<2xf32> loc("model.py":3:5 to 4:9)
  return %1 : tensor<2xf32>
}

func.func private @made_of(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.abs %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}

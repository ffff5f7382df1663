// RUN: torchere-opt %s --stablehlo-legalize-composite-to-call=except=lib.kept,lib.also_kept | FileCheck %s
// RUN: torchere-opt %s --stablehlo-legalize-composite-to-call | FileCheck %s --check-prefix=ALL

// CHECK-LABEL: func @main
// CHECK-NEXT: %[[FIRST:.*]] = call @made_of(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: %[[SECOND:.*]] = stablehlo.composite "lib.kept" %[[FIRST]]
// CHECK-NEXT: %[[THIRD:.*]] = stablehlo.composite "lib.also_kept" %[[SECOND]]
// CHECK-NEXT: return %[[THIRD]]
// ALL-LABEL: func @main
// ALL-COUNT-3: call @made_of
// ALL-NOT: composite
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.composite "lib.replaced" %x {composite_attributes = {n = 1 : i64}, decomposition = @made_of, version = 1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = stablehlo.composite "lib.kept" %0 {decomposition = @made_of} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = stablehlo.composite "lib.also_kept" %1 {decomposition = @made_of} : (tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

func.func private @made_of(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.abs %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}

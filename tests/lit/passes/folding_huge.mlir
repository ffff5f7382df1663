// RUN: torchere-opt %s --stablehlo-refine-shapes | FileCheck %s
// RUN: torchere-opt %s --stablehlo-target-independent-optimization | FileCheck %s

// A tensor of one value may have more elements than there are numbers of 64 bits.

// CHECK-LABEL: func.func @main
func.func @main() -> tensor<2x2xi32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  // CHECK-NEXT: %[[TWO:.*]] = stablehlo.constant dense<2> : tensor<2x2xi32>
  // CHECK-NEXT: return %[[TWO]]
  %ones = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<i32>) -> tensor<4611686018427387904x4xi32>
  %twos = stablehlo.add %ones, %ones : tensor<4611686018427387904x4xi32>
  %part = stablehlo.slice %twos [0:2, 0:2] : (tensor<4611686018427387904x4xi32>) -> tensor<2x2xi32>
  return %part : tensor<2x2xi32>
}

// RUN: torchere-opt %s --torchere-prepare-xla-cpu-arc-tangents --split-input-file | FileCheck %s

// CHECK-LABEL: func @real
// CHECK-NOT: stablehlo.atan2
// CHECK: dense<0.41421356237309503> : tensor<2xf64>
// CHECK-NOT: stablehlo.atan2
// CHECK: return %{{.*}} : tensor<2xf64>
func.func @real(%y: tensor<2xf64>, %x: tensor<2xf64>) -> tensor<2xf64> {
  %0 = stablehlo.atan2 %y, %x : tensor<2xf64>
  return %0 : tensor<2xf64>
}

// -----

// Half precision is computed in float32; the result knows of its shape what it knew.
// CHECK-LABEL: func @half
// CHECK: stablehlo.convert %arg0 : (tensor<?x3xf16>) -> tensor<?x3xf32>
// CHECK: stablehlo.convert %arg1 : (tensor<2x?xf16>) -> tensor<2x?xf32>
// CHECK-NOT: stablehlo.atan2
// CHECK: %[[KNOWN:.*]] = stablehlo.convert %{{.*}} -> tensor<2x3xf16>
// CHECK: return %[[KNOWN]] : tensor<2x3xf16>
func.func @half(%y: tensor<?x3xf16>, %x: tensor<2x?xf16>) -> tensor<2x3xf16> {
  %0 = stablehlo.atan2 %y, %x : (tensor<?x3xf16>, tensor<2x?xf16>) -> tensor<2x3xf16>
  return %0 : tensor<2x3xf16>
}

// -----

// In regions as well.
// CHECK-LABEL: func @inside
// CHECK-NOT: stablehlo.atan2
func.func @inside(%p: tensor<i1>, %y: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.atan2 %y, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }, {
    stablehlo.return %y : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Of complex numbers XLA has a formula of its own.
// CHECK-LABEL: func @complex
// CHECK: stablehlo.atan2
func.func @complex(%y: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0 = stablehlo.atan2 %y, %y : tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}

// RUN: torchere-opt %s --torchere-prepare-xla-gpu-float32-products --split-input-file | FileCheck %s

// CHECK-LABEL: func @products
// CHECK: stablehlo.dot %arg0, %arg0, precision = [HIGHEST, HIGHEST]
// CHECK: stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST]
// CHECK: stablehlo.convolution
// CHECK-SAME: precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]
func.func @products(%x: tensor<4x4xf32>, %image: tensor<1x1x4x4xf32>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<1x1x1x1xf32>) {
  %0 = stablehlo.dot %x, %x, precision = [DEFAULT, DEFAULT] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.convolution(%image, %image) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x1x1xf32>
  return %0, %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<1x1x1x1xf32>
}

// -----

// What asks for another precision or for an algorithm keeps it; other types have none to lose.
// CHECK-LABEL: func @others
// CHECK: precision = [HIGH, DEFAULT]
// CHECK: algorithm = <lhs_precision_type = tf32
// CHECK-NOT: HIGHEST
// CHECK: return
func.func @others(%x: tensor<4x4xf32>, %y: tensor<4x4xbf16>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xbf16>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], precision = [HIGH, DEFAULT] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.dot_general %y, %y, contracting_dims = [1] x [0] : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
  return %0, %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xbf16>
}

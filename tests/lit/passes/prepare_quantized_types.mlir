// RUN: torchere-opt %s --torchere-prepare-xla-quantized-types --split-input-file | FileCheck %s

// CHECK-LABEL: func @one_scale
// CHECK-NOT: quant
// CHECK: %[[SCALE:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<2xf32>
// CHECK: stablehlo.divide %arg0, %[[SCALE]]
// CHECK: stablehlo.add
// CHECK: stablehlo.maximum
// CHECK: stablehlo.minimum
// CHECK: stablehlo.round_nearest_even
// CHECK: %[[STORED:.*]] = stablehlo.convert %{{.*}} : (tensor<2xf32>) -> tensor<2xi8>
// CHECK: stablehlo.convert %[[STORED]] : (tensor<2xi8>) -> tensor<2xf32>
// CHECK: stablehlo.subtract
// CHECK: %[[NUMBERS:.*]] = stablehlo.multiply
// CHECK: return %[[STORED]], %[[NUMBERS]] : tensor<2xi8>, tensor<2xf32>
func.func @one_scale(%x: tensor<2xf32>) -> (tensor<2xi8>, tensor<2xf32>) {
  %0 = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 5.000000e-01:2>>
  %1 = stablehlo.bitcast_convert %0 : (tensor<2x!quant.uniform<i8:f32, 5.000000e-01:2>>) -> tensor<2xi8>
  %2 = stablehlo.uniform_dequantize %0 : (tensor<2x!quant.uniform<i8:f32, 5.000000e-01:2>>) -> tensor<2xf32>
  return %1, %2 : tensor<2xi8>, tensor<2xf32>
}

// -----

// CHECK-LABEL: func @a_scale_each
// CHECK-NOT: quant
// CHECK: stablehlo.convert %arg0 : (tensor<2x3xui8>) -> tensor<2x3xf32>
// CHECK: %[[POINTS:.*]] = stablehlo.constant dense<[7.000000e+00, 0.000000e+00]> : tensor<2xf32>
// CHECK: stablehlo.broadcast_in_dim %[[POINTS]], dims = [0]
// CHECK: %[[SCALES:.*]] = stablehlo.constant dense<[5.000000e-01, 2.000000e+00]> : tensor<2xf32>
// CHECK: stablehlo.broadcast_in_dim %[[SCALES]], dims = [0]
// CHECK: stablehlo.multiply
func.func @a_scale_each(%x: tensor<2x3xui8>) -> tensor<2x3xf32> {
  %0 = stablehlo.bitcast_convert %x : (tensor<2x3xui8>) -> tensor<2x3x!quant.uniform<u8:f32:0, {5.000000e-01:7,2.000000e+00}>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<2x3x!quant.uniform<u8:f32:0, {5.000000e-01:7,2.000000e+00}>>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// What computes with quantized tensors stays.
// CHECK-LABEL: func @sum
// CHECK: stablehlo.uniform_quantize
// CHECK: stablehlo.add {{.*}}quant.uniform
func.func @sum(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 5.000000e-01:2>>
  %1 = stablehlo.add %0, %0 : tensor<2x!quant.uniform<i8:f32, 5.000000e-01:2>>
  %2 = stablehlo.uniform_dequantize %1 : (tensor<2x!quant.uniform<i8:f32, 5.000000e-01:2>>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

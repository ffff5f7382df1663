// RUN: torchere-opt %s --stablehlo-aggressive-folder | FileCheck %s
// RUN: torchere-opt %s --stablehlo-aggressive-folder='fold-float=false' | FileCheck %s --check-prefix=INTEGERS
// RUN: torchere-opt %s --stablehlo-aggressive-folder='fold-op-element-limit=3' | FileCheck %s --check-prefix=SMALL
// Ops on constants, where the specification fixes every bit of the result.

// CHECK-LABEL: func @integers
// CHECK-DAG: stablehlo.constant dense<[4, 1, -3, 2]> : tensor<4xi8>
// CHECK-DAG: stablehlo.constant dense<[-2, 0, -1, 1]> : tensor<4xi8>
// CHECK-DAG: stablehlo.constant dense<[-1, 1, -1, 1]> : tensor<4xi8>
// CHECK-DAG: stablehlo.constant dense<[-128, 8, 16, 0]> : tensor<4xi8>
// CHECK-NOT: stablehlo.divide
// CHECK: return
// INTEGERS-LABEL: func @integers
// INTEGERS-NOT: stablehlo.divide
// INTEGERS: return
// SMALL-LABEL: func @integers
// SMALL: stablehlo.divide
// SMALL: return
func.func @integers() -> (tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi8>) {
  %a = stablehlo.constant dense<[-5, 7, -4, 9]> : tensor<4xi8>
  %b = stablehlo.constant dense<[2, 12, 3, 9]> : tensor<4xi8>
  %n = stablehlo.constant dense<[9, -6, 1, -7]> : tensor<4xi8>
  %one = stablehlo.constant dense<[1, 3, 2, 8]> : tensor<4xi8>
  %base = stablehlo.constant dense<[64, 1, 4, 1]> : tensor<4xi8>
  %sum = stablehlo.add %a, %n : tensor<4xi8>
  %quotient = stablehlo.divide %a, %b : tensor<4xi8>
  %sign = stablehlo.sign %a : tensor<4xi8>
  %shifted = stablehlo.shift_left %base, %one : tensor<4xi8>
  return %sum, %quotient, %sign, %shifted : tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi8>
}

// CHECK-LABEL: func @unsigned
// CHECK-DAG: stablehlo.constant dense<[100, 1]> : tensor<2xui8>
// CHECK-DAG: stablehlo.constant dense<[true, false]> : tensor<2xi1>
// CHECK-DAG: stablehlo.constant dense<[27, 1]> : tensor<2xui8>
// CHECK: return
func.func @unsigned() -> (tensor<2xui8>, tensor<2xi1>, tensor<2xui8>) {
  %a = stablehlo.constant dense<[200, 3]> : tensor<2xui8>
  %b = stablehlo.constant dense<[2, 3]> : tensor<2xui8>
  %three = stablehlo.constant dense<[3, 1]> : tensor<2xui8>
  %exponent = stablehlo.constant dense<[3, 0]> : tensor<2xui8>
  %0 = stablehlo.divide %a, %b : tensor<2xui8>
  %1 = stablehlo.compare GT, %a, %b : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xi1>
  %2 = stablehlo.power %three, %exponent : tensor<2xui8>
  return %0, %1, %2 : tensor<2xui8>, tensor<2xi1>, tensor<2xui8>
}

// Division by zero, negative powers and numbers out of a type's range are for the run time.
// CHECK-LABEL: func @left_alone
// CHECK: stablehlo.divide
// CHECK: stablehlo.power
// CHECK: stablehlo.convert
// CHECK: stablehlo.exponential
// CHECK: stablehlo.add {{.*}} : tensor<2xf8E5M2>
// CHECK: stablehlo.multiply {{.*}} : tensor<2xcomplex<f32>>
func.func @left_alone() -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi8>, tensor<2xf32>, tensor<2xf8E5M2>, tensor<2xcomplex<f32>>) {
  %a = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  %z = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
  %n = stablehlo.constant dense<[-1, 1]> : tensor<2xi32>
  %f = stablehlo.constant dense<[300.0, 1.0]> : tensor<2xf32>
  %e = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf8E5M2>
  %c = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>
  %0 = stablehlo.divide %a, %z : tensor<2xi32>
  %1 = stablehlo.power %a, %n : tensor<2xi32>
  %2 = stablehlo.convert %f : (tensor<2xf32>) -> tensor<2xi8>
  %3 = stablehlo.exponential %f : tensor<2xf32>
  %4 = stablehlo.add %e, %e : tensor<2xf8E5M2>
  %5 = stablehlo.multiply %c, %c : tensor<2xcomplex<f32>>
  return %0, %1, %2, %3, %4, %5 : tensor<2xi32>, tensor<2xi32>, tensor<2xi8>, tensor<2xf32>, tensor<2xf8E5M2>, tensor<2xcomplex<f32>>
}

// CHECK-LABEL: func @floats
// CHECK-DAG: stablehlo.constant dense<[1.100000e+00, 0x7FC00000, 0x7F800000]> : tensor<3xf32>
// CHECK-DAG: stablehlo.constant dense<[2.000000e+00, 0x7FC00000, 3.000000e+00]> : tensor<3xf32>
// CHECK-DAG: stablehlo.constant dense<[false, false, true]> : tensor<3xi1>
// CHECK-DAG: stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
// CHECK-DAG: stablehlo.constant dense<[2.000000e+00, -2.000000e+00, -0.000000e+00]> : tensor<3xf32>
// CHECK-DAG: stablehlo.constant dense<[3.000000e+00, -3.000000e+00, -0.000000e+00]> : tensor<3xf32>
// CHECK: return
// INTEGERS-LABEL: func @floats
// INTEGERS: stablehlo.add
// INTEGERS: return
func.func @floats() -> (tensor<3xf32>, tensor<3xf32>, tensor<3xi1>, tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) {
  %a = stablehlo.constant dense<[1.0, 0x7FC00000, 3.0]> : tensor<3xf32>
  %b = stablehlo.constant dense<[0.1, 1.0, 0x7F800000]> : tensor<3xf32>
  %t = stablehlo.constant dense<[2.5, -2.5, -0.0]> : tensor<3xf32>
  %c = stablehlo.constant dense<[2.0, 2.0, -1.0]> : tensor<3xf32>
  %0 = stablehlo.add %a, %b : tensor<3xf32>
  %1 = stablehlo.maximum %a, %c : tensor<3xf32>
  %2 = stablehlo.compare LT, %a, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  %3 = stablehlo.is_finite %a : (tensor<3xf32>) -> tensor<3xi1>
  %4 = stablehlo.round_nearest_even %t : tensor<3xf32>
  %5 = stablehlo.round_nearest_afz %t : tensor<3xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<3xf32>, tensor<3xf32>, tensor<3xi1>, tensor<3xi1>, tensor<3xf32>, tensor<3xf32>
}

// -0 is below 0, and NaN above all.
// CHECK-LABEL: func @total_order
// CHECK-NEXT: stablehlo.constant dense<[true, true, false]> : tensor<3xi1>
func.func @total_order() -> tensor<3xi1> {
  %a = stablehlo.constant dense<[-0.0, 1.0, 0x7FC00000]> : tensor<3xf32>
  %b = stablehlo.constant dense<[0.0, 0x7FC00000, 0x7F800000]> : tensor<3xf32>
  %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

// Powers of two have no sign.
// CHECK-LABEL: func @total_order_without_sign
// CHECK-NEXT: stablehlo.constant dense<[true, false]> : tensor<2xi1>
func.func @total_order_without_sign() -> tensor<2xi1> {
  %a = stablehlo.constant dense<[1.0, 4.0]> : tensor<2xf8E8M0FNU>
  %b = stablehlo.constant dense<[4.0, 0.5]> : tensor<2xf8E8M0FNU>
  %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<2xf8E8M0FNU>, tensor<2xf8E8M0FNU>) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}

// NaN is that of the first operand that is NaN, made quiet, or else the positive one.
// CHECK-LABEL: func @nan
// CHECK-NEXT: stablehlo.constant dense<[0x7FC00000, 0xFFC00001, 0x7FC00002]> : tensor<3xf32>
func.func @nan() -> tensor<3xf32> {
  %a = stablehlo.constant dense<[0x7F800000, 0xFF800001, 1.0]> : tensor<3xf32>
  %b = stablehlo.constant dense<[0x7F800000, 0x7FC00002, 0x7FC00002]> : tensor<3xf32>
  %0 = stablehlo.subtract %a, %b : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func @conversions
// CHECK-DAG: stablehlo.constant dense<[3, -3]> : tensor<2xi32>
// CHECK-DAG: stablehlo.constant dense<[3.906250e+00, -3.906250e+00]> : tensor<2xbf16>
// CHECK-DAG: stablehlo.constant dense<[0x4B800000, 1.000000e+00]> : tensor<2xf32>
// CHECK-DAG: stablehlo.constant dense<true> : tensor<2xi1>
// CHECK-DAG: stablehlo.constant dense<[1.000000e+00, 0.000000e+00]> : tensor<2xf32>
// CHECK: return
func.func @conversions() -> (tensor<2xi32>, tensor<2xbf16>, tensor<2xf32>, tensor<2xi1>, tensor<2xf32>) {
  %f = stablehlo.constant dense<[3.9, -3.9]> : tensor<2xf32>
  %i = stablehlo.constant dense<[16777217, 1]> : tensor<2xi32>
  %p = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %n = stablehlo.constant dense<[0x7FC00000, 0.1]> : tensor<2xf32>
  %0 = stablehlo.convert %f : (tensor<2xf32>) -> tensor<2xi32>
  %1 = stablehlo.convert %f : (tensor<2xf32>) -> tensor<2xbf16>
  %2 = stablehlo.convert %i : (tensor<2xi32>) -> tensor<2xf32>
  %3 = stablehlo.convert %n : (tensor<2xf32>) -> tensor<2xi1>
  %4 = stablehlo.convert %p : (tensor<2xi1>) -> tensor<2xf32>
  return %0, %1, %2, %3, %4 : tensor<2xi32>, tensor<2xbf16>, tensor<2xf32>, tensor<2xi1>, tensor<2xf32>
}

// CHECK-LABEL: func @moves
// CHECK-DAG: stablehlo.constant dense<{{\[\[}}1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
// CHECK-DAG: stablehlo.constant dense<{{\[\[}}3, 2, 1], [6, 5, 4]]> : tensor<2x3xi32>
// CHECK-DAG: stablehlo.constant dense<{{\[\[}}4, 6]]> : tensor<1x2xi32>
// CHECK-DAG: stablehlo.constant dense<{{\[\[}}1, 2, 3, 1, 2, 3], [4, 5, 6, 4, 5, 6]]> : tensor<2x6xi32>
// CHECK-DAG: stablehlo.constant dense<[9, 7, 9, 8]> : tensor<4xi32>
// CHECK-DAG: stablehlo.constant dense<{{\[\[}}7, 8], [7, 8]]> : tensor<2x2xi32>
// CHECK-DAG: stablehlo.constant dense<{{\[\[}}0, 0], [1, 1]]> : tensor<2x2xi32>
// CHECK-DAG: stablehlo.constant dense<[1, 8]> : tensor<2xi32>
// CHECK: return
func.func @moves() -> (tensor<3x2xi32>, tensor<2x3xi32>, tensor<1x2xi32>, tensor<2x6xi32>, tensor<4xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2xi32>) {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %y = stablehlo.constant dense<[7, 8]> : tensor<2xi32>
  %z = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %nine = stablehlo.constant dense<9> : tensor<i32>
  %p = stablehlo.constant dense<[false, true]> : tensor<2xi1>
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
  %1 = stablehlo.reverse %x, dims = [1] : tensor<2x3xi32>
  %2 = stablehlo.slice %x [1:2, 0:3:2] : (tensor<2x3xi32>) -> tensor<1x2xi32>
  %3 = stablehlo.concatenate %x, %x, dim = 1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x6xi32>
  %4 = stablehlo.pad %y, %nine, low = [1], high = [0], interior = [1] : (tensor<2xi32>, tensor<i32>) -> tensor<4xi32>
  %5 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<2xi32>) -> tensor<2x2xi32>
  %6 = stablehlo.iota dim = 0 : tensor<2x2xi32>
  %7 = stablehlo.select %p, %y, %z : tensor<2xi1>, tensor<2xi32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<3x2xi32>, tensor<2x3xi32>, tensor<1x2xi32>, tensor<2x6xi32>, tensor<4xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2xi32>
}

// One value repeated is folded whatever its size, and stays one value.
// SMALL-LABEL: func @splats
// SMALL-NEXT: %[[SPLAT:.*]] = stablehlo.constant dense<3.000000e+00> : tensor<1000x1000xf32>
// SMALL-NEXT: return %[[SPLAT]]
func.func @splats() -> tensor<1000x1000xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %ones = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<1000x1000xf32>
  %two = stablehlo.constant dense<2.0> : tensor<1000x1000xf32>
  %0 = stablehlo.add %ones, %two : tensor<1000x1000xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  return %1 : tensor<1000x1000xf32>
}

// RUN: torchere-opt %s -split-input-file --stablehlo-refine-shapes | FileCheck %s
// Integer arithmetic on constants and dimension sizes is computed.

// CHECK-LABEL: func @main
func.func @main(%arg0: tensor<6x4xf32>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) {
  // CHECK-DAG: %[[SUM:.*]] = stablehlo.constant dense<10> : tensor<i32>
  // CHECK-DAG: %[[DIFFERENCE:.*]] = stablehlo.constant dense<-2> : tensor<i32>
  // CHECK-DAG: %[[PRODUCT:.*]] = stablehlo.constant dense<24> : tensor<i32>
  // CHECK-DAG: %[[QUOTIENT:.*]] = stablehlo.constant dense<0> : tensor<i32>
  // CHECK-DAG: %[[REMAINDER:.*]] = stablehlo.constant dense<4> : tensor<i32>
  // CHECK-DAG: %[[MAXIMUM:.*]] = stablehlo.constant dense<6> : tensor<i32>
  // CHECK-DAG: %[[MINIMUM:.*]] = stablehlo.constant dense<4> : tensor<i32>
  // CHECK-DAG: %[[NEGATIVE:.*]] = stablehlo.constant dense<-6> : tensor<i32>
  // CHECK: return %[[SUM]], %[[DIFFERENCE]], %[[PRODUCT]], %[[QUOTIENT]], %[[REMAINDER]], %[[MAXIMUM]], %[[MINIMUM]], %[[NEGATIVE]]
  %a = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<6x4xf32>) -> tensor<i32>
  %b = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<6x4xf32>) -> tensor<i32>
  %0 = stablehlo.add %a, %b : tensor<i32>
  %1 = stablehlo.subtract %b, %a : tensor<i32>
  %2 = stablehlo.multiply %a, %b : tensor<i32>
  %3 = stablehlo.divide %b, %a : tensor<i32>
  %4 = stablehlo.remainder %b, %a : tensor<i32>
  %5 = stablehlo.maximum %a, %b : tensor<i32>
  %6 = stablehlo.minimum %a, %b : tensor<i32>
  %7 = stablehlo.negate %a : tensor<i32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
}

// -----

// CHECK-LABEL: func @main
func.func @main() -> (tensor<3xi1>, tensor<3xi64>, tensor<3xi64>, tensor<3xui8>, tensor<3xi1>, tensor<3xi64>) {
  // CHECK-DAG: %[[LESS:.*]] = stablehlo.constant dense<[true, false, false]> : tensor<3xi1>
  // CHECK-DAG: %[[SELECTED:.*]] = stablehlo.constant dense<[-1, 0, 0]> : tensor<3xi64>
  // CHECK-DAG: %[[CLAMPED:.*]] = stablehlo.constant dense<[0, 0, 5]> : tensor<3xi64>
  // CHECK-DAG: %[[CONVERTED:.*]] = stablehlo.constant dense<[255, 0, 7]> : tensor<3xui8>
  // CHECK-DAG: %[[TRUTH:.*]] = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
  // CHECK-DAG: %[[WIDE:.*]] = stablehlo.constant dense<[1, 0, 1]> : tensor<3xi64>
  // CHECK: return %[[LESS]], %[[SELECTED]], %[[CLAMPED]], %[[CONVERTED]], %[[TRUTH]], %[[WIDE]]
  %a = stablehlo.constant dense<[-1, 0, 7]> : tensor<3xi64>
  %zero = stablehlo.constant dense<0> : tensor<3xi64>
  %low = stablehlo.constant dense<0> : tensor<i64>
  %high = stablehlo.constant dense<5> : tensor<i64>
  %0 = stablehlo.compare LT, %a, %zero, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  %1 = stablehlo.select %0, %a, %zero : tensor<3xi1>, tensor<3xi64>
  %2 = stablehlo.clamp %low, %a, %high : (tensor<i64>, tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  %3 = stablehlo.convert %a : (tensor<3xi64>) -> tensor<3xui8>
  %4 = stablehlo.convert %a : (tensor<3xi64>) -> tensor<3xi1>
  %5 = stablehlo.convert %4 : (tensor<3xi1>) -> tensor<3xi64>
  return %0, %1, %2, %3, %4, %5 : tensor<3xi1>, tensor<3xi64>, tensor<3xi64>, tensor<3xui8>, tensor<3xi1>, tensor<3xi64>
}

// -----

// CHECK-LABEL: func @main
func.func @main() -> (tensor<6xi32>, tensor<2x3xi32>, tensor<3x2xi32>, tensor<2xi32>, tensor<3xi32>, tensor<2xi32>) {
  // CHECK-DAG: %[[JOINED:.*]] = stablehlo.constant dense<[1, 2, 3, 1, 2, 3]> : tensor<6xi32>
  // CHECK-DAG: %[[BROADCAST:.*]] = stablehlo.constant dense<{{\[\[}}1, 2, 3], [1, 2, 3]]> : tensor<2x3xi32>
  // CHECK-DAG: %[[TRANSPOSED:.*]] = stablehlo.constant dense<{{\[\[}}1, 1], [2, 2], [3, 3]]> : tensor<3x2xi32>
  // CHECK-DAG: %[[SLICE:.*]] = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
  // CHECK-DAG: %[[REVERSED:.*]] = stablehlo.constant dense<[3, 2, 1]> : tensor<3xi32>
  // CHECK-DAG: %[[IOTA:.*]] = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
  // CHECK: return %[[JOINED]], %[[BROADCAST]], %[[TRANSPOSED]], %[[SLICE]], %[[REVERSED]], %[[IOTA]]
  %a = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %0 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<3xi32>, tensor<3xi32>) -> tensor<6xi32>
  %1 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<3xi32>) -> tensor<2x3xi32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
  %3 = stablehlo.slice %a [0:3:2] : (tensor<3xi32>) -> tensor<2xi32>
  %4 = stablehlo.reverse %a, dims = [0] : tensor<3xi32>
  %5 = stablehlo.iota dim = 0 : tensor<2xi32>
  return %0, %1, %2, %3, %4, %5 : tensor<6xi32>, tensor<2x3xi32>, tensor<3x2xi32>, tensor<2xi32>, tensor<3xi32>, tensor<2xi32>
}

// -----

// Division by zero is left to the run time.
// CHECK-LABEL: func @main
// CHECK: stablehlo.divide
// CHECK: stablehlo.remainder
func.func @main() -> (tensor<i32>, tensor<ui32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %uzero = stablehlo.constant dense<0> : tensor<ui32>
  %0 = stablehlo.divide %one, %zero : tensor<i32>
  %1 = stablehlo.remainder %uzero, %uzero : tensor<ui32>
  return %0, %1 : tensor<i32>, tensor<ui32>
}

// RUN: torchere-opt %s --stablehlo-aggressive-simplification | FileCheck %s
// Identities of elementwise ops: those that hold to the last bit, and beside them those that do not.

// CHECK-LABEL: func @add
// CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK: %[[SUM:.*]] = stablehlo.add %arg0, %[[ZERO]]
// CHECK-NEXT: return %arg0, %arg0, %[[SUM]], %arg1, %arg2
func.func @add(%x: tensor<2xf32>, %i: tensor<2xi32>, %p: tensor<2xi1>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xi1>) {
  %minus = stablehlo.constant dense<-0.0> : tensor<2xf32>
  %plus = stablehlo.constant dense<0.0> : tensor<2xf32>
  %none = stablehlo.constant dense<0> : tensor<2xi32>
  %false = stablehlo.constant dense<false> : tensor<2xi1>
  %0 = stablehlo.add %x, %minus : tensor<2xf32>
  %1 = stablehlo.add %minus, %x : tensor<2xf32>
  %2 = stablehlo.add %x, %plus : tensor<2xf32> // -0 + 0 is 0
  %3 = stablehlo.add %i, %none : tensor<2xi32>
  %4 = stablehlo.add %p, %false : tensor<2xi1>
  return %0, %1, %2, %3, %4 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xi1>
}

// CHECK-LABEL: func @subtract
// CHECK-DAG: %[[NONE:.*]] = stablehlo.constant dense<0> : tensor<2xi32>
// CHECK-DAG: %[[MINUS:.*]] = stablehlo.constant dense<-0.000000e+00> : tensor<2xf32>
// CHECK-DAG: %[[KEPT:.*]] = stablehlo.subtract %arg0, %[[MINUS]]
// CHECK-DAG: %[[NAN:.*]] = stablehlo.subtract %arg0, %arg0
// CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<2xi32>
// CHECK-DAG: %[[LEFT:.*]] = stablehlo.subtract {{.*}}, %arg1 : tensor<2xi32>
// CHECK: return %arg0, %[[KEPT]], %[[NAN]], {{.*}}, %[[LEFT]]
func.func @subtract(%x: tensor<2xf32>, %i: tensor<2xi32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xi32>) {
  %minus = stablehlo.constant dense<-0.0> : tensor<2xf32>
  %plus = stablehlo.constant dense<0.0> : tensor<2xf32>
  %none = stablehlo.constant dense<0> : tensor<2xi32>
  %0 = stablehlo.subtract %x, %plus : tensor<2xf32>
  %1 = stablehlo.subtract %x, %minus : tensor<2xf32> // -0 - -0 is 0
  %2 = stablehlo.subtract %x, %x : tensor<2xf32> // NaN - NaN is NaN
  %3 = stablehlo.subtract %i, %i : tensor<2xi32>
  %4 = stablehlo.subtract %none, %i : tensor<2xi32>
  return %0, %1, %2, %3, %4 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xi32>
}

// The constant is seen behind a broadcast, of computed shape too.
// CHECK-LABEL: func @multiply
// CHECK-DAG: %[[FLOAT_ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK-DAG: %[[INT_ZERO:.*]] = stablehlo.constant dense<0> : tensor<2xi32>
// CHECK-DAG: %[[KEPT:.*]] = stablehlo.multiply %arg0, %[[FLOAT_ZERO]]
// CHECK-DAG: %[[COMPLEX:.*]] = stablehlo.multiply %arg3
// CHECK: return %arg0, %[[KEPT]], %[[INT_ZERO]], %arg2, %[[COMPLEX]]
func.func @multiply(%x: tensor<2xf32>, %i: tensor<2xi32>, %d: tensor<?xf32>, %c: tensor<2xcomplex<f32>>, %n: tensor<1xi32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<?xf32>, tensor<2xcomplex<f32>>) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %ones = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %many = stablehlo.dynamic_broadcast_in_dim %one, %n, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<2xf32>
  %none = stablehlo.constant dense<0> : tensor<2xi32>
  %unit = stablehlo.constant dense<(1.0, 0.0)> : tensor<2xcomplex<f32>>
  %0 = stablehlo.multiply %ones, %x : tensor<2xf32>
  %1 = stablehlo.multiply %x, %zeros : tensor<2xf32> // NaN * 0 is NaN
  %2 = stablehlo.multiply %none, %i : tensor<2xi32>
  %3 = stablehlo.multiply %d, %many : tensor<?xf32>
  %4 = stablehlo.multiply %c, %unit : tensor<2xcomplex<f32>> // infinity * 0 is NaN
  return %0, %1, %2, %3, %4 : tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<?xf32>, tensor<2xcomplex<f32>>
}

// CHECK-LABEL: func @divide_and_power
// CHECK: %[[QUOTIENT:.*]] = stablehlo.divide %arg0, %arg0
// CHECK: return %arg0, %[[QUOTIENT]], %arg0
func.func @divide_and_power(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<2xf32>
  %0 = stablehlo.divide %x, %one : tensor<2xf32>
  %1 = stablehlo.divide %x, %x : tensor<2xf32>
  %2 = stablehlo.power %x, %one : tensor<2xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func @extremes
// CHECK-DAG: %[[HIGHEST:.*]] = stablehlo.constant dense<127> : tensor<2xi8>
// CHECK-DAG: %[[INFINITY:.*]] = stablehlo.constant dense<0x7F800000> : tensor<2xf32>
// CHECK-DAG: %[[KEPT:.*]] = stablehlo.maximum %arg0, %[[INFINITY]]
// CHECK: return %arg0, %[[KEPT]], %arg0, %arg1, %[[HIGHEST]], %arg1
func.func @extremes(%x: tensor<2xf32>, %i: tensor<2xi8>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi8>, tensor<2xi8>, tensor<2xi8>) {
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<2xf32>
  %infinity = stablehlo.constant dense<0x7F800000> : tensor<2xf32>
  %least = stablehlo.constant dense<-128> : tensor<2xi8>
  %highest = stablehlo.constant dense<127> : tensor<2xi8>
  %0 = stablehlo.maximum %x, %lowest : tensor<2xf32>
  %1 = stablehlo.maximum %x, %infinity : tensor<2xf32> // NaN stays NaN
  %2 = stablehlo.minimum %x, %x : tensor<2xf32>
  %3 = stablehlo.maximum %least, %i : tensor<2xi8>
  %4 = stablehlo.maximum %i, %highest : tensor<2xi8>
  %5 = stablehlo.minimum %highest, %i : tensor<2xi8>
  return %0, %1, %2, %3, %4, %5 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi8>, tensor<2xi8>, tensor<2xi8>
}

// CHECK-LABEL: func @bits
// CHECK-DAG: %[[NONE:.*]] = stablehlo.constant dense<0> : tensor<2xi32>
// CHECK-DAG: %[[ALL:.*]] = stablehlo.constant dense<-1> : tensor<2xi32>
// CHECK: return %arg0, %[[NONE]], %arg0, %[[ALL]], %arg0, {{.*}}, %arg0
func.func @bits(%i: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) {
  %none = stablehlo.constant dense<0> : tensor<2xi32>
  %all = stablehlo.constant dense<-1> : tensor<2xi32>
  %0 = stablehlo.and %i, %all : tensor<2xi32>
  %1 = stablehlo.and %none, %i : tensor<2xi32>
  %2 = stablehlo.or %i, %i : tensor<2xi32>
  %3 = stablehlo.or %i, %all : tensor<2xi32>
  %4 = stablehlo.xor %none, %i : tensor<2xi32>
  %5 = stablehlo.xor %i, %i : tensor<2xi32>
  %6 = stablehlo.shift_left %i, %none : tensor<2xi32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>
}

// CHECK-LABEL: func @twice
// CHECK-NEXT: %[[ABS:.*]] = stablehlo.abs %arg0
// CHECK-NEXT: return %arg0, %arg1, %[[ABS]]
func.func @twice(%x: tensor<2xf32>, %p: tensor<2xi1>) -> (tensor<2xf32>, tensor<2xi1>, tensor<2xf32>) {
  %0 = stablehlo.negate %x : tensor<2xf32>
  %1 = stablehlo.negate %0 : tensor<2xf32>
  %2 = stablehlo.not %p : tensor<2xi1>
  %3 = stablehlo.not %2 : tensor<2xi1>
  %4 = stablehlo.abs %x : tensor<2xf32>
  %5 = stablehlo.abs %4 : tensor<2xf32>
  return %1, %3, %5 : tensor<2xf32>, tensor<2xi1>, tensor<2xf32>
}

// CHECK-LABEL: func @compare
// CHECK-DAG: %[[TRUE:.*]] = stablehlo.constant dense<true> : tensor<2xi1>
// CHECK-DAG: %[[NAN:.*]] = stablehlo.compare EQ, %arg0, %arg0
// CHECK: return %{{.*}}, %{{.*}}, %[[NAN]], %arg2, %arg2
func.func @compare(%x: tensor<2xf32>, %i: tensor<2xi32>, %p: tensor<2xi1>) -> (tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>) {
  %true = stablehlo.constant dense<true> : tensor<2xi1>
  %false = stablehlo.constant dense<false> : tensor<2xi1>
  %0 = stablehlo.compare GE, %i, %i : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
  %1 = stablehlo.compare LT, %i, %i : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
  %2 = stablehlo.compare EQ, %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %3 = stablehlo.compare EQ, %p, %true : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  %4 = stablehlo.compare NE, %p, %false : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return %0, %1, %2, %3, %4 : tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>
}

// CHECK-LABEL: func @select
// CHECK: %[[SWAPPED:.*]] = stablehlo.select %arg0, %arg2, %arg1
// CHECK-NEXT: return %arg1, %arg2, %arg0, %[[SWAPPED]], %arg1
func.func @select(%p: tensor<2xi1>, %x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %truths = stablehlo.constant dense<true> : tensor<2xi1>
  %false = stablehlo.constant dense<false> : tensor<2xi1>
  %0 = stablehlo.select %true, %x, %y : tensor<i1>, tensor<2xf32>
  %1 = stablehlo.select %false, %x, %y : tensor<2xi1>, tensor<2xf32>
  %2 = stablehlo.select %p, %truths, %false : tensor<2xi1>, tensor<2xi1>
  %not = stablehlo.not %p : tensor<2xi1>
  %3 = stablehlo.select %not, %x, %y : tensor<2xi1>, tensor<2xf32>
  %4 = stablehlo.select %p, %x, %x : tensor<2xi1>, tensor<2xf32>
  return %0, %1, %2, %3, %4 : tensor<2xf32>, tensor<2xf32>, tensor<2xi1>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func @convert
// CHECK-DAG: %[[NARROW:.*]] = stablehlo.convert %arg1 : (tensor<2xf32>) -> tensor<2xbf16>
// CHECK-DAG: %[[ROUNDED:.*]] = stablehlo.convert %[[NARROW]] : (tensor<2xbf16>) -> tensor<2xf32>
// CHECK-DAG: %[[WIDE:.*]] = stablehlo.convert %arg2 : (tensor<2xui8>) -> tensor<2xf64>
// CHECK: return %arg0, %[[ROUNDED]], %[[WIDE]]
func.func @convert(%h: tensor<2xbf16>, %x: tensor<2xf32>, %u: tensor<2xui8>) -> (tensor<2xbf16>, tensor<2xf32>, tensor<2xf64>, tensor<2xf32>) {
  %0 = stablehlo.convert %h : (tensor<2xbf16>) -> tensor<2xf32>
  %1 = stablehlo.convert %0 : (tensor<2xf32>) -> tensor<2xbf16>
  %2 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xbf16>
  %3 = stablehlo.convert %2 : (tensor<2xbf16>) -> tensor<2xf32> // rounded between
  %4 = stablehlo.convert %u : (tensor<2xui8>) -> tensor<2xi16>
  %5 = stablehlo.convert %4 : (tensor<2xi16>) -> tensor<2xf64>
  %6 = stablehlo.convert %u : (tensor<2xui8>) -> tensor<2xi8>
  %7 = stablehlo.convert %6 : (tensor<2xi8>) -> tensor<2xf32> // 255 is -1 between
  return %1, %3, %5, %7 : tensor<2xbf16>, tensor<2xf32>, tensor<2xf64>, tensor<2xf32>
}

// Attributes of others, and types that hold more than a shape, are kept.
// CHECK-LABEL: func @kept
// CHECK: stablehlo.add {{.*}} {mhlo.sharding = "{replicated}"}
func.func @kept(%x: tensor<2xi32>) -> tensor<2xi32> {
  %none = stablehlo.constant dense<0> : tensor<2xi32>
  %0 = stablehlo.add %x, %none {mhlo.sharding = "{replicated}"} : tensor<2xi32>
  return %0 : tensor<2xi32>
}

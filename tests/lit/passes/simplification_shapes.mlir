// RUN: torchere-opt %s --stablehlo-aggressive-simplification | FileCheck %s
// RUN: torchere-opt %s --stablehlo-aggressive-simplification --mlir-print-debuginfo | FileCheck %s --check-prefix=LOCATION

// CHECK-LABEL: func @reshapes
// CHECK-NEXT: %[[RESHAPED:.*]] = stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<6xf32>
// CHECK-NEXT: %[[REPEATED:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<6xf32>
// CHECK-NEXT: return %[[RESHAPED]], %arg0, %[[REPEATED]]
func.func @reshapes(%x: tensor<2x3xf32>, %s: tensor<f32>) -> (tensor<6xf32>, tensor<2x3xf32>, tensor<6xf32>) {
  %0 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.reshape %0 : (tensor<3x2xf32>) -> tensor<6xf32>
  %2 = stablehlo.reshape %0 : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %3 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %4 = stablehlo.reshape %3 : (tensor<2x3xf32>) -> tensor<6xf32>
  return %1, %2, %4 : tensor<6xf32>, tensor<2x3xf32>, tensor<6xf32>
}

// CHECK-LABEL: func @transposes
// CHECK-NEXT: %[[JOINED:.*]] = stablehlo.transpose %arg0, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
// CHECK-NEXT: %[[RESHAPED:.*]] = stablehlo.reshape %arg1 : (tensor<2x1x4xf32>) -> tensor<1x2x4xf32>
// CHECK-NEXT: return %[[JOINED]], %arg0, %[[RESHAPED]]
func.func @transposes(%x: tensor<2x3x4xf32>, %y: tensor<2x1x4xf32>) -> (tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<1x2x4xf32>) {
  %0 = stablehlo.transpose %x, dims = [0, 2, 1] : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0, 2] : (tensor<2x4x3xf32>) -> tensor<4x2x3xf32>
  %2 = stablehlo.transpose %0, dims = [0, 2, 1] : (tensor<2x4x3xf32>) -> tensor<2x3x4xf32>
  %3 = stablehlo.transpose %y, dims = [1, 0, 2] : (tensor<2x1x4xf32>) -> tensor<1x2x4xf32>
  return %1, %2, %3 : tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<1x2x4xf32>
}

// CHECK-LABEL: func @broadcasts
// CHECK-NEXT: %[[TRANSPOSED:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: %[[JOINED:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [2] : (tensor<3xf32>) -> tensor<4x2x3xf32>
// CHECK-NEXT: %[[INSERTED:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [2] : (tensor<3xf32>) -> tensor<4x2x3xf32>
// CHECK-NEXT: %[[RESHAPED:.*]] = stablehlo.reshape %arg0 : (tensor<3xf32>) -> tensor<1x3xf32>
// CHECK-NEXT: %[[TURNED:.*]] = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT: return %[[TRANSPOSED]], %[[JOINED]], %[[INSERTED]], %[[RESHAPED]], %[[TURNED]]
func.func @broadcasts(%x: tensor<3xf32>, %y: tensor<2x2xf32>) -> (tensor<3x2xf32>, tensor<4x2x3xf32>, tensor<4x2x3xf32>, tensor<1x3xf32>, tensor<2x2xf32>) {
  %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = stablehlo.broadcast_in_dim %0, dims = [1, 2] : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  %3 = stablehlo.reshape %x : (tensor<3xf32>) -> tensor<1x1x3xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<1x1x3xf32>) -> tensor<4x2x3xf32>
  %5 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
  %6 = stablehlo.broadcast_in_dim %y, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1, %2, %4, %5, %6 : tensor<3x2xf32>, tensor<4x2x3xf32>, tensor<4x2x3xf32>, tensor<1x3xf32>, tensor<2x2xf32>
}

// A reshape that regroups dimensions is more than a broadcast can do.
// CHECK-LABEL: func @regrouped
// CHECK: stablehlo.reshape %arg0 : (tensor<6xf32>) -> tensor<2x3xf32>
// CHECK: stablehlo.broadcast_in_dim
func.func @regrouped(%x: tensor<6xf32>) -> tensor<4x2x3xf32> {
  %0 = stablehlo.reshape %x : (tensor<6xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1, 2] : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  return %1 : tensor<4x2x3xf32>
}

// Types do not change, so an op that knows less than its operand stays.
// CHECK-LABEL: func @less_known
// CHECK: stablehlo.convert %arg0 : (tensor<3xf32>) -> tensor<?xf32>
func.func @less_known(%x: tensor<3xf32>) -> tensor<?xf32> {
  %0 = stablehlo.convert %x : (tensor<3xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func @slices
// CHECK-NEXT: %[[JOINED:.*]] = stablehlo.slice %arg0 [3:8:4] : (tensor<10xf32>) -> tensor<2xf32>
// CHECK-NEXT: %[[BOTH:.*]] = stablehlo.concatenate %arg0, %arg1
// CHECK-NEXT: %[[TAKEN:.*]] = stablehlo.slice %arg1 [1:3] : (tensor<4xf32>) -> tensor<2xf32>
// CHECK-NEXT: %[[ACROSS:.*]] = stablehlo.slice %[[BOTH]] [9:12] : (tensor<14xf32>) -> tensor<3xf32>
// CHECK-NEXT: return %[[JOINED]], %[[TAKEN]], %[[ACROSS]], %arg0
func.func @slices(%x: tensor<10xf32>, %y: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<3xf32>, tensor<10xf32>) {
  %0 = stablehlo.slice %x [1:10:2] : (tensor<10xf32>) -> tensor<5xf32>
  %1 = stablehlo.slice %0 [1:4:2] : (tensor<5xf32>) -> tensor<2xf32>
  %2 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<10xf32>, tensor<4xf32>) -> tensor<14xf32>
  %3 = stablehlo.slice %2 [11:13] : (tensor<14xf32>) -> tensor<2xf32>
  %4 = stablehlo.slice %2 [9:12] : (tensor<14xf32>) -> tensor<3xf32>
  %5 = stablehlo.slice %x [0:10] : (tensor<10xf32>) -> tensor<10xf32>
  return %1, %3, %4, %5 : tensor<2xf32>, tensor<2xf32>, tensor<3xf32>, tensor<10xf32>
}

// What in-place ops on parts of a tensor write is read where it was computed.
// CHECK-LABEL: func @updated_slices
// CHECK-NEXT: %[[FIRST:.*]] = stablehlo.slice %arg0 [0:2, 0:2] : (tensor<2x6xf32>) -> tensor<2x2xf32>
// CHECK-NEXT: %[[LOW:.*]] = stablehlo.tanh %[[FIRST]]
// CHECK-NEXT: %[[SECOND:.*]] = stablehlo.slice %arg0 [0:2, 2:4] : (tensor<2x6xf32>) -> tensor<2x2xf32>
// CHECK-NEXT: %[[HIGH:.*]] = stablehlo.logistic %[[SECOND]]
// CHECK-NEXT: %[[ROW:.*]] = stablehlo.slice %[[HIGH]] [1:2, 0:2] : (tensor<2x2xf32>) -> tensor<1x2xf32>
// CHECK-NEXT: %[[REST:.*]] = stablehlo.slice %arg0 [0:2, 5:6] : (tensor<2x6xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: return %[[LOW]], %[[ROW]], %[[REST]]
func.func @updated_slices(%x: tensor<2x6xf32>) -> (tensor<2x2xf32>, tensor<1x2xf32>, tensor<2x1xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %two = stablehlo.constant dense<2> : tensor<i64>
  %0 = stablehlo.slice %x [0:2, 0:2] : (tensor<2x6xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.tanh %0 : tensor<2x2xf32>
  %2 = stablehlo.dynamic_update_slice %x, %1, %zero, %zero : (tensor<2x6xf32>, tensor<2x2xf32>, tensor<i64>, tensor<i64>) -> tensor<2x6xf32>
  %3 = stablehlo.slice %2 [0:2, 2:4] : (tensor<2x6xf32>) -> tensor<2x2xf32>
  %4 = stablehlo.logistic %3 : tensor<2x2xf32>
  %5 = stablehlo.dynamic_update_slice %2, %4, %zero, %two : (tensor<2x6xf32>, tensor<2x2xf32>, tensor<i64>, tensor<i64>) -> tensor<2x6xf32>
  %6 = stablehlo.slice %5 [0:2, 0:2] : (tensor<2x6xf32>) -> tensor<2x2xf32>
  %7 = stablehlo.slice %5 [1:2, 2:4] : (tensor<2x6xf32>) -> tensor<1x2xf32>
  %8 = stablehlo.slice %5 [0:2, 5:6] : (tensor<2x6xf32>) -> tensor<2x1xf32>
  return %6, %7, %8 : tensor<2x2xf32>, tensor<1x2xf32>, tensor<2x1xf32>
}

// A tensor that is needed as a whole is written in place, and a slice of both parts needs it.
// CHECK-LABEL: func @needed_updates
// CHECK: %[[WHOLE:.*]] = stablehlo.dynamic_update_slice %arg0
// CHECK: stablehlo.slice %[[WHOLE]] [4:6]
// CHECK: %[[OTHER:.*]] = stablehlo.dynamic_update_slice %arg1
// CHECK: stablehlo.slice %[[OTHER]] [1:3]
// CHECK: %[[UNKNOWN:.*]] = stablehlo.dynamic_update_slice %arg1
// CHECK: stablehlo.slice %[[UNKNOWN]] [4:6]
func.func @needed_updates(%x: tensor<6xf32>, %y: tensor<6xf32>, %u: tensor<2xf32>, %i: tensor<i64>) -> (tensor<6xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %0 = stablehlo.dynamic_update_slice %x, %u, %zero : (tensor<6xf32>, tensor<2xf32>, tensor<i64>) -> tensor<6xf32>
  %1 = stablehlo.slice %0 [4:6] : (tensor<6xf32>) -> tensor<2xf32>
  %2 = stablehlo.dynamic_update_slice %y, %u, %zero : (tensor<6xf32>, tensor<2xf32>, tensor<i64>) -> tensor<6xf32>
  %3 = stablehlo.slice %2 [1:3] : (tensor<6xf32>) -> tensor<2xf32>
  %4 = stablehlo.dynamic_update_slice %y, %u, %i : (tensor<6xf32>, tensor<2xf32>, tensor<i64>) -> tensor<6xf32>
  %5 = stablehlo.slice %4 [4:6] : (tensor<6xf32>) -> tensor<2xf32>
  return %0, %1, %3, %5 : tensor<6xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func @dynamic_slices
// CHECK-NEXT: %[[CLAMPED:.*]] = stablehlo.slice %arg0 [6:10] : (tensor<10xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[UPDATED:.*]] = stablehlo.dynamic_update_slice %arg0, %[[CLAMPED]], %arg1
// CHECK-NEXT: return %[[CLAMPED]], %arg0, %arg2, %[[UPDATED]]
func.func @dynamic_slices(%x: tensor<10xf32>, %i: tensor<i32>, %y: tensor<10xf32>) -> (tensor<4xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>) {
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %0 = stablehlo.dynamic_slice %x, %seven, sizes = [4] : (tensor<10xf32>, tensor<i32>) -> tensor<4xf32>
  %1 = stablehlo.dynamic_slice %x, %i, sizes = [10] : (tensor<10xf32>, tensor<i32>) -> tensor<10xf32>
  %2 = stablehlo.dynamic_update_slice %x, %y, %i : (tensor<10xf32>, tensor<10xf32>, tensor<i32>) -> tensor<10xf32>
  %3 = stablehlo.dynamic_update_slice %x, %0, %i : (tensor<10xf32>, tensor<4xf32>, tensor<i32>) -> tensor<10xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>
}

// CHECK-LABEL: func @concatenates
// CHECK-NEXT: %[[FLAT:.*]] = stablehlo.concatenate %arg0, %arg1, %arg0, dim = 0
// CHECK-NEXT: %[[NONEMPTY:.*]] = stablehlo.concatenate %arg1, %arg0, dim = 0
// CHECK-NEXT: %[[SLICE:.*]] = stablehlo.slice %arg0 [1:4, 0:2] : (tensor<4x2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: return %arg0, %[[FLAT]], %[[NONEMPTY]], %arg0, %[[SLICE]]
func.func @concatenates(%x: tensor<4x2xf32>, %y: tensor<3x2xf32>, %e: tensor<0x2xf32>) -> (tensor<4x2xf32>, tensor<11x2xf32>, tensor<7x2xf32>, tensor<4x2xf32>, tensor<3x2xf32>) {
  %0 = stablehlo.concatenate %x, dim = 0 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<4x2xf32>, tensor<3x2xf32>) -> tensor<7x2xf32>
  %2 = stablehlo.concatenate %1, %x, dim = 0 : (tensor<7x2xf32>, tensor<4x2xf32>) -> tensor<11x2xf32>
  %3 = stablehlo.concatenate %y, %e, %x, dim = 0 : (tensor<3x2xf32>, tensor<0x2xf32>, tensor<4x2xf32>) -> tensor<7x2xf32>
  %4 = stablehlo.slice %x [0:1, 0:2] : (tensor<4x2xf32>) -> tensor<1x2xf32>
  %5 = stablehlo.slice %x [1:3, 0:2] : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %6 = stablehlo.slice %x [3:4, 0:2] : (tensor<4x2xf32>) -> tensor<1x2xf32>
  %7 = stablehlo.concatenate %4, %5, %6, dim = 0 : (tensor<1x2xf32>, tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<4x2xf32>
  %8 = stablehlo.concatenate %5, %6, dim = 0 : (tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
  return %0, %2, %3, %7, %8 : tensor<4x2xf32>, tensor<11x2xf32>, tensor<7x2xf32>, tensor<4x2xf32>, tensor<3x2xf32>
}

// Slices that overlap, or lie apart, or differ in another dimension, stay.
// CHECK-LABEL: func @not_adjacent
// CHECK-COUNT-3: stablehlo.concatenate
func.func @not_adjacent(%x: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<2x2xf32>, tensor<2x1xf32>) {
  %a = stablehlo.slice %x [0:2, 0:2] : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %b = stablehlo.slice %x [1:3, 0:2] : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %c = stablehlo.slice %x [0:1, 0:2] : (tensor<4x2xf32>) -> tensor<1x2xf32>
  %d = stablehlo.slice %x [3:4, 0:2] : (tensor<4x2xf32>) -> tensor<1x2xf32>
  %e = stablehlo.slice %x [0:1, 0:1] : (tensor<4x2xf32>) -> tensor<1x1xf32>
  %f = stablehlo.slice %x [1:2, 1:2] : (tensor<4x2xf32>) -> tensor<1x1xf32>
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %1 = stablehlo.concatenate %c, %d, dim = 0 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<2x2xf32>
  %2 = stablehlo.concatenate %e, %f, dim = 0 : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  return %0, %1, %2 : tensor<4x2xf32>, tensor<2x2xf32>, tensor<2x1xf32>
}

// CHECK-LABEL: func @pad_and_reverse
// CHECK-NEXT: %[[REVERSED:.*]] = stablehlo.reverse %arg0, dims = [0] : tensor<4x1xf32>
// CHECK-NEXT: return %arg0, %arg0, %[[REVERSED]], %arg0
func.func @pad_and_reverse(%x: tensor<4x1xf32>, %p: tensor<f32>) -> (tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>) {
  %0 = stablehlo.pad %x, %p, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %1 = stablehlo.reverse %x, dims = [0] : tensor<4x1xf32>
  %2 = stablehlo.reverse %1, dims = [0] : tensor<4x1xf32>
  %3 = stablehlo.reverse %x, dims = [0, 1] : tensor<4x1xf32>
  %4 = stablehlo.reverse %x, dims = [1] : tensor<4x1xf32>
  return %0, %2, %3, %4 : tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>
}

// What has no use goes, what has an effect stays, and ops keep their places in the source.
// CHECK-LABEL: func @unused
// CHECK-NEXT: stablehlo.custom_call @effect
// CHECK-NEXT: stablehlo.transpose
// CHECK-NEXT: return
// LOCATION-LABEL: func @unused
// LOCATION: stablehlo.transpose {{.*}} loc(#[[OUTER:.*]])
// LOCATION: #[[OUTER]] = loc("outer")
func.func @unused(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %0 = stablehlo.tanh %x : tensor<2x3x4xf32>
  %1 = stablehlo.add %0, %x : tensor<2x3x4xf32>
  stablehlo.custom_call @effect(%x) {has_side_effect = true} : (tensor<2x3x4xf32>) -> ()
  %2 = stablehlo.transpose %x, dims = [0, 2, 1] : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32> loc("inner")
  %3 = stablehlo.transpose %2, dims = [1, 0, 2] : (tensor<2x4x3xf32>) -> tensor<4x2x3xf32> loc("outer")
  return %3 : tensor<4x2x3xf32>
}

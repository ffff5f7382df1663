// RUN: torchere-translate --interpret --args='[dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>, dense<1.5> : tensor<f32>]' %s | FileCheck %s
// RUN: torchere-translate --interpret --entry=empty %s | FileCheck %s --check-prefix=EMPTY
// RUN: not torchere-translate --interpret --args='dense<1> : tensor<i32>' %s 2>&1 | FileCheck %s --check-prefix=ARGS
// RUN: not torchere-translate --interpret %s 2>&1 | FileCheck %s --check-prefix=COUNT

// ARGS: error: [args] not an array of constants: "dense<1> : tensor<i32>"
// COUNT: error: [main] wrong number of arguments: got 0, expected 2

//      CHECK: tensor<2x2xi32> {
// CHECK-NEXT:   [
// CHECK-NEXT:     [2, 4],
// CHECK-NEXT:     [6, 8]
// CHECK-NEXT:   ]
// CHECK-NEXT: }
//      CHECK: tensor<2x2xi32> {
//      CHECK: tensor<f32> {
// CHECK-NEXT:   1.5
// CHECK-NEXT: }
func.func @main(%0: tensor<2x2xi32>, %1: tensor<f32>) -> (tensor<2x2xi32>, tensor<f32>) {
  %2 = stablehlo.add %0, %0 : tensor<2x2xi32>
  // Prints before the results.
  %3 = interpreter.print %2 : tensor<2x2xi32>
  func.return %3, %1 : tensor<2x2xi32>, tensor<f32>
}

//      EMPTY: tensor<0x2xi8> {
// EMPTY-NEXT:   []
// EMPTY-NEXT: }
func.func @empty() -> tensor<0x2xi8> {
  %0 = stablehlo.constant dense<> : tensor<0x2xi8>
  func.return %0 : tensor<0x2xi8>
}

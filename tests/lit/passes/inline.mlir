// RUN: torchere-opt %s --inline --symbol-dce | FileCheck %s
// RUN: torchere-opt %s --strip-debuginfo --mlir-print-debuginfo | FileCheck %s --check-prefix=STRIPPED
// MLIR's own passes on our ops.

// CHECK-LABEL: func @main
// CHECK-NEXT: %[[TWICE:.*]] = stablehlo.add %arg0, %arg0
// CHECK-NEXT: %[[LOOP:.*]] = stablehlo.while
// CHECK: stablehlo.multiply
// CHECK: return %[[LOOP]]
// CHECK-NOT: func
// STRIPPED: #[[UNKNOWN:.*]] = loc(unknown)
// STRIPPED-NOT: loc("
// STRIPPED: stablehlo.add {{.*}} loc(#[[UNKNOWN]])
// STRIPPED-NOT: loc("
func.func @main(%x: tensor<2xf32>, %p: tensor<i1>) -> tensor<2xf32> {
  %0 = call @twice(%x) : (tensor<2xf32>) -> tensor<2xf32> loc("call")
  %1 = stablehlo.while(%i = %0) : tensor<2xf32> cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %2 = func.call @square(%i) : (tensor<2xf32>) -> tensor<2xf32>
    stablehlo.return %2 : tensor<2xf32>
  }
  return %1 : tensor<2xf32>
}

func.func private @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32> loc("add")
  return %0 : tensor<2xf32>
}

func.func private @square(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}

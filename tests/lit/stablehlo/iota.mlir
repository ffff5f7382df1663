// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types() {
  // CHECK: stablehlo.iota dim = 0 : tensor<4xi32>
  %0 = stablehlo.iota dim = 0 : tensor<4xi32>
  // CHECK: stablehlo.iota dim = 1 : tensor<2x0xf32>
  %1 = stablehlo.iota dim = 1 : tensor<2x0xf32>
  return
}

// -----

func.func @c1() {
  // expected-error@+1 {{'stablehlo.iota' op (C1) iota_dimension out of range: got 1, expected it in [0, 1)}}
  %0 = stablehlo.iota dim = 1 : tensor<4xi32>
  return
}

// -----

func.func @dynamic() {
  // expected-error@+1 {{'stablehlo.iota' op result #0 must be statically shaped tensor of integer or floating-point or complex or per-tensor quantized values, but got 'tensor<?xi32>'}}
  %0 = stablehlo.iota dim = 0 : tensor<?xi32>
  return
}

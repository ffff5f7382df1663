// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2xf32>, %arg1: !stablehlo.token) {
  // CHECK: stablehlo.optimization_barrier %arg0, %arg1 : tensor<2xf32>, !stablehlo.token
  %0:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<2xf32>, !stablehlo.token
  // CHECK: stablehlo.optimization_barrier {note = 1 : i64} %arg0 : tensor<2xf32>
  %1 = stablehlo.optimization_barrier {note = 1 : i64} %arg0 : tensor<2xf32>
  // CHECK: stablehlo.optimization_barrier()
  "stablehlo.optimization_barrier"() : () -> ()
  // CHECK: stablehlo.optimization_barrier {note = 1 : i64}()
  stablehlo.optimization_barrier {note = 1 : i64} ()
  return
}

// -----

func.func @operand(%arg0: tensor<2xindex>) {
  // expected-error@+1 {{'stablehlo.optimization_barrier' op operand #0 must be variadic of ranked tensor of boolean or integer or floating-point or complex or per-tensor quantized values or token, but got 'tensor<2xindex>'}}
  %0 = stablehlo.optimization_barrier %arg0 : tensor<2xindex>
  return
}

// -----

func.func @c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.optimization_barrier' op (C1) types of operands and results differ: got ('tensor<2xf32>') and ('tensor<?xf32>')}}
  %0 = "stablehlo.optimization_barrier"(%arg0) : (tensor<2xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @c1_count(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.optimization_barrier' op (C1) types of operands and results differ: got ('tensor<2xf32>') and ()}}
  "stablehlo.optimization_barrier"(%arg0) : (tensor<2xf32>) -> ()
  return
}

// RUN: torchere-opt --mlir-print-debuginfo --stablehlo-compatibility-expander=target=1.8.0 %s | FileCheck %s
// RUN: torchere-opt --mlir-print-debuginfo --stablehlo-compatibility-expander=target=1.9.0 %s | FileCheck %s --check-prefix=NEW
// Readers before 1.9.0 know points in a file, not ranges.

// CHECK: loc("model.py":3:5)
// NEW: loc("model.py":3:5 to 4:9)
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.abs %x : tensor<2xf32> loc("model.py":3:5 to 4:9)
  return %0 : tensor<2xf32>
}

// RUN: rm -rf %t
// RUN: torchere-translate --interpret --probe-output-dir=%t %s
// RUN: FileCheck %s --check-prefix=INDEX --input-file=%t/index.csv
// RUN: not torchere-translate --interpret %s 2>&1 | FileCheck %s --check-prefix=NONE

// INDEX: sums,tensor<2xi32>,sums_1.npy
// INDEX: sums,tensor<2xi32>,sums_2.npy
// INDEX: halves,tensor<bf16>,halves_1.npy
// NONE: error: [interpreter.probe] no directory for probes is given (--probe-output-dir)
func.func @add(%0: tensor<2xi32>) -> tensor<2xi32> {
  %1 = stablehlo.add %0, %0 : tensor<2xi32>
  %2 = interpreter.probe %1, probe_id = "sums" : tensor<2xi32>
  func.return %2 : tensor<2xi32>
}

func.func @main() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %1 = func.call @add(%0) : (tensor<2xi32>) -> tensor<2xi32>
  %2 = func.call @add(%1) : (tensor<2xi32>) -> tensor<2xi32>
  check.expect_serialized_eq %1, probe_id = "sums" : tensor<2xi32>
  check.expect_serialized_eq %2, probe_id = "sums", iteration = 2 : tensor<2xi32>
  %3 = stablehlo.constant dense<0.5> : tensor<bf16>
  %4 = interpreter.probe %3, probe_id = "halves" : tensor<bf16>
  check.expect_serialized_eq %3, probe_id = "halves" : tensor<bf16>
  func.return
}

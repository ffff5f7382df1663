// RUN: torchere-translate --interpret -split-input-file %s

func.func @passes() {
  %x = stablehlo.constant dense<1> : tensor<i32>
  %y = stablehlo.constant dense<2> : tensor<i64>
  %0, %1 = stablehlo.optimization_barrier %x, %y : tensor<i32>, tensor<i64>
  check.expect_eq %0, %x : tensor<i32>
  check.expect_eq %1, %y : tensor<i64>
  func.return
}

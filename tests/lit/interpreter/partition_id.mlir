// RUN: torchere-translate --interpret -split-input-file %s

func.func @alone() {
  %0 = stablehlo.partition_id : tensor<ui32>
  check.expect_eq_const %0, dense<0> : tensor<ui32>
  return
}

// -----

module @grid {
  func.func @program() -> tensor<ui32> {
    %0 = stablehlo.partition_id : tensor<ui32>
    return %0 : tensor<ui32>
  }
  func.func @main() {
    %r:4 = "interpreter.run_parallel"() <{programs = [[@program, @program], [@program, @program]]}> : () -> (tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>)
    check.expect_eq_const %r#0, dense<0> : tensor<ui32>
    check.expect_eq_const %r#1, dense<1> : tensor<ui32>
    check.expect_eq_const %r#2, dense<0> : tensor<ui32>
    check.expect_eq_const %r#3, dense<1> : tensor<ui32>
    return
  }
}

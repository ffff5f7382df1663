// RUN: torchere-translate --interpret -split-input-file %s

// Nobody sends to replica 0.
module @cross_replica {
  func.func @program(%x: tensor<i64>) -> tensor<i64> {
    %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : (tensor<i64>) -> tensor<i64>
    return %0 : tensor<i64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1> : tensor<i64>
    %b = stablehlo.constant dense<2> : tensor<i64>
    %c = stablehlo.constant dense<3> : tensor<i64>
    %r:3 = "interpreter.run_parallel"(%a, %b, %c) <{programs = [[@program], [@program], [@program]]}>
      : (tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>, tensor<i64>)
    check.expect_eq_const %r#0, dense<0> : tensor<i64>
    check.expect_eq_const %r#1, dense<1> : tensor<i64>
    check.expect_eq_const %r#2, dense<2> : tensor<i64>
    return
  }
}

// -----

module @cross_partition {
  func.func @program(%x: tensor<i64>) -> tensor<i64> {
    %0 = "stablehlo.collective_permute"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<i64>) -> tensor<i64>
    return %0 : tensor<i64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1> : tensor<i64>
    %b = stablehlo.constant dense<2> : tensor<i64>
    %c = stablehlo.constant dense<3> : tensor<i64>
    %d = stablehlo.constant dense<4> : tensor<i64>
    %r:4 = "interpreter.run_parallel"(%a, %b, %c, %d) <{programs = [[@program, @program], [@program, @program]]}>
      : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>)
    check.expect_eq_const %r#0, dense<2> : tensor<i64>
    check.expect_eq_const %r#1, dense<1> : tensor<i64>
    check.expect_eq_const %r#2, dense<4> : tensor<i64>
    check.expect_eq_const %r#3, dense<3> : tensor<i64>
    return
  }
}

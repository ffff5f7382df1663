// RUN: torchere-translate --interpret -split-input-file %s

// A process in no group gets zeros.
module @cross_replica {
  func.func @program(%x: tensor<2xi64>) -> tensor<2xi64> {
    %0 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[2, 1]]> : tensor<1x2xi64>}> : (tensor<2xi64>) -> tensor<2xi64>
    return %0 : tensor<2xi64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %b = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
    %c = stablehlo.constant dense<[5, 6]> : tensor<2xi64>
    %r:3 = "interpreter.run_parallel"(%a, %b, %c) <{programs = [[@program], [@program], [@program]]}>
      : (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>)
    check.expect_eq_const %r#0, dense<0> : tensor<2xi64>
    check.expect_eq_const %r#1, dense<[5, 6]> : tensor<2xi64>
    check.expect_eq_const %r#2, dense<[5, 6]> : tensor<2xi64>
    return
  }
}

// -----

module @cross_partition {
  func.func @program(%x: tensor<i64>) -> tensor<i64> {
    %0 = "stablehlo.collective_broadcast"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<i64>) -> tensor<i64>
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
    check.expect_eq_const %r#1, dense<2> : tensor<i64>
    check.expect_eq_const %r#2, dense<4> : tensor<i64>
    check.expect_eq_const %r#3, dense<4> : tensor<i64>
    return
  }
}

// -----

// Each operand has a root of its own.
module @roots {
  func.func @program(%x: tensor<i64>, %y: tensor<f32>) -> (tensor<i64>, tensor<f32>) {
    %roots = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
    %0:2 = "stablehlo.collective_broadcast"(%x, %y, %roots) <{has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<i64>, tensor<f32>, tensor<2xi32>) -> (tensor<i64>, tensor<f32>)
    return %0#0, %0#1 : tensor<i64>, tensor<f32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1> : tensor<i64>
    %b = stablehlo.constant dense<2.0> : tensor<f32>
    %c = stablehlo.constant dense<3> : tensor<i64>
    %d = stablehlo.constant dense<4.0> : tensor<f32>
    %r:4 = "interpreter.run_parallel"(%a, %b, %c, %d) <{programs = [[@program], [@program]]}> : (tensor<i64>, tensor<f32>, tensor<i64>, tensor<f32>) -> (tensor<i64>, tensor<f32>, tensor<i64>, tensor<f32>)
    check.expect_eq_const %r#0, dense<3> : tensor<i64>
    check.expect_eq_const %r#1, dense<2.0> : tensor<f32>
    check.expect_eq_const %r#2, dense<3> : tensor<i64>
    check.expect_eq_const %r#3, dense<2.0> : tensor<f32>
    return
  }
}

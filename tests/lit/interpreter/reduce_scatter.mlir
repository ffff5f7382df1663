// RUN: torchere-translate --interpret -split-input-file %s

module @cross_replica {
  func.func @program(%x: tensor<2x4xi64>) -> tensor<2x2xi64> {
    %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %s = stablehlo.add %a, %b : tensor<i64>
      stablehlo.return %s : tensor<i64>
    }) : (tensor<2x4xi64>) -> tensor<2x2xi64>
    return %0 : tensor<2x2xi64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi64>
    %b = stablehlo.constant dense<[[10, 20, 30, 40], [50, 60, 70, 80]]> : tensor<2x4xi64>
    %r:2 = "interpreter.run_parallel"(%a, %b) <{programs = [[@program], [@program]]}>
      : (tensor<2x4xi64>, tensor<2x4xi64>) -> (tensor<2x2xi64>, tensor<2x2xi64>)
    check.expect_eq_const %r#0, dense<[[11, 22], [55, 66]]> : tensor<2x2xi64>
    check.expect_eq_const %r#1, dense<[[33, 44], [77, 88]]> : tensor<2x2xi64>
    return
  }
}

// -----

// Partition 1 is the first of the group, and has the first part.
module @flattened_ids {
  func.func @program(%x: tensor<2xi64>) -> tensor<1xi64> {
    %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %s = stablehlo.add %a, %b : tensor<i64>
      stablehlo.return %s : tensor<i64>
    }) : (tensor<2xi64>) -> tensor<1xi64>
    return %0 : tensor<1xi64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %b = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
    %r:2 = "interpreter.run_parallel"(%a, %b) <{programs = [[@program, @program]]}>
      : (tensor<2xi64>, tensor<2xi64>) -> (tensor<1xi64>, tensor<1xi64>)
    check.expect_eq_const %r#0, dense<6> : tensor<1xi64>
    check.expect_eq_const %r#1, dense<4> : tensor<1xi64>
    return
  }
}

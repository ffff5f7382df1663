// RUN: torchere-translate --interpret -split-input-file %s

// In the order of the group, not of the ids.
module @cross_replica {
  func.func @program(%x: tensor<2x1xi64>) -> tensor<2x2xi64> {
    %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<2x1xi64>) -> tensor<2x2xi64>
    return %0 : tensor<2x2xi64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi64>
    %b = stablehlo.constant dense<[[3], [4]]> : tensor<2x1xi64>
    %r:2 = "interpreter.run_parallel"(%a, %b) <{programs = [[@program], [@program]]}>
      : (tensor<2x1xi64>, tensor<2x1xi64>) -> (tensor<2x2xi64>, tensor<2x2xi64>)
    check.expect_eq_const %r#0, dense<[[3, 1], [4, 2]]> : tensor<2x2xi64>
    check.expect_eq_const %r#1, dense<[[3, 1], [4, 2]]> : tensor<2x2xi64>
    return
  }
}

// -----

// Replicas 1 and 0 of partition 0, then of partition 1.
module @cross_replica_and_partition {
  func.func @program(%x: tensor<1xi64>) -> tensor<4xi64> {
    %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<1xi64>) -> tensor<4xi64>
    return %0 : tensor<4xi64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1> : tensor<1xi64>
    %b = stablehlo.constant dense<2> : tensor<1xi64>
    %c = stablehlo.constant dense<3> : tensor<1xi64>
    %d = stablehlo.constant dense<4> : tensor<1xi64>
    %r:4 = "interpreter.run_parallel"(%a, %b, %c, %d) <{programs = [[@program, @program], [@program, @program]]}>
      : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> (tensor<4xi64>, tensor<4xi64>, tensor<4xi64>, tensor<4xi64>)
    check.expect_eq_const %r#0, dense<[3, 1, 4, 2]> : tensor<4xi64>
    check.expect_eq_const %r#1, dense<[3, 1, 4, 2]> : tensor<4xi64>
    check.expect_eq_const %r#2, dense<[3, 1, 4, 2]> : tensor<4xi64>
    check.expect_eq_const %r#3, dense<[3, 1, 4, 2]> : tensor<4xi64>
    return
  }
}

// -----

module @flattened_ids {
  func.func @program(%x: tensor<1xi64>) -> tensor<2xi64> {
    %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 3], [2, 1]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<1xi64>) -> tensor<2xi64>
    return %0 : tensor<2xi64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1> : tensor<1xi64>
    %b = stablehlo.constant dense<2> : tensor<1xi64>
    %c = stablehlo.constant dense<3> : tensor<1xi64>
    %d = stablehlo.constant dense<4> : tensor<1xi64>
    %r:4 = "interpreter.run_parallel"(%a, %b, %c, %d) <{programs = [[@program, @program], [@program, @program]]}>
      : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>)
    check.expect_eq_const %r#0, dense<[1, 4]> : tensor<2xi64>
    check.expect_eq_const %r#1, dense<[3, 2]> : tensor<2xi64>
    check.expect_eq_const %r#2, dense<[3, 2]> : tensor<2xi64>
    check.expect_eq_const %r#3, dense<[1, 4]> : tensor<2xi64>
    return
  }
}

// -----

// No groups are one of all.
module @all {
  func.func @program(%x: tensor<1xi64>) -> tensor<2xi64> {
    %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<> : tensor<0x0xi64>}> : (tensor<1xi64>) -> tensor<2xi64>
    return %0 : tensor<2xi64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1> : tensor<1xi64>
    %b = stablehlo.constant dense<2> : tensor<1xi64>
    %r:2 = "interpreter.run_parallel"(%a, %b) <{programs = [[@program], [@program]]}>
      : (tensor<1xi64>, tensor<1xi64>) -> (tensor<2xi64>, tensor<2xi64>)
    check.expect_eq_const %r#0, dense<[1, 2]> : tensor<2xi64>
    check.expect_eq_const %r#1, dense<[1, 2]> : tensor<2xi64>
    return
  }
}

// -----

// Along axis x: devices 0 and 2, 1 and 3.
module @mesh {
  func.func @program(%x: tensor<1xi64>) -> tensor<2xi64> {
    %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>, <name = "y", size = 2>]>, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> : (tensor<1xi64>) -> tensor<2xi64>
    return %0 : tensor<2xi64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1> : tensor<1xi64>
    %b = stablehlo.constant dense<2> : tensor<1xi64>
    %c = stablehlo.constant dense<3> : tensor<1xi64>
    %d = stablehlo.constant dense<4> : tensor<1xi64>
    %r:4 = "interpreter.run_parallel"(%a, %b, %c, %d) <{programs = [[@program, @program], [@program, @program]]}>
      : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>)
    check.expect_eq_const %r#0, dense<[1, 3]> : tensor<2xi64>
    check.expect_eq_const %r#1, dense<[2, 4]> : tensor<2xi64>
    check.expect_eq_const %r#2, dense<[1, 3]> : tensor<2xi64>
    check.expect_eq_const %r#3, dense<[2, 4]> : tensor<2xi64>
    return
  }
}

// -----

// The first half of axis x against the second; its devices are in reverse order.
module @mesh_part {
  func.func @program(%x: tensor<1xi64>) -> tensor<2xi64> {
    %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 4>], device_ids=dense<[3, 2, 1, 0]> : tensor<4xi64>>, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>]>, use_global_device_ids}> : (tensor<1xi64>) -> tensor<2xi64>
    return %0 : tensor<2xi64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1> : tensor<1xi64>
    %b = stablehlo.constant dense<2> : tensor<1xi64>
    %c = stablehlo.constant dense<3> : tensor<1xi64>
    %d = stablehlo.constant dense<4> : tensor<1xi64>
    %r:4 = "interpreter.run_parallel"(%a, %b, %c, %d) <{programs = [[@program, @program], [@program, @program]]}>
      : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>)
    check.expect_eq_const %r#0, dense<[3, 1]> : tensor<2xi64>
    check.expect_eq_const %r#1, dense<[4, 2]> : tensor<2xi64>
    check.expect_eq_const %r#2, dense<[3, 1]> : tensor<2xi64>
    check.expect_eq_const %r#3, dense<[4, 2]> : tensor<2xi64>
    return
  }
}

// RUN: torchere-translate --interpret -split-input-file %s

func.func @alone() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %s = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) : (tensor<2xi64>) -> tensor<2xi64>
  check.expect_eq %0, %x : tensor<2xi64>
  return
}

// -----

module @cross_replica {
  func.func @program(%x: tensor<2xi64>) -> tensor<2xi64> {
    %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %s = stablehlo.add %a, %b : tensor<i64>
      stablehlo.return %s : tensor<i64>
    }) : (tensor<2xi64>) -> tensor<2xi64>
    return %0 : tensor<2xi64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %b = stablehlo.constant dense<[10, 20]> : tensor<2xi64>
    %r:2 = "interpreter.run_parallel"(%a, %b) <{programs = [[@program], [@program]]}>
      : (tensor<2xi64>, tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>)
    check.expect_eq_const %r#0, dense<[11, 22]> : tensor<2xi64>
    check.expect_eq_const %r#1, dense<[11, 22]> : tensor<2xi64>
    return
  }
}

// -----

// Groups of different sizes, filled up with -1.
module @groups {
  func.func @program(%x: tensor<i64>) -> tensor<i64> {
    %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 2], [1, -1]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %s = stablehlo.add %a, %b : tensor<i64>
      stablehlo.return %s : tensor<i64>
    }) : (tensor<i64>) -> tensor<i64>
    return %0 : tensor<i64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1> : tensor<i64>
    %b = stablehlo.constant dense<2> : tensor<i64>
    %c = stablehlo.constant dense<4> : tensor<i64>
    %r:3 = "interpreter.run_parallel"(%a, %b, %c) <{programs = [[@program], [@program], [@program]]}>
      : (tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>, tensor<i64>)
    check.expect_eq_const %r#0, dense<5> : tensor<i64>
    check.expect_eq_const %r#1, dense<2> : tensor<i64>
    check.expect_eq_const %r#2, dense<5> : tensor<i64>
    return
  }
}

// -----

module @cross_replica_and_partition {
  func.func @program(%x: tensor<i64>) -> tensor<i64> {
    %0 = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %s = stablehlo.add %a, %b : tensor<i64>
      stablehlo.return %s : tensor<i64>
    }) : (tensor<i64>) -> tensor<i64>
    return %0 : tensor<i64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1> : tensor<i64>
    %b = stablehlo.constant dense<2> : tensor<i64>
    %c = stablehlo.constant dense<4> : tensor<i64>
    %d = stablehlo.constant dense<8> : tensor<i64>
    %r:4 = "interpreter.run_parallel"(%a, %b, %c, %d) <{programs = [[@program, @program], [@program, @program]]}>
      : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>)
    check.expect_eq_const %r#0, dense<15> : tensor<i64>
    check.expect_eq_const %r#1, dense<15> : tensor<i64>
    check.expect_eq_const %r#2, dense<15> : tensor<i64>
    check.expect_eq_const %r#3, dense<15> : tensor<i64>
    return
  }
}

// -----

module @flattened_ids {
  func.func @program(%x: tensor<i64>) -> tensor<i64> {
    %0 = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %s = stablehlo.add %a, %b : tensor<i64>
      stablehlo.return %s : tensor<i64>
    }) : (tensor<i64>) -> tensor<i64>
    return %0 : tensor<i64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1> : tensor<i64>
    %b = stablehlo.constant dense<2> : tensor<i64>
    %c = stablehlo.constant dense<4> : tensor<i64>
    %d = stablehlo.constant dense<8> : tensor<i64>
    %r:4 = "interpreter.run_parallel"(%a, %b, %c, %d) <{programs = [[@program, @program], [@program, @program]]}>
      : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>)
    check.expect_eq_const %r#0, dense<3> : tensor<i64>
    check.expect_eq_const %r#1, dense<3> : tensor<i64>
    check.expect_eq_const %r#2, dense<12> : tensor<i64>
    check.expect_eq_const %r#3, dense<12> : tensor<i64>
    return
  }
}

// -----

// In the type of the computation.
module @wider {
  func.func @program(%x: tensor<i8>) -> tensor<i32> {
    %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<i8>) -> tensor<i32>
    return %0 : tensor<i32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<100> : tensor<i8>
    %b = stablehlo.constant dense<100> : tensor<i8>
    %r:2 = "interpreter.run_parallel"(%a, %b) <{programs = [[@program], [@program]]}>
      : (tensor<i8>, tensor<i8>) -> (tensor<i32>, tensor<i32>)
    check.expect_eq_const %r#0, dense<200> : tensor<i32>
    check.expect_eq_const %r#1, dense<200> : tensor<i32>
    return
  }
}

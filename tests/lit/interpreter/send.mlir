// RUN: torchere-translate --interpret -split-input-file %s

// send and recv, over two channels; the receiver asks first for what is sent last.
module {
  func.func @sender(%x: tensor<2xi64>, %token: !stablehlo.token) -> !stablehlo.token {
    %y = stablehlo.negate %x : tensor<2xi64>
    %0 = "stablehlo.send"(%x, %y, %token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<2xi64>, tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
    %1 = "stablehlo.send"(%y, %0) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>}> : (tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
    return %1 : !stablehlo.token
  }
  func.func @receiver(%token: !stablehlo.token) -> (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) {
    %0:2 = "stablehlo.recv"(%token) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>}> : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
    %1:3 = "stablehlo.recv"(%0#1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (!stablehlo.token) -> (tensor<2xi64>, tensor<2xi64>, !stablehlo.token)
    return %0#0, %1#0, %1#1 : tensor<2xi64>, tensor<2xi64>, tensor<2xi64>
  }
  func.func @main() {
    %x = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %token = stablehlo.create_token : !stablehlo.token
    %r:4 = "interpreter.run_parallel"(%token, %x, %token) <{programs = [[@receiver], [@sender]]}> : (!stablehlo.token, tensor<2xi64>, !stablehlo.token) -> (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, !stablehlo.token)
    check.expect_eq_const %r#0, dense<[-1, -2]> : tensor<2xi64>
    check.expect_eq_const %r#1, dense<[1, 2]> : tensor<2xi64>
    check.expect_eq_const %r#2, dense<[-1, -2]> : tensor<2xi64>
    return
  }
}

// -----

// Each replica sends to the next one, by pairs; nobody sends to replica 0, and replica 2 to nobody.
module @cross_replica {
  func.func @program(%x: tensor<2xi64>, %token: !stablehlo.token) -> (tensor<2xi64>, tensor<2xi64>) {
    %y = stablehlo.negate %x : tensor<2xi64>
    %0 = "stablehlo.send"(%x, %y, %token) <{channel_handle = #stablehlo.channel_handle<handle = 0, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : (tensor<2xi64>, tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
    %1:3 = "stablehlo.recv"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 0, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : (!stablehlo.token) -> (tensor<2xi64>, tensor<2xi64>, !stablehlo.token)
    return %1#0, %1#1 : tensor<2xi64>, tensor<2xi64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %b = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
    %c = stablehlo.constant dense<[5, 6]> : tensor<2xi64>
    %token = stablehlo.create_token : !stablehlo.token
    %r:6 = "interpreter.run_parallel"(%a, %token, %b, %token, %c, %token) <{programs = [[@program], [@program], [@program]]}> : (tensor<2xi64>, !stablehlo.token, tensor<2xi64>, !stablehlo.token, tensor<2xi64>, !stablehlo.token) -> (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>)
    check.expect_eq_const %r#0, dense<0> : tensor<2xi64>
    check.expect_eq_const %r#1, dense<0> : tensor<2xi64>
    check.expect_eq_const %r#2, dense<[1, 2]> : tensor<2xi64>
    check.expect_eq_const %r#3, dense<[-1, -2]> : tensor<2xi64>
    check.expect_eq_const %r#4, dense<[3, 4]> : tensor<2xi64>
    check.expect_eq_const %r#5, dense<[-3, -4]> : tensor<2xi64>
    return
  }
}

// -----

// With a channel the ids are partitions. A process that asks before the other sends waits for it.
module @cross_partition {
  func.func @receiver(%token: !stablehlo.token) -> tensor<i64> {
    %0:2 = "stablehlo.recv"(%token) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, source_target_pairs = dense<[[1, 0]]> : tensor<1x2xi64>}> : (!stablehlo.token) -> (tensor<i64>, !stablehlo.token)
    return %0#0 : tensor<i64>
  }
  func.func @sender(%x: tensor<i64>, %token: !stablehlo.token) {
    %0 = "stablehlo.send"(%x, %token) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, source_target_pairs = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<i64>, !stablehlo.token) -> !stablehlo.token
    return
  }
  func.func @main() {
    %a = stablehlo.constant dense<1> : tensor<i64>
    %b = stablehlo.constant dense<2> : tensor<i64>
    %token = stablehlo.create_token : !stablehlo.token
    %r:2 = "interpreter.run_parallel"(%token, %a, %token, %token, %b, %token) <{programs = [[@receiver, @sender], [@receiver, @sender]]}> : (!stablehlo.token, tensor<i64>, !stablehlo.token, !stablehlo.token, tensor<i64>, !stablehlo.token) -> (tensor<i64>, tensor<i64>)
    check.expect_eq_const %r#0, dense<1> : tensor<i64>
    check.expect_eq_const %r#1, dense<2> : tensor<i64>
    return
  }
}

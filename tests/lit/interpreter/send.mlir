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

// RUN: torchere-translate --interpret -split-input-file %s

// What is begun goes on by itself: the partitions begin two exchanges in opposite orders, one waiting for the
// first before it begins the second.
module {
  func.func @one(%x: tensor<i64>) -> (tensor<i64>, tensor<i64>) {
    %0 = "stablehlo.async_start"(%x) ({
    ^bb0(%y: tensor<i64>):
      %z = "stablehlo.all_reduce"(%y) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<0> : tensor<1x1xi64>}> ({
      ^bb1(%a: tensor<i64>, %b: tensor<i64>):
        %s = stablehlo.add %a, %b : tensor<i64>
        stablehlo.return %s : tensor<i64>
      }) : (tensor<i64>) -> tensor<i64>
      stablehlo.return %z : tensor<i64>
    }) : (tensor<i64>) -> !stablehlo.future<tensor<i64>>
    %1 = "stablehlo.async_start"(%x) ({
    ^bb0(%y: tensor<i64>):
      %z = "stablehlo.all_reduce"(%y) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 0>, replica_groups = dense<0> : tensor<1x1xi64>}> ({
      ^bb1(%a: tensor<i64>, %b: tensor<i64>):
        %s = stablehlo.multiply %a, %b : tensor<i64>
        stablehlo.return %s : tensor<i64>
      }) : (tensor<i64>) -> tensor<i64>
      stablehlo.return %z : tensor<i64>
    }) : (tensor<i64>) -> !stablehlo.future<tensor<i64>>
    %2 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<i64>>) -> tensor<i64>
    %3 = "stablehlo.async_done"(%1) : (!stablehlo.future<tensor<i64>>) -> tensor<i64>
    return %2, %3 : tensor<i64>, tensor<i64>
  }
  func.func @other(%x: tensor<i64>) -> (tensor<i64>, tensor<i64>) {
    %1 = "stablehlo.async_start"(%x) ({
    ^bb0(%y: tensor<i64>):
      %z = "stablehlo.all_reduce"(%y) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 0>, replica_groups = dense<0> : tensor<1x1xi64>}> ({
      ^bb1(%a: tensor<i64>, %b: tensor<i64>):
        %s = stablehlo.multiply %a, %b : tensor<i64>
        stablehlo.return %s : tensor<i64>
      }) : (tensor<i64>) -> tensor<i64>
      stablehlo.return %z : tensor<i64>
    }) : (tensor<i64>) -> !stablehlo.future<tensor<i64>>
    %3 = "stablehlo.async_done"(%1) : (!stablehlo.future<tensor<i64>>) -> tensor<i64>
    %0 = "stablehlo.async_start"(%x) ({
    ^bb0(%y: tensor<i64>):
      %z = "stablehlo.all_reduce"(%y) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<0> : tensor<1x1xi64>}> ({
      ^bb1(%a: tensor<i64>, %b: tensor<i64>):
        %s = stablehlo.add %a, %b : tensor<i64>
        stablehlo.return %s : tensor<i64>
      }) : (tensor<i64>) -> tensor<i64>
      stablehlo.return %z : tensor<i64>
    }) : (tensor<i64>) -> !stablehlo.future<tensor<i64>>
    %2 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<i64>>) -> tensor<i64>
    return %2, %3 : tensor<i64>, tensor<i64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<3> : tensor<i64>
    %b = stablehlo.constant dense<5> : tensor<i64>
    %r:4 = "interpreter.run_parallel"(%a, %b) <{programs = [[@one, @other]]}> : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>)
    check.expect_eq_const %r#0, dense<8> : tensor<i64>
    check.expect_eq_const %r#1, dense<15> : tensor<i64>
    check.expect_eq_const %r#2, dense<8> : tensor<i64>
    check.expect_eq_const %r#3, dense<15> : tensor<i64>
    return
  }
}

// -----

func.func @alone() {
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi64>
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%y: tensor<3xi64>):
    %z = stablehlo.slice %y [1:3] : (tensor<3xi64>) -> tensor<2xi64>
    stablehlo.return %z : tensor<2xi64>
  }) : (tensor<3xi64>) -> !stablehlo.future<tensor<2xi64>>
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<2xi64>>) -> tensor<2xi64>
  check.expect_eq_const %1, dense<[2, 3]> : tensor<2xi64>
  return
}

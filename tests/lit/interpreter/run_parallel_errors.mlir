// RUN: not torchere-translate --interpret -split-input-file %s 2>&1 | FileCheck %s

// CHECK: error: [interpreter.run_parallel] programs takes 2 inputs, got 3
module {
  func.func @p(%x: tensor<i64>) -> tensor<i64> {
    %0 = stablehlo.negate %x : tensor<i64>
    return %0 : tensor<i64>
  }
  func.func @main() {
    %x = stablehlo.constant dense<1> : tensor<i64>
    %token = stablehlo.create_token : !stablehlo.token
    %r:2 = "interpreter.run_parallel"(%x, %x, %x) <{programs = [[@p], [@p]]}> : (tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
    return
  }
}

// -----

// CHECK: error: [interpreter.run_parallel] programs takes more than the 1 inputs
module {
  func.func @p(%x: tensor<i64>) -> tensor<i64> {
    %0 = stablehlo.negate %x : tensor<i64>
    return %0 : tensor<i64>
  }
  func.func @main() {
    %x = stablehlo.constant dense<1> : tensor<i64>
    %token = stablehlo.create_token : !stablehlo.token
    %r:2 = "interpreter.run_parallel"(%x) <{programs = [[@p], [@p]]}> : (tensor<i64>) -> (tensor<i64>, tensor<i64>)
    return
  }
}

// -----

// CHECK: error: [interpreter.run_parallel] programs has rows of 2 and 1 functions, expected as many in each
module {
  func.func @p(%x: tensor<i64>) -> tensor<i64> {
    %0 = stablehlo.negate %x : tensor<i64>
    return %0 : tensor<i64>
  }
  func.func @main() {
    %x = stablehlo.constant dense<1> : tensor<i64>
    %token = stablehlo.create_token : !stablehlo.token
    %r:2 = "interpreter.run_parallel"(%x, %x) <{programs = [[@p, @p], [@p]]}> : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
    return
  }
}

// -----

// CHECK: error: [interpreter.run_parallel] programs has no function
module {
  func.func @p(%x: tensor<i64>) -> tensor<i64> {
    %0 = stablehlo.negate %x : tensor<i64>
    return %0 : tensor<i64>
  }
  func.func @main() {
    %x = stablehlo.constant dense<1> : tensor<i64>
    %token = stablehlo.create_token : !stablehlo.token
    %r:2 = "interpreter.run_parallel"(%x, %x) <{programs = []}> : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
    return
  }
}

// -----

// CHECK: error: [interpreter.run_parallel] the module has no body of a function @q
module {
  func.func @p(%x: tensor<i64>) -> tensor<i64> {
    %0 = stablehlo.negate %x : tensor<i64>
    return %0 : tensor<i64>
  }
  func.func @main() {
    %x = stablehlo.constant dense<1> : tensor<i64>
    %token = stablehlo.create_token : !stablehlo.token
    %r:2 = "interpreter.run_parallel"(%x, %x) <{programs = [[@p], [@q]]}> : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
    return
  }
}

// -----

// CHECK: error: [stablehlo.cross-replica-sum] no process 2: the program runs on 2 replicas of 1 partitions
module {
  func.func @p(%x: tensor<i64>) -> tensor<i64> {
    %0 = "stablehlo.cross-replica-sum"(%x) <{replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>}> : (tensor<i64>) -> tensor<i64>
    return %0 : tensor<i64>
  }
  func.func @main() {
    %x = stablehlo.constant dense<1> : tensor<i64>
    %token = stablehlo.create_token : !stablehlo.token
    %r:2 = "interpreter.run_parallel"(%x, %x) <{programs = [[@p], [@p]]}> : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
    return
  }
}

// -----

// CHECK: error: [stablehlo.cross-replica-sum] replica_groups does not have replica 1 of partition 0
module {
  func.func @p(%x: tensor<i64>) -> tensor<i64> {
    %0 = "stablehlo.cross-replica-sum"(%x) <{replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<i64>) -> tensor<i64>
    return %0 : tensor<i64>
  }
  func.func @main() {
    %x = stablehlo.constant dense<1> : tensor<i64>
    %token = stablehlo.create_token : !stablehlo.token
    %r:2 = "interpreter.run_parallel"(%x, %x) <{programs = [[@p], [@p]]}> : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
    return
  }
}

// -----

// CHECK: error: [stablehlo.recv] nobody sends what the process waits for
module {
  func.func @p(%x: tensor<i64>) -> tensor<i64> {
    %token = stablehlo.create_token : !stablehlo.token
    %0, %1 = "stablehlo.recv"(%token) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (!stablehlo.token) -> (tensor<i64>, !stablehlo.token)
    return %0 : tensor<i64>
  }
  func.func @main() {
    %x = stablehlo.constant dense<1> : tensor<i64>
    %token = stablehlo.create_token : !stablehlo.token
    %r:2 = "interpreter.run_parallel"(%x, %x) <{programs = [[@p], [@p]]}> : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
    return
  }
}

// -----

// CHECK: error: [stablehlo.collective_broadcast] root 2 of a group of 2 processes
module {
  func.func @p(%x: tensor<i64>) -> tensor<i64> {
    %root = stablehlo.constant dense<2> : tensor<1xi32>
    %0 = "stablehlo.collective_broadcast"(%x, %root) <{has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<i64>, tensor<1xi32>) -> tensor<i64>
    return %0 : tensor<i64>
  }
  func.func @main() {
    %x = stablehlo.constant dense<1> : tensor<i64>
    %token = stablehlo.create_token : !stablehlo.token
    %r:2 = "interpreter.run_parallel"(%x, %x) <{programs = [[@p], [@p]]}> : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
    return
  }
}

// -----

// CHECK: error: [stablehlo.all_gather] replica 0 of partition 0 gives operands of other types
module {
  func.func @p(%x: tensor<i64>) -> tensor<i64> {
    %y = stablehlo.reshape %x : (tensor<i64>) -> tensor<1xi64>
    %0 = "stablehlo.all_gather"(%y) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<1xi64>) -> tensor<2xi64>
    return %x : tensor<i64>
  }
  func.func @q(%x: tensor<i64>) -> tensor<i64> {
    %y = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<i64>) -> tensor<2xi64>
    %0 = "stablehlo.all_gather"(%y) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xi64>) -> tensor<4xi64>
    return %x : tensor<i64>
  }
  func.func @main() {
    %x = stablehlo.constant dense<1> : tensor<i64>
    %token = stablehlo.create_token : !stablehlo.token
    %r:2 = "interpreter.run_parallel"(%x, %x) <{programs = [[@p], [@q]]}> : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
    return
  }
}

// -----

// CHECK: error: [stablehlo.all_gather] no process 1: the program runs on 1 replicas of 1 partitions
func.func @alone() {
  %x = stablehlo.constant dense<1> : tensor<1xi64>
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<1xi64>) -> tensor<2xi64>
  return
}

// -----

// CHECK: error: [stablehlo.infeed] nobody sends what the process waits for
func.func @unfed() {
  %token = stablehlo.create_token : !stablehlo.token
  %0, %1 = "stablehlo.infeed"(%token) <{infeed_config = ""}> : (!stablehlo.token) -> (tensor<i64>, !stablehlo.token)
  return
}

// -----

// CHECK: error: [stablehlo.send] no process 2: the program runs on 2 replicas of 1 partitions
module {
  func.func @p(%x: tensor<i64>, %token: !stablehlo.token) {
    %0 = "stablehlo.send"(%x, %token) <{channel_handle = #stablehlo.channel_handle<handle = 0, type = 1>, source_target_pairs = dense<[[0, 2]]> : tensor<1x2xi64>}> : (tensor<i64>, !stablehlo.token) -> !stablehlo.token
    return
  }
  func.func @main() {
    %x = stablehlo.constant dense<1> : tensor<i64>
    %token = stablehlo.create_token : !stablehlo.token
    "interpreter.run_parallel"(%x, %token, %x, %token) <{programs = [[@p], [@p]]}> : (tensor<i64>, !stablehlo.token, tensor<i64>, !stablehlo.token) -> ()
    return
  }
}

// RUN: not torchere-translate --interpret %s 2>&1 | FileCheck %s

// Groups of nothing but padding hold no process, however many there are.

// CHECK: error: [stablehlo.all_reduce] replica_groups does not have replica 0 of partition 0; at {{.*}}:8:8
func.func @main() -> tensor<2xi64> {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %1 = "stablehlo.all_reduce"(%0) <{replica_groups = dense<-1> : tensor<4611686018427387903x2xi64>}> ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %2 = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %2 : tensor<i64>
  }) : (tensor<2xi64>) -> tensor<2xi64>
  return %1 : tensor<2xi64>
}

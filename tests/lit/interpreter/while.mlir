// RUN: torchere-translate --interpret -split-input-file %s

func.func @counts() {
  %i = stablehlo.constant dense<0> : tensor<i64>
  %n = stablehlo.constant dense<10> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %0:2 = stablehlo.while(%k = %i, %s = %i) : tensor<i64>, tensor<i64>
  cond {
    %p = stablehlo.compare LT, %k, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %m = stablehlo.add %k, %one : tensor<i64>
    %t = stablehlo.add %s, %k : tensor<i64>
    stablehlo.return %m, %t : tensor<i64>, tensor<i64>
  }
  check.expect_eq_const %0#0, dense<10> : tensor<i64>
  check.expect_eq_const %0#1, dense<45> : tensor<i64>
  func.return
}

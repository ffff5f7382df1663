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

// -----

// The regions of a loop over sizes that are open use values from around it.
func.func @open_sizes() {
  %i = stablehlo.constant dense<0> : tensor<i64>
  %n = stablehlo.constant dense<3> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %shape = stablehlo.constant dense<2> : tensor<1xi64>
  %open = stablehlo.dynamic_reshape %x, %shape : (tensor<2xf32>, tensor<1xi64>) -> tensor<?xf32>
  %0:2 = stablehlo.while(%k = %i, %s = %open) : tensor<i64>, tensor<?xf32>
  cond {
    %p = stablehlo.compare LT, %k, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %m = stablehlo.add %k, %one : tensor<i64>
    %t = stablehlo.add %s, %open : tensor<?xf32>
    stablehlo.return %m, %t : tensor<i64>, tensor<?xf32>
  }
  %sum = stablehlo.reduce(%0#1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
  check.expect_eq_const %sum, dense<12.0> : tensor<f32>
  func.return
}

// RUN: torchere-translate --interpret -split-input-file %s

func.func @branches() {
  %t = stablehlo.constant dense<true> : tensor<i1>
  %f = stablehlo.constant dense<false> : tensor<i1>
  %xt = "stablehlo.if"(%t) ({
    %a = stablehlo.constant dense<1> : tensor<i32>
    stablehlo.return %a : tensor<i32>
  }, {
    %a = stablehlo.constant dense<2> : tensor<i32>
    stablehlo.return %a : tensor<i32>
  }) : (tensor<i1>) -> tensor<i32>
  %xf = "stablehlo.if"(%f) ({
    %a = stablehlo.constant dense<1> : tensor<i32>
    stablehlo.return %a : tensor<i32>
  }, {
    %a = stablehlo.constant dense<2> : tensor<i32>
    stablehlo.return %a : tensor<i32>
  }) : (tensor<i1>) -> tensor<i32>
  check.expect_eq_const %xt, dense<1> : tensor<i32>
  check.expect_eq_const %xf, dense<2> : tensor<i32>
  func.return
}

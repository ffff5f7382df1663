// RUN: torchere-translate --interpret -split-input-file %s

func.func @branches() {
  %ia = stablehlo.constant dense<0> : tensor<i32>
  %xa = "stablehlo.case"(%ia) ({
    %a = stablehlo.constant dense<10> : tensor<i32>
    stablehlo.return %a : tensor<i32>
  }, {
    stablehlo.return %ia : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  check.expect_eq_const %xa, dense<10> : tensor<i32>
  %ib = stablehlo.constant dense<1> : tensor<i32>
  %xb = "stablehlo.case"(%ib) ({
    %a = stablehlo.constant dense<10> : tensor<i32>
    stablehlo.return %a : tensor<i32>
  }, {
    stablehlo.return %ib : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  check.expect_eq_const %xb, dense<1> : tensor<i32>
  %ic = stablehlo.constant dense<-1> : tensor<i32>
  %xc = "stablehlo.case"(%ic) ({
    %a = stablehlo.constant dense<10> : tensor<i32>
    stablehlo.return %a : tensor<i32>
  }, {
    stablehlo.return %ic : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  check.expect_eq_const %xc, dense<-1> : tensor<i32>
  %id = stablehlo.constant dense<7> : tensor<i32>
  %xd = "stablehlo.case"(%id) ({
    %a = stablehlo.constant dense<10> : tensor<i32>
    stablehlo.return %a : tensor<i32>
  }, {
    stablehlo.return %id : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  check.expect_eq_const %xd, dense<7> : tensor<i32>
  func.return
}

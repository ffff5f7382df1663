// RUN: torchere-translate --interpret -split-input-file %s

func.func @product() {
  %x = stablehlo.constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>
  %y = stablehlo.constant dense<[[4, 5], [6, 7]]> : tensor<2x2xi64>
  %0 = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %s = stablehlo.multiply %a, %b : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) : (tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<2x2xi64>
  check.expect_eq_const %0, dense<[[0, 5], [12, 21]]> : tensor<2x2xi64>
  func.return
}

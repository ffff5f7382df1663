// RUN: torchere-translate --interpret -split-input-file %s

func.func @amounts() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %p = stablehlo.constant dense<0> : tensor<i32>
  %l = stablehlo.constant dense<[1]> : tensor<1xi64>
  %h = stablehlo.constant dense<[-1]> : tensor<1xi64>
  %i = stablehlo.constant dense<[2]> : tensor<1xi64>
  %0 = stablehlo.dynamic_pad %x, %p, %l, %h, %i : (tensor<2xi32>, tensor<i32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xi32>
  check.expect_eq_const %0, dense<[0, 1, 0, 0]> : tensor<4xi32>
  func.return
}

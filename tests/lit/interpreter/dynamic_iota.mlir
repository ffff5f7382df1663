// RUN: torchere-translate --interpret -split-input-file %s

func.func @sizes() {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %0 = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi64>) -> tensor<?x?xi64>
  %1 = stablehlo.add %0, %0 : tensor<?x?xi64>
  %c = stablehlo.constant dense<[[0, 2, 4], [0, 2, 4]]> : tensor<2x3xi64>
  %2 = stablehlo.reshape %c : (tensor<2x3xi64>) -> tensor<6xi64>
  %t = stablehlo.constant dense<[6]> : tensor<1xi64>
  %3 = stablehlo.dynamic_reshape %1, %t : (tensor<?x?xi64>, tensor<1xi64>) -> tensor<6xi64>
  check.expect_eq %3, %2 : tensor<6xi64>
  func.return
}

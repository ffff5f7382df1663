// RUN: torchere-translate --interpret -split-input-file %s

func.func @computed() {
  %x = stablehlo.constant dense<[0, 1, 2, 3, 4, 5]> : tensor<6xi64>
  %s = stablehlo.constant dense<[1]> : tensor<1xi64>
  %l = stablehlo.constant dense<[6]> : tensor<1xi64>
  %t = stablehlo.constant dense<[2]> : tensor<1xi64>
  %0 = stablehlo.real_dynamic_slice %x, %s, %l, %t : (tensor<6xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  check.expect_eq_const %0, dense<[1, 3, 5]> : tensor<3xi64>
  func.return
}

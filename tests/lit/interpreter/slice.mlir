// RUN: torchere-translate --interpret -split-input-file %s

func.func @strided() {
  %x = stablehlo.constant dense<[[0, 0, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]> : tensor<3x4xi64>
  %0 = stablehlo.slice %x [1:3, 2:4] : (tensor<3x4xi64>) -> tensor<2x2xi64>
  check.expect_eq_const %0, dense<1> : tensor<2x2xi64>
  func.return
}

// -----

func.func @steps() {
  %x = stablehlo.constant dense<[0, 1, 2, 3, 4, 5]> : tensor<6xi64>
  %0 = stablehlo.slice %x [1:6:2] : (tensor<6xi64>) -> tensor<3xi64>
  check.expect_eq_const %0, dense<[1, 3, 5]> : tensor<3xi64>
  func.return
}

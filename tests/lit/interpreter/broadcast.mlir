// RUN: torchere-translate --interpret -split-input-file %s

func.func @leading() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %0 = stablehlo.broadcast %x, sizes = [3] : (tensor<2xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %0, dense<[[1, 2], [1, 2], [1, 2]]> : tensor<3x2xi32>
  func.return
}

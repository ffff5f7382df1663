// RUN: torchere-translate --interpret -split-input-file %s

func.func @one() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %0 = stablehlo.reverse %x, dims = [1] : tensor<3x2xi32>
  check.expect_eq_const %0, dense<[[2, 1], [4, 3], [6, 5]]> : tensor<3x2xi32>
  %1 = stablehlo.reverse %x, dims = [0, 1] : tensor<3x2xi32>
  check.expect_eq_const %1, dense<[[6, 5], [4, 3], [2, 1]]> : tensor<3x2xi32>
  func.return
}

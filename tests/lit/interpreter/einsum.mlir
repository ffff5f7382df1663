// RUN: torchere-translate --interpret -split-input-file %s

func.func @transposed() {
  %l = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %r = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
  %0 = stablehlo.einsum %l, %r, config = "ij,jk->ki" : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[19, 43], [22, 50]]> : tensor<2x2xi32>
  func.return
}

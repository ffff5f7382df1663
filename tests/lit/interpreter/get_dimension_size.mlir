// RUN: torchere-translate --interpret -split-input-file %s

func.func @size() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %0 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3xi64>) -> tensor<i32>
  check.expect_eq_const %0, dense<3> : tensor<i32>
  func.return
}

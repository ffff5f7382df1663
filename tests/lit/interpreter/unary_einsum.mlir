// RUN: torchere-translate --interpret -split-input-file %s

func.func @diagonal() {
  %l = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %0 = "stablehlo.unary_einsum"(%l) <{einsum_config = "ij->j"}> : (tensor<2x2xi32>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[4, 6]> : tensor<2xi32>
  %1 = "stablehlo.unary_einsum"(%l) <{einsum_config = "ii->"}> : (tensor<2x2xi32>) -> tensor<i32>
  check.expect_eq_const %1, dense<5> : tensor<i32>
  func.return
}

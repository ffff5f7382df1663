// RUN: torchere-translate --interpret -split-input-file %s

func.func @padding() {
  %l = stablehlo.constant dense<[[[1, 2, 3]]]> : tensor<1x1x3xi32>
  %r = stablehlo.constant dense<[[[1, 10]]]> : tensor<1x1x2xi32>
  %p = stablehlo.constant dense<[[1, 1]]> : tensor<1x2xi64>
  %0 = "stablehlo.dynamic_conv"(%l, %r, %p) <{dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}> : (tensor<1x1x3xi32>, tensor<1x1x2xi32>, tensor<1x2xi64>) -> tensor<1x1x4xi32>
  check.expect_eq_const %0, dense<[[[10, 21, 32, 3]]]> : tensor<1x1x4xi32>
  func.return
}

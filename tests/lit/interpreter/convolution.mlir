// RUN: torchere-translate --interpret -split-input-file %s

func.func @strided() {
  %l = stablehlo.constant dense<[[[[1], [2], [5], [6]], [[3], [4], [7], [8]], [[10], [11], [14], [15]], [[12], [13], [16], [17]]]]> : tensor<1x4x4x1xi64>
  %r = stablehlo.constant dense<1> : tensor<3x3x1x1xi64>
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [4, 4], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x1xi64>, tensor<3x3x1x1xi64>) -> tensor<1x2x2x1xi64>
  check.expect_eq_const %0, dense<[[[[10], [26]], [[46], [62]]]]> : tensor<1x2x2x1xi64>
  func.return
}

// -----

func.func @padded() {
  %l = stablehlo.constant dense<[[[1, 2, 3]]]> : tensor<1x1x3xi32>
  %r = stablehlo.constant dense<[[[1, 10]]]> : tensor<1x1x2xi32>
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x3xi32>, tensor<1x1x2xi32>) -> tensor<1x1x4xi32>
  check.expect_eq_const %0, dense<[[[10, 21, 32, 3]]]> : tensor<1x1x4xi32>
  %1 = stablehlo.convolution(%l, %r) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x3xi32>, tensor<1x1x2xi32>) -> tensor<1x1x2xi32>
  check.expect_eq_const %1, dense<[[[12, 23]]]> : tensor<1x1x2xi32>
  %2 = stablehlo.convolution(%l, %r) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {rhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x3xi32>, tensor<1x1x2xi32>) -> tensor<1x1x1xi32>
  check.expect_eq_const %2, dense<[[[31]]]> : tensor<1x1x1xi32>
  func.return
}

// -----

func.func @groups() {
  %l = stablehlo.constant dense<[[[1], [2]]]> : tensor<1x2x1xi32>
  %r = stablehlo.constant dense<[[[3]], [[5]]]> : tensor<2x1x1xi32>
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x2x1xi32>, tensor<2x1x1xi32>) -> tensor<1x2x1xi32>
  check.expect_eq_const %0, dense<[[[3], [10]]]> : tensor<1x2x1xi32>
  func.return
}

// -----

func.func @batch_groups() {
  %l = stablehlo.constant dense<[[[1]], [[2]]]> : tensor<2x1x1xi32>
  %r = stablehlo.constant dense<[[[3]], [[5]]]> : tensor<2x1x1xi32>
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x1x1xi32>, tensor<2x1x1xi32>) -> tensor<1x2x1xi32>
  check.expect_eq_const %0, dense<[[[3], [10]]]> : tensor<1x2x1xi32>
  func.return
}

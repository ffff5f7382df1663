// RUN: torchere-translate --interpret -split-input-file %s

func.func @spec() {
  %x = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]> : tensor<2x2x2xf64>
  %s = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf64>
  %o = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf64>
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %o) <{epsilon = 0.0 : f32, feature_index = 2 : i64}> : (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>) -> (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>)
  check.expect_eq_const %0#0, dense<[[[0.0, 0.0], [2.0, 2.0]], [[2.0, 2.0], [0.0, 0.0]]]> : tensor<2x2x2xf64>
  check.expect_eq_const %0#1, dense<[2.0, 3.0]> : tensor<2xf64>
  check.expect_eq_const %0#2, dense<[1.0, 1.0]> : tensor<2xf64>
  func.return
}

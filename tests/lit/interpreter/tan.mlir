// RUN: torchere-translate --interpret -split-input-file %s

func.func @angles() {
  %x = stablehlo.constant dense<[[0.0, 0.7853981633974483], [1.0, -0.7853981633974483]]> : tensor<2x2xf64>
  %0 = stablehlo.tan %x : tensor<2x2xf64>
  check.expect_almost_eq_const %0, dense<[[0.0, 1.0], [1.557407724654902, -1.0]]> : tensor<2x2xf64>
  func.return
}

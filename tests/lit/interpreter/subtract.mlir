// RUN: torchere-translate --interpret -split-input-file %s

func.func @integers() {
  %l = stablehlo.constant dense<[[6, 8], [10, 12]]> : tensor<2x2xi32>
  %r = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
  %0 = stablehlo.subtract %l, %r : tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  func.return
}

// -----

func.func @unsigned() {
  %l = stablehlo.constant dense<[0]> : tensor<1xui16>
  %r = stablehlo.constant dense<[1]> : tensor<1xui16>
  %0 = stablehlo.subtract %l, %r : tensor<1xui16>
  check.expect_eq_const %0, dense<[65535]> : tensor<1xui16>
  func.return
}

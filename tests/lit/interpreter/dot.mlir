// RUN: torchere-translate --interpret -split-input-file %s

func.func @matrices() {
  %l = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %r = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
  %0 = stablehlo.dot %l, %r : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[19, 22], [43, 50]]> : tensor<2x2xi32>
  func.return
}

// -----

func.func @vectors() {
  %l = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %0 = stablehlo.dot %l, %l : (tensor<2xi32>, tensor<2xi32>) -> tensor<i32>
  check.expect_eq_const %0, dense<5> : tensor<i32>
  func.return
}

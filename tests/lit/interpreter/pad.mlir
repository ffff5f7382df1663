// RUN: torchere-translate --interpret -split-input-file %s

func.func @everywhere() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %p = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %x, %p, low = [0, 1], high = [2, 1], interior = [1, 2] : (tensor<2x3xi32>, tensor<i32>) -> tensor<5x9xi32>
  check.expect_eq_const %0, dense<[[0, 1, 0, 0, 2, 0, 0, 3, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 4, 0, 0, 5, 0, 0, 6, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<5x9xi32>
  func.return
}

// -----

func.func @negative() {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %p = stablehlo.constant dense<9> : tensor<i32>
  %0 = stablehlo.pad %x, %p, low = [-1], high = [1], interior = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  check.expect_eq_const %0, dense<[2, 3, 4, 9]> : tensor<4xi32>
  func.return
}

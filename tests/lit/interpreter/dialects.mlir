// RUN: torchere-translate --interpret %s
// The ops' text as upstream's programs have it, and both spellings of defaults.

func.func @main() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_eq_const %0, dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_eq %0, %0 : tensor<2xf32>
  check.expect_almost_eq_const %0, dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_almost_eq %0, %0 : tensor<2xf32>
  check.expect_close %0, %0 : tensor<2xf32>, tensor<2xf32>
  check.expect_close %0, %0, max_ulp_difference = 10, min_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  "check.expect_close"(%0, %0) {max_ulp_difference = 4 : ui64} : (tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}

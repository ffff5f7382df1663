// RUN: torchere-translate --interpret -split-input-file %s

func.func @small() {
  %x = stablehlo.constant dense<[0.0, 1.0, 1.0e-10]> : tensor<3xf64>
  %0 = stablehlo.exponential_minus_one %x : tensor<3xf64>
  check.expect_almost_eq_const %0, dense<[0.0, 1.718281828459045, 1.00000000005e-10]> : tensor<3xf64>
  func.return
}

// -----

func.func @digits() {
  %x = stablehlo.constant dense<1.0e-10> : tensor<f64>
  %0 = stablehlo.exponential_minus_one %x : tensor<f64>
  %y = stablehlo.constant dense<1.00000000005e-10> : tensor<f64>
  check.expect_close %0, %y, max_ulp_difference = 1 : tensor<f64>, tensor<f64>
  func.return
}

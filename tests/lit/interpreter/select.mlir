// RUN: torchere-translate --interpret -split-input-file %s

func.func @elements() {
  %p = stablehlo.constant dense<[[false, true], [true, false]]> : tensor<2x2xi1>
  %t = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %f = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
  %0 = stablehlo.select %p, %t, %f : tensor<2x2xi1>, tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[5, 2], [3, 8]]> : tensor<2x2xi32>
  func.return
}

// -----

func.func @scalar() {
  %p = stablehlo.constant dense<true> : tensor<i1>
  %t = stablehlo.constant dense<[1.5, 2.5]> : tensor<2xf32>
  %f = stablehlo.constant dense<[0.0, 0.0]> : tensor<2xf32>
  %0 = stablehlo.select %p, %t, %f : tensor<i1>, tensor<2xf32>
  check.expect_eq_const %0, dense<[1.5, 2.5]> : tensor<2xf32>
  func.return
}

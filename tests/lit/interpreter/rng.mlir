// RUN: torchere-translate --interpret -split-input-file %s

func.func @range() {
  %a = stablehlo.constant dense<-2.0> : tensor<f32>
  %b = stablehlo.constant dense<3.0> : tensor<f32>
  %n = stablehlo.constant dense<[1000]> : tensor<1xi64>
  %0 = stablehlo.rng %a, %b, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<1000xf32>
  %lo = stablehlo.reduce(%0 init: %b) applies stablehlo.minimum across dimensions = [0] : (tensor<1000xf32>, tensor<f32>) -> tensor<f32>
  %hi = stablehlo.reduce(%0 init: %a) applies stablehlo.maximum across dimensions = [0] : (tensor<1000xf32>, tensor<f32>) -> tensor<f32>
  check.expect_almost_eq_const %lo, dense<-2.0> : tensor<f32> {tolerance = 0.01 : f64}
  check.expect_almost_eq_const %hi, dense<3.0> : tensor<f32> {tolerance = 0.01 : f64}
  func.return
}

// -----

func.func @normal() {
  %a = stablehlo.constant dense<5.0> : tensor<f64>
  %b = stablehlo.constant dense<2.0> : tensor<f64>
  %n = stablehlo.constant dense<[10000]> : tensor<1xi64>
  %z = stablehlo.constant dense<0.0> : tensor<f64>
  %k = stablehlo.constant dense<10000.0> : tensor<f64>
  %0 = stablehlo.rng %a, %b, %n, distribution = NORMAL : (tensor<f64>, tensor<f64>, tensor<1xi64>) -> tensor<10000xf64>
  %s = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<10000xf64>, tensor<f64>) -> tensor<f64>
  %q = stablehlo.multiply %0, %0 : tensor<10000xf64>
  %t = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [0] : (tensor<10000xf64>, tensor<f64>) -> tensor<f64>
  %m = stablehlo.divide %s, %k : tensor<f64>
  %v = stablehlo.divide %t, %k : tensor<f64>
  check.expect_almost_eq_const %m, dense<5.0> : tensor<f64> {tolerance = 0.02 : f64}
  check.expect_almost_eq_const %v, dense<29.0> : tensor<f64> {tolerance = 0.02 : f64}
  func.return
}

// -----

func.func @integers() {
  %a = stablehlo.constant dense<-1> : tensor<i8>
  %b = stablehlo.constant dense<2> : tensor<i8>
  %n = stablehlo.constant dense<[300]> : tensor<1xi64>
  %z = stablehlo.constant dense<0> : tensor<i8>
  %0 = stablehlo.rng %a, %b, %n, distribution = UNIFORM : (tensor<i8>, tensor<i8>, tensor<1xi64>) -> tensor<300xi8>
  %lo = stablehlo.reduce(%0 init: %z) applies stablehlo.minimum across dimensions = [0] : (tensor<300xi8>, tensor<i8>) -> tensor<i8>
  %hi = stablehlo.reduce(%0 init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<300xi8>, tensor<i8>) -> tensor<i8>
  check.expect_eq_const %lo, dense<-1> : tensor<i8>
  check.expect_eq_const %hi, dense<1> : tensor<i8>
  func.return
}

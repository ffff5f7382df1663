// RUN: torchere-translate --interpret -split-input-file %s

func.func @rows() {
  %x = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5]]> : tensor<1x6xi64>
  %z = stablehlo.constant dense<0> : tensor<i64>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<1x6xi64>, tensor<i64>) -> tensor<1xi64>
  check.expect_eq_const %0, dense<[15]> : tensor<1xi64>
  func.return
}

// -----

func.func @empty() {
  %x = stablehlo.constant dense<> : tensor<0x2xf32>
  %z = stablehlo.constant dense<7.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<0x2xf32>, tensor<f32>) -> tensor<2xf32>
  check.expect_eq_const %0, dense<7.0> : tensor<2xf32>
  func.return
}

// -----

func.func @pairs() {
  %x = stablehlo.constant dense<[3, 9, 4]> : tensor<3xi32>
  %i = stablehlo.iota dim = 0 : tensor<3xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%x init: %z), (%i init: %z) across dimensions = [0] : (tensor<3xi32>, tensor<3xi32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
   reducer(%a: tensor<i32>, %b: tensor<i32>) (%c: tensor<i32>, %d: tensor<i32>) {
    %g = stablehlo.compare GE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %m = stablehlo.select %g, %a, %b : tensor<i1>, tensor<i32>
    %n = stablehlo.select %g, %c, %d : tensor<i1>, tensor<i32>
    stablehlo.return %m, %n : tensor<i32>, tensor<i32>
  }
  check.expect_eq_const %0#0, dense<9> : tensor<i32>
  check.expect_eq_const %0#1, dense<1> : tensor<i32>
  func.return
}

// -----

func.func @rounds_each_step() {
  %x = stablehlo.constant dense<[2048.0, 1.0, 1.0]> : tensor<3xf16>
  %z = stablehlo.constant dense<0.0> : tensor<f16>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<3xf16>, tensor<f16>) -> tensor<f16>
  check.expect_eq_const %0, dense<2048.0> : tensor<f16>
  func.return
}

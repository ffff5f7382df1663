// RUN: torchere-translate --interpret -split-input-file %s

func.func @dilated() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>
  %z = stablehlo.constant dense<0> : tensor<i64>
  %0 = "stablehlo.reduce_window"(%x, %z) <{base_dilations = array<i64: 2, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 3, 1>, window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>}> ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %s = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) : (tensor<3x2xi64>, tensor<i64>) -> tensor<2x2xi64>
  check.expect_eq_const %0, dense<[[0, 0], [3, 4]]> : tensor<2x2xi64>
  func.return
}

// -----

func.func @maximum() {
  %x = stablehlo.constant dense<[1.0, 4.0, 2.0, 3.0]> : tensor<4xf32>
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<2xf32>
  check.expect_eq_const %0, dense<[4.0, 3.0]> : tensor<2xf32>
  func.return
}

// -----

// Windows that begin with the axis, each with an element more; the subtraction tells in which order, and the initial
// value counts once.
func.func @running() {
  %x = stablehlo.constant dense<[[1, 2, 3], [10, 20, 40]]> : tensor<2x3xi64>
  %z = stablehlo.constant dense<100> : tensor<i64>
  %0 = "stablehlo.reduce_window"(%x, %z) <{padding = dense<[[0, 0], [2, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 3>}> ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %s = stablehlo.subtract %a, %b : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) : (tensor<2x3xi64>, tensor<i64>) -> tensor<2x3xi64>
  check.expect_eq_const %0, dense<[[99, 97, 94], [90, 70, 30]]> : tensor<2x3xi64>
  %1 = "stablehlo.reduce_window"(%x, %z) <{padding = dense<[[3, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 4, 1>}> ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %s = stablehlo.subtract %a, %b : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) : (tensor<2x3xi64>, tensor<i64>) -> tensor<2x3xi64>
  check.expect_eq_const %1, dense<[[99, 98, 97], [89, 78, 57]]> : tensor<2x3xi64>
  func.return
}

// -----

// Windows that end with the axis, and ones that are shorter than it.
func.func @almost_running() {
  %x = stablehlo.constant dense<[1, 2, 4]> : tensor<3xi64>
  %z = stablehlo.constant dense<100> : tensor<i64>
  %0 = "stablehlo.reduce_window"(%x, %z) <{padding = dense<[[0, 2]]> : tensor<1x2xi64>, window_dimensions = array<i64: 3>}> ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %s = stablehlo.subtract %a, %b : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  check.expect_eq_const %0, dense<[93, 94, 96]> : tensor<3xi64>
  %1 = "stablehlo.reduce_window"(%x, %z) <{padding = dense<[[1, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %s = stablehlo.subtract %a, %b : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  check.expect_eq_const %1, dense<[99, 97, 94]> : tensor<3xi64>
  func.return
}

// RUN: torchere-translate --interpret -split-input-file %s

func.func @left() {
  %a = stablehlo.constant dense<[[2.0, 0.0], [1.0, 4.0]]> : tensor<2x2xf64>
  %b = stablehlo.constant dense<[[2.0, 4.0], [5.0, 6.0]]> : tensor<2x2xf64>
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  check.expect_eq_const %0, dense<[[1.0, 2.0], [1.0, 1.0]]> : tensor<2x2xf64>
  func.return
}

// -----

func.func @transposed() {
  %a = stablehlo.constant dense<[[2.0, 0.0], [1.0, 4.0]]> : tensor<2x2xf64>
  %b = stablehlo.constant dense<[[3.0, 5.0], [4.0, 4.0]]> : tensor<2x2xf64>
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  check.expect_eq_const %0, dense<[[1.0, 2.0], [1.0, 1.0]]> : tensor<2x2xf64>
  func.return
}

// -----

func.func @right() {
  %a = stablehlo.constant dense<[[2.0, 0.0], [1.0, 4.0]]> : tensor<2x2xf64>
  %b = stablehlo.constant dense<[[4.0, 8.0], [3.0, 4.0]]> : tensor<2x2xf64>
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  check.expect_eq_const %0, dense<[[1.0, 2.0], [1.0, 1.0]]> : tensor<2x2xf64>
  func.return
}

// -----

func.func @unit() {
  %a = stablehlo.constant dense<[[2.0, 0.0], [1.0, 4.0]]> : tensor<2x2xf64>
  %b = stablehlo.constant dense<[[1.0, 2.0], [2.0, 3.0]]> : tensor<2x2xf64>
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  check.expect_eq_const %0, dense<[[1.0, 2.0], [1.0, 1.0]]> : tensor<2x2xf64>
  func.return
}

// -----

func.func @upper() {
  %a = stablehlo.constant dense<[[2.0, 1.0], [0.0, 4.0]]> : tensor<2x2xf64>
  %b = stablehlo.constant dense<[[3.0, 5.0], [4.0, 4.0]]> : tensor<2x2xf64>
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  check.expect_eq_const %0, dense<[[1.0, 2.0], [1.0, 1.0]]> : tensor<2x2xf64>
  func.return
}

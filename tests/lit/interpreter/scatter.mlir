// RUN: torchere-translate --interpret -split-input-file %s

func.func @adds() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %i = stablehlo.constant dense<[[0], [2], [0], [3]]> : tensor<4x1xi64>
  %u = stablehlo.constant dense<[[10, 20], [30, 40], [50, 60], [70, 80]]> : tensor<4x2xi32>
  // The last index is outside: its update is left out.
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<3x2xi32>, tensor<4x1xi64>, tensor<4x2xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %0, dense<[[61, 82], [3, 4], [35, 46]]> : tensor<3x2xi32>
  func.return
}

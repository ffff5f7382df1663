// RUN: not torchere-translate --interpret %s 2>&1 | FileCheck %s

// The slices have no elements, and the result has some: the formula's would be beside the operand.
// CHECK: error: [stablehlo.gather] slice size of dimension 0: got 0, expected it in [1, 3]
func.func @main() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %i = stablehlo.constant dense<3> : tensor<2x1xi64>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 0, 2>}> : (tensor<3x2xi32>, tensor<2x1xi64>) -> tensor<2x2xi32>
  func.return
}

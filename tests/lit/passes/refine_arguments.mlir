// RUN: torchere-opt %s -split-input-file --stablehlo-refine-arguments='types=tensor<2xf32>,tensor<i32>' | FileCheck %s
// RUN: not torchere-opt %s --stablehlo-refine-arguments='types=tensor<2xf32>' 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not torchere-opt %s --stablehlo-refine-arguments='types=tensor<2x2xf32>,tensor<i32>' 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not torchere-opt %s --stablehlo-refine-arguments='types=tensor<2xf32>,what' 2>&1 | FileCheck %s --check-prefix=TYPE

// COUNT: 'func.func' op has 2 arguments, got 1 types to refine them
// RANK: 'func.func' op argument 0: got 'tensor<2x2xf32>', expected a refinement of 'tensor<?xf32>'
// TYPE: option 'types' is not a list of types: got 'tensor<2xf32>,what'

// Uses keep seeing the old type, so that the module stays valid.
// CHECK-LABEL: func @main(%arg0: tensor<2xf32>, %arg1: tensor<i32>) -> tensor<?xf32>
// CHECK: %[[SHAPE:.*]] = stablehlo.constant dense<2> : tensor<1xi64>
// CHECK: %[[WRAPPED:.*]] = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%arg0, %[[SHAPE]]) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<2xf32>, tensor<1xi64>) -> tensor<?xf32>
// CHECK: return %[[WRAPPED]] : tensor<?xf32>
func.func @main(%arg0: tensor<?xf32>, %arg1: tensor<i32>) -> tensor<?xf32> {
  return %arg0 : tensor<?xf32>
}

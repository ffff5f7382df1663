// RUN: torchere-opt %s --chlo-legalize-to-stablehlo -split-input-file -verify-diagnostics

func.func @complex_bessel(%arg0: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{'chlo.bessel_i1e' op of complex numbers has no expansion to StableHLO}}
  %0 = chlo.bessel_i1e %arg0 : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  return
}

// -----

func.func @complex_top_k(%arg0: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{'chlo.top_k' op of complex numbers has no expansion to StableHLO: they have no order}}
  %0:2 = chlo.top_k(%arg0, k = 1) : tensor<2xcomplex<f32>> -> (tensor<1xcomplex<f32>>, tensor<1xi32>)
  return
}

// -----

func.func @unknown_scan(%arg0: tensor<?xf32>) {
  // expected-error@+1 {{'chlo.scan' op of tensors with unknown dimensions has no expansion to StableHLO}}
  %0 = chlo.scan(%arg0) inits() dimension=0 {
  ^bb0(%input: tensor<f32>):
    stablehlo.return %input : tensor<f32>
  } : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @unknown_ragged_dot(%arg0: tensor<?x5xf32>, %arg1: tensor<3x5x7xf32>, %arg2: tensor<3xi32>) {
  // expected-error@+1 {{'chlo.ragged_dot' op of tensors with unknown dimensions has no expansion to StableHLO}}
  %0 = "chlo.ragged_dot"(%arg0, %arg1, %arg2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<?x5xf32>, tensor<3x5x7xf32>, tensor<3xi32>) -> tensor<?x7xf32>
  return
}

// -----

func.func @next_after_of_six_bits(%arg0: tensor<2xf6E2M3FN>) {
  // expected-error@+1 {{'chlo.next_after' op of elements of type 'f6E2M3FN' has no expansion to StableHLO}}
  %0 = chlo.next_after %arg0, %arg0 : tensor<2xf6E2M3FN>, tensor<2xf6E2M3FN> -> tensor<2xf6E2M3FN>
  return
}

// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2xui64>, %arg1: tensor<3xui64>) {
  // CHECK: %output_state, %output = stablehlo.rng_bit_generator %arg0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x3xui32>)
  %output_state, %output = stablehlo.rng_bit_generator %arg0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x3xui32>)
  // CHECK: stablehlo.rng_bit_generator %arg1, algorithm = PHILOX {note = 1 : i64} : (tensor<3xui64>) -> (tensor<?xui64>, tensor<f64>)
  %output_state_0, %output_1 = stablehlo.rng_bit_generator %arg1, algorithm = PHILOX {note = 1 : i64} : (tensor<3xui64>) -> (tensor<?xui64>, tensor<f64>)
  // CHECK: stablehlo.rng_bit_generator %arg0, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<0xi8>)
  %output_state_2, %output_3 = "stablehlo.rng_bit_generator"(%arg0) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<0xi8>)
  return
}

// -----

// States that no algorithm has: upstream takes them, published artifacts have a scalar.
// CHECK-LABEL: func @states
func.func @states(%arg0: tensor<f32>, %arg1: tensor<3xui64>) {
  // CHECK: algorithm = THREE_FRY : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  %0:2 = stablehlo.rng_bit_generator %arg0, algorithm = THREE_FRY : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  // CHECK: algorithm = THREE_FRY : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2xui32>)
  %1:2 = stablehlo.rng_bit_generator %arg1, algorithm = THREE_FRY : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2xui32>)
  // CHECK: algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xi64>, tensor<2xui32>)
  %2:2 = stablehlo.rng_bit_generator %arg1, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xi64>, tensor<2xui32>)
  return
}

// -----

func.func @initial_state(%arg0: tensor<2xi1>) {
  // expected-error@+1 {{'stablehlo.rng_bit_generator' op operand #0 must be ranked tensor of integer or floating-point values, but got 'tensor<2xi1>'}}
  %0:2 = stablehlo.rng_bit_generator %arg0, algorithm = DEFAULT : (tensor<2xi1>) -> (tensor<2xi1>, tensor<2x3xui32>)
  return
}

// -----

func.func @output(%arg0: tensor<2xui64>) {
  // expected-error@+1 {{'stablehlo.rng_bit_generator' op result #1 must be statically shaped tensor of integer or floating-point values, but got 'tensor<2x?xui32>'}}
  %0:2 = stablehlo.rng_bit_generator %arg0, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x?xui32>)
  return
}

// -----

func.func @algorithm(%arg0: tensor<2xui64>) {
  // expected-error@+2 {{custom op 'stablehlo.rng_bit_generator' expected ::torchere::stablehlo::RngAlgorithm to be one of: DEFAULT, THREE_FRY, PHILOX}}
  // expected-error@+1 {{custom op 'stablehlo.rng_bit_generator' failed to parse StableHLO_RngAlgorithmAttr parameter 'value' which is to be a `::torchere::stablehlo::RngAlgorithm`}}
  %0:2 = stablehlo.rng_bit_generator %arg0, algorithm = DICE : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x3xui32>)
  return
}

// -----

func.func @c1(%arg0: tensor<2xui64>) {
  // expected-error@+1 {{'stablehlo.rng_bit_generator' op (C1) shapes of initial_state and output_state differ: got 'tensor<2xui64>' and 'tensor<3xui64>'}}
  %0:2 = stablehlo.rng_bit_generator %arg0, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<3xui64>, tensor<2x3xui32>)
  return
}

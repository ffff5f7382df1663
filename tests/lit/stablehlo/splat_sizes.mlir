// RUN: torchere-opt %s -split-input-file -verify-diagnostics

// A splat of a few bytes can say that there are any number of elements: no memory is spent on them.

func.func @pairs(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.collective_permute' op (C2) sources of source_target_pairs not unique: 0 occurs twice}}
  %0 = "stablehlo.collective_permute"(%arg0) <{source_target_pairs = dense<0> : tensor<4611686018427387903x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @one_pair(%arg0: tensor<2xf32>) {
  %0 = "stablehlo.collective_permute"(%arg0) <{source_target_pairs = dense<0> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @negative_pair(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.collective_permute' op (C4) source_target_pairs too small: got -1, expected at least 0}}
  %0 = "stablehlo.collective_permute"(%arg0) <{source_target_pairs = dense<-1> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @groups(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.collective_broadcast' op (C1) replica_groups not unique: 0 occurs twice}}
  %0 = "stablehlo.collective_broadcast"(%arg0) <{replica_groups = dense<0> : tensor<4611686018427387903x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @long_group(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.collective_broadcast' op (C1) replica_groups not unique: 3 occurs twice}}
  %0 = "stablehlo.collective_broadcast"(%arg0) <{replica_groups = dense<3> : tensor<1x9223372036854775807xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @layouts(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call' op operand_layouts has the wrong number of elements: got 9223372036854775807, expected 1}}
  %0 = stablehlo.custom_call @f(%arg0) {operand_layouts = [dense<0> : tensor<9223372036854775807xindex>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

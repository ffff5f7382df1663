// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<4x2xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f32>) {
  // CHECK: "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) <{padding = dense<{{\[\[}}0, 1], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>}> ({
  %0 = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) <{padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.compare GE, %arg3, %arg4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.add %arg3, %arg4 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {note = 1 : i64} : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return
}

// CHECK-LABEL: func @promotion
func.func @promotion(%arg0: tensor<?x2xf16>, %arg2: tensor<f16>) {
  // CHECK: "stablehlo.select_and_scatter"(%arg0, %arg0, %arg1) <{window_dimensions = array<i64: 1, 1>}> ({
  %0 = "stablehlo.select_and_scatter"(%arg0, %arg0, %arg2) ({
  ^bb0(%arg3: tensor<f16>, %arg4: tensor<f16>):
    %1 = stablehlo.compare GE, %arg3, %arg4 : (tensor<f16>, tensor<f16>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.add %arg3, %arg4 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {window_dimensions = array<i64: 1, 1>} : (tensor<?x2xf16>, tensor<?x2xf16>, tensor<f16>) -> tensor<?x2xf32>
  return
}

// -----

func.func @c1(%arg0: tensor<4x2xf32>, %arg1: tensor<2x2xf64>, %arg2: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.select_and_scatter' op (C1) element types of operand and source differ: got 'f32' and 'f64'}}
  %0 = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) <{padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.compare GE, %arg3, %arg4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    stablehlo.return %arg3 : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf64>, tensor<f32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @c2(%arg0: tensor<4x2xf32>, %arg1: tensor<3x2xf32>, %arg2: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.select_and_scatter' op (C2) source has the wrong shape: got 'tensor<3x2xf32>', expected 'tensor<2x2xf32>'}}
  %0 = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) <{padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.compare GE, %arg3, %arg4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    stablehlo.return %arg3 : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<3x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @c3(%arg0: tensor<4x2xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f64>) {
  // expected-error@+1 {{'stablehlo.select_and_scatter' op (C3) element types of operand and init_value differ: got 'f32' and 'f64'}}
  %0 = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) <{padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.compare GE, %arg3, %arg4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    stablehlo.return %arg3 : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f64>) -> tensor<4x2xf32>
  return
}

// -----

func.func @c4(%arg0: tensor<4x2xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.select_and_scatter' op (C4) window_dimensions has the wrong number of elements: got 1, expected 2}}
  %0 = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) <{padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3>, window_strides = array<i64: 2, 1>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.compare GE, %arg3, %arg4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    stablehlo.return %arg3 : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @c5(%arg0: tensor<4x2xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.select_and_scatter' op (C5) window_dimensions too small: got 0, expected at least 1}}
  %0 = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) <{padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 0>, window_strides = array<i64: 2, 1>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.compare GE, %arg3, %arg4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    stablehlo.return %arg3 : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @c6(%arg0: tensor<4x2xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.select_and_scatter' op (C6) window_strides has the wrong number of elements: got 1, expected 2}}
  %0 = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) <{padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.compare GE, %arg3, %arg4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    stablehlo.return %arg3 : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @c7(%arg0: tensor<4x2xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.select_and_scatter' op (C7) window_strides too small: got 0, expected at least 1}}
  %0 = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) <{padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 0>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.compare GE, %arg3, %arg4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    stablehlo.return %arg3 : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @c8(%arg0: tensor<4x2xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.select_and_scatter' op (C8) padding has the wrong shape: got 'tensor<1x2xi64>', expected tensor<2x2xi64>}}
  %0 = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) <{padding = dense<0> : tensor<1x2xi64>, window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.compare GE, %arg3, %arg4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    stablehlo.return %arg3 : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @c9_result(%arg0: tensor<4x2xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.select_and_scatter' op (C9) select has the wrong results: got ('tensor<f32>'), expected ('tensor<i1>')}}
  %0 = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) <{padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    stablehlo.return %arg3 : tensor<f32>
  }, {
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    stablehlo.return %arg3 : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @c9_arguments(%arg0: tensor<4x2xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.select_and_scatter' op (C9) select has the wrong arguments: got ('tensor<f64>', 'tensor<f64>'), expected ('tensor<f32>', 'tensor<f32>')}}
  %0 = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) <{padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>}> ({
  ^bb0(%arg3: tensor<f64>, %arg4: tensor<f64>):
    %1 = stablehlo.compare GE, %arg3, %arg4 : (tensor<f64>, tensor<f64>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    stablehlo.return %arg3 : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @c10(%arg0: tensor<4x2xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.select_and_scatter' op (C10) scatter returns 'tensor<f16>' for an input of element type 'f32', expected a scalar tensor of it or a wider one}}
  %0 = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) <{padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.compare GE, %arg3, %arg4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%arg3: tensor<f16>, %arg4: tensor<f16>):
    stablehlo.return %arg3 : tensor<f16>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @c11(%arg0: tensor<4x2xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.select_and_scatter' op inferred type(s) 'tensor<4x2xf32>' are incompatible with return type(s) of operation 'tensor<5x2xf32>'}}
  // expected-error@+1 {{'stablehlo.select_and_scatter' op failed to infer returned types}}
  %0 = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) <{padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.compare GE, %arg3, %arg4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    stablehlo.return %arg3 : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<5x2xf32>
  return
}

// -----

func.func @c12(%arg0: tensor<4x2xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<f32>) {
  // expected-error@+2 {{'stablehlo.select_and_scatter' op inferred type(s) 'tensor<4x2xf32>' are incompatible with return type(s) of operation 'tensor<4x2xf64>'}}
  // expected-error@+1 {{'stablehlo.select_and_scatter' op failed to infer returned types}}
  %0 = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) <{padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.compare GE, %arg3, %arg4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    stablehlo.return %arg3 : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf64>
  return
}

// -----

func.func @c2_overflow(%arg0: tensor<3xf32>, %arg1: tensor<?xf32>, %arg2: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.select_and_scatter' op (C2) the window has too many positions along dimension 0: more than 2^63 - 1}}
  %0 = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) <{padding = dense<9223372036854775807> : tensor<1x2xi64>, window_dimensions = array<i64: 1>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.compare GE, %arg3, %arg4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    stablehlo.return %arg3 : tensor<f32>
  }) : (tensor<3xf32>, tensor<?xf32>, tensor<f32>) -> tensor<3xf32>
  return
}

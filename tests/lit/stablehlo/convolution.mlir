// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>, %arg2: tensor<?x4x?x8xf32>, %arg3: tensor<16x2x3x3xf32>) {
  // CHECK: stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  // CHECK: stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = {{\[\[}}1, 1], [0, 2]], lhs_dilate = [2, 1], rhs_dilate = [1, 2], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x8x6x16xf32>
  %1 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[1, 1], [0, 2]], lhs_dilate = [2, 1], rhs_dilate = [1, 2], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x8x6x16xf32>
  // CHECK: stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGHEST>]} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  %2 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGHEST>]} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  // CHECK: stablehlo.convolution(%arg2, %arg3) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = {{\[\[}}1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<?x4x?x8xf32>, tensor<16x2x3x3xf32>) -> tensor<?x16x?x8xf32>
  %3 = stablehlo.convolution(%arg2, %arg3) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<?x4x?x8xf32>, tensor<16x2x3x3xf32>) -> tensor<?x16x?x8xf32>
  // CHECK: stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  %4 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {reverse = [1, 0]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  // CHECK: stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  %5 = "stablehlo.convolution"(%arg0, %arg1) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_output_feature_dimension = 3, kernel_input_feature_dimension = 2, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64}> : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @c1(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C1) ranks of lhs and rhs: got 'tensor<1x8x8x4xf32>' and 'tensor<3x4x16xf32>', expected the same of at least 2}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @c2(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C2) window_strides has the wrong number of elements: got 1, expected 2}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @c3(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C3) window_strides too small: got 0, expected at least 1}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [0, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @c4(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C4) padding has the wrong shape: got 'tensor<1x2xi64>', expected tensor<2x2xi64>}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @c5(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C5) lhs_dilation has the wrong number of elements: got 3, expected 2}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {lhs_dilate = [1, 1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @c6(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C6) lhs_dilation too small: got -1, expected at least 1}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {lhs_dilate = [1, -1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @c7(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C7) rhs_dilation has the wrong number of elements: got 1, expected 2}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @c8(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C8) rhs_dilation too small: got 0, expected at least 1}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {rhs_dilate = [0, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @c9(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C9) window_reversal has the wrong number of elements: got 1, expected 2}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @c10(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C10) size of the input batch dimension is not a multiple of batch_group_count: got 1 and 2}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @c11(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C11) size of the input feature dimension is not a multiple of feature_group_count: got 4 and 3}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @c12(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C12) input_spatial_dimensions has the wrong number of elements: got 1, expected 2}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @c14(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C14) size of the kernel input feature dimension: got 4, expected 2}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @c15(%arg0: tensor<3x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C15) size of the kernel output feature dimension is not a multiple of batch_group_count: got 16 and 3}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 3 : i64, feature_group_count = 1 : i64} : (tensor<3x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @c16(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x2x15xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C16) size of the kernel output feature dimension is not a multiple of feature_group_count: got 15 and 2}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x2x15xf32>) -> tensor<1x6x6x15xf32>
  return
}

// -----

func.func @c17(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C17) kernel_spatial_dimensions has the wrong number of elements: got 1, expected 2}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @c19(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C19) output_spatial_dimensions has the wrong number of elements: got 1, expected 2}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @c21(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op attribute 'feature_group_count' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 0 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @c22(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op attribute 'batch_group_count' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = -1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @c23(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C23) feature_group_count and batch_group_count both exceed 1: got 2 and 2}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 2 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @c24(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C24) precision_config has the wrong number of elements: got 1, expected 2}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>]} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @c25(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C25) result has the wrong shape: got 'tensor<1x6x7x16xf32>', expected 'tensor<1x6x6x16xf32>'}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x7x16xf32>
  return
}

// -----

func.func @c26(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C26) rank of the result: got 3, expected 4}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<6x6x16xf32>
  return
}

// -----

func.func @twice(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{window attribute 'stride' given twice}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], stride = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @role_twice(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{dimension 'b' given twice}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, b, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @role_missing(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{missing dimension 'f'}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, 2]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @role_unknown(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{expected 'b', 'f' or a spatial dimension, got 'x'}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, x, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @spatial_twice(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{spatial dimension 0 given twice}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 0, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @spatial_missing(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{missing spatial dimension 1}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 2, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @c27(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xbf16>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C27) element types of lhs and rhs differ: got 'f32' and 'bf16'}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xbf16>) -> tensor<1x6x6x16xf32>
  return
}

// -----

// CHECK-LABEL: func @quantized
func.func @quantized(%arg0: tensor<1x8x8x2x!quant.uniform<i8:f32, 0.5:30>>, %arg1: tensor<3x3x2x2x!quant.uniform<i8:f32:3, {0.5, 0.25}>>) {
  // CHECK: (tensor<1x8x8x2x!quant.uniform<i8:f32, 5.000000e-01:30>>, tensor<3x3x2x2x!quant.uniform<i8:f32:3, {5.000000e-01,2.500000e-01}>>) -> tensor<1x6x6x2x!quant.uniform<i8:f32:3, {5.000000e-01,2.500000e-01:1}>>
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2x!quant.uniform<i8:f32, 0.5:30>>, tensor<3x3x2x2x!quant.uniform<i8:f32:3, {0.5, 0.25}>>) -> tensor<1x6x6x2x!quant.uniform<i8:f32:3, {0.5, 0.25:1}>>
  return
}

// -----

func.func @c25_overflow(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C25) the window has too many positions along dimension 0: more than 2^63 - 1}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[9223372036854775807, 9223372036854775807], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x?x6x16xf32>
  return
}

// -----

// CHECK-LABEL: func @hybrid
func.func @hybrid(%arg0: tensor<1x8x8x2xf32>, %arg1: tensor<3x3x2x2x!quant.uniform<i8:f32, 0.5>>) {
  // CHECK: (tensor<1x8x8x2xf32>, tensor<3x3x2x2x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<1x6x6x2xf32>
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x6x6x2xf32>
  return
}

// -----

func.func @c28(%arg0: tensor<1x8x8x2x!quant.uniform<i8:f32, 0.5:30>>, %arg1: tensor<3x3x2x2xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C28) rhs is not quantized, or only one of lhs and result is: got '!quant.uniform<i8:f32, 5.000000e-01:30>', 'f32' and '!quant.uniform<i8:f32, 5.000000e-01:30>'}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2x!quant.uniform<i8:f32, 0.5:30>>, tensor<3x3x2x2xf32>) -> tensor<1x6x6x2x!quant.uniform<i8:f32, 0.5:30>>
  return
}

// -----

func.func @c29(%arg0: tensor<1x8x8x2x!quant.uniform<i8:f32, 0.5:30>>, %arg1: tensor<3x3x2x2x!quant.uniform<i8:f32:2, {0.5, 0.25:1}>>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C29) quantized dimension of rhs: got 2, expected 3, that of its output features}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2x!quant.uniform<i8:f32, 0.5:30>>, tensor<3x3x2x2x!quant.uniform<i8:f32:2, {0.5, 0.25:1}>>) -> tensor<1x6x6x2x!quant.uniform<i8:f32:3, {0.5, 0.25:1}>>
  return
}

// -----

func.func @c30(%arg0: tensor<1x8x8x2x!quant.uniform<i8:f32, 0.5:30>>, %arg1: tensor<3x3x2x2x!quant.uniform<i8:f32:3, {0.5, 0.25:1}>>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C30) quantized dimension of result: got 0, expected 3, that of its output features}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2x!quant.uniform<i8:f32, 0.5:30>>, tensor<3x3x2x2x!quant.uniform<i8:f32:3, {0.5, 0.25:1}>>) -> tensor<1x6x6x2x!quant.uniform<i8:f32:0, {0.5}>>
  return
}

// -----

func.func @c31(%arg0: tensor<1x8x8x2x!quant.uniform<i4:f32, 0.5>>, %arg1: tensor<3x3x2x2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C31) storage types of lhs and rhs differ: got '!quant.uniform<i4:f32, 5.000000e-01>', '!quant.uniform<i8:f32, 5.000000e-01>' and '!quant.uniform<i8:f32, 5.000000e-01:30>'}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2x!quant.uniform<i4:f32, 0.5>>, tensor<3x3x2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x6x6x2x!quant.uniform<i8:f32, 0.5:30>>
  return
}

// -----

func.func @c32(%arg0: tensor<1x8x8x2x!quant.uniform<i8:f32, 0.5:30>>, %arg1: tensor<3x3x2x2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C32) expressed types differ: got '!quant.uniform<i8:f32, 5.000000e-01:30>', '!quant.uniform<i8:f32, 5.000000e-01>' and '!quant.uniform<i8:f64, 5.000000e-01>'}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2x!quant.uniform<i8:f32, 0.5:30>>, tensor<3x3x2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x6x6x2x!quant.uniform<i8:f64, 0.5>>
  return
}

// -----

func.func @c33(%arg0: tensor<1x8x8x2x!quant.uniform<i8:f32, 0.5:30>>, %arg1: tensor<3x3x2x2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C33) result has scales per axis, and rhs has not: got '!quant.uniform<i8:f32, 5.000000e-01:30>', '!quant.uniform<i8:f32, 5.000000e-01>' and '!quant.uniform<i8:f32:3, {5.000000e-01,2.500000e-01:1}>'}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2x!quant.uniform<i8:f32, 0.5:30>>, tensor<3x3x2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x6x6x2x!quant.uniform<i8:f32:3, {0.5, 0.25:1}>>
  return
}

// -----

func.func @c34(%arg0: tensor<1x8x8x2xf64>, %arg1: tensor<3x3x2x2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@+1 {{'stablehlo.convolution' op (C34) lhs and result are not of rhs's expressed type: got 'f64', '!quant.uniform<i8:f32, 5.000000e-01>' and 'f64'}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf64>, tensor<3x3x2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x6x6x2xf64>
  return
}

// -----

func.func @empty_kernel(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x0x4x16xf32>) {
  // expected-error@+1 {{'stablehlo.convolution' op kernel's spatial size too small: got 0, expected at least 1}}
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x0x4x16xf32>) -> tensor<1x6x9x16xf32>
  return
}

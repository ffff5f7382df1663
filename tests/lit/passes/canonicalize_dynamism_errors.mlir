// RUN: torchere-opt %s -split-input-file -verify-diagnostics --stablehlo-canonicalize-dynamism

func.func @slice_out_of_range(%arg0: tensor<4xf32>) -> tensor<?xf32> {
  %one = stablehlo.constant dense<1> : tensor<1xi64>
  %nine = stablehlo.constant dense<9> : tensor<1xi64>
  // expected-error@+1 {{'stablehlo.slice' op (C3) range of dimension 0: got 1:9, expected 0 <= start <= limit <= 4}}
  %0 = stablehlo.real_dynamic_slice %arg0, %one, %nine, %one : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @negative_size(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  %shape = stablehlo.constant dense<-2> : tensor<1xi32>
  // expected-error@+1 {{'stablehlo.dynamic_reshape' op size in the computed shape too small: got -2, expected at least 0}}
  %0 = stablehlo.dynamic_reshape %arg0, %shape : (tensor<2xf32>, tensor<1xi32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

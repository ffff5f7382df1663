// RUN: torchere-translate --interpret -split-input-file %s

func.func @elements() {
  %a = stablehlo.constant dense<[5, 10, 15]> : tensor<3xi32>
  %x = stablehlo.constant dense<[3, 13, 23]> : tensor<3xi32>
  %b = stablehlo.constant dense<[10, 15, 20]> : tensor<3xi32>
  %0 = stablehlo.clamp %a, %x, %b : tensor<3xi32>
  check.expect_eq_const %0, dense<[5, 13, 20]> : tensor<3xi32>
  func.return
}

// -----

func.func @scalars() {
  %a = stablehlo.constant dense<0.0> : tensor<f32>
  %x = stablehlo.constant dense<[-1.0, 0.5, 2.0, 0x7FC00000]> : tensor<4xf32>
  %b = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.clamp %a, %x, %b : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  check.expect_eq_const %0, dense<[0.0, 0.5, 1.0, 0x7FC00000]> : tensor<4xf32>
  func.return
}

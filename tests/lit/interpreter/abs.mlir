// RUN: torchere-translate --interpret -split-input-file %s

func.func @signed() {
  %x = stablehlo.constant dense<[-3, 0, 7, -128]> : tensor<4xi8>
  %0 = stablehlo.abs %x : tensor<4xi8>
  check.expect_eq_const %0, dense<[3, 0, 7, -128]> : tensor<4xi8>
  func.return
}

// -----

func.func @floats() {
  %x = stablehlo.constant dense<[-2.5, -0.0, 0xFF800000, 0x7FC00000]> : tensor<4xf32>
  %0 = stablehlo.abs %x : tensor<4xf32>
  check.expect_eq_const %0, dense<[2.5, 0.0, 0x7F800000, 0x7FC00000]> : tensor<4xf32>
  func.return
}

// -----

func.func @complex() {
  %x = stablehlo.constant dense<[(3.0, 4.0), (0.0, -2.0)]> : tensor<2xcomplex<f32>>
  %0 = stablehlo.abs %x : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  check.expect_eq_const %0, dense<[5.0, 2.0]> : tensor<2xf32>
  func.return
}

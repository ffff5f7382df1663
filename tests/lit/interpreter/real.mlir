// RUN: torchere-translate --interpret -split-input-file %s

func.func @part() {
  %x = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>
  %0 = stablehlo.real %x : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  check.expect_eq_const %0, dense<[1.0, 3.0]> : tensor<2xf32>
  func.return
}

// RUN: torchere-translate --interpret -split-input-file %s

func.func @parts() {
  %r = stablehlo.constant dense<[1.0, 3.0]> : tensor<2xf64>
  %i = stablehlo.constant dense<[2.0, 4.0]> : tensor<2xf64>
  %0 = stablehlo.complex %r, %i : tensor<2xcomplex<f64>>
  check.expect_eq_const %0, dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f64>>
  func.return
}

// RUN: torchere-translate --interpret -split-input-file %s

func.func @forward() {
  %x = stablehlo.constant dense<[(1.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)]> : tensor<4xcomplex<f32>>
  %0 = stablehlo.fft %x, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  check.expect_almost_eq_const %0, dense<(1.0, 0.0)> : tensor<4xcomplex<f32>>
  %1 = stablehlo.fft %0, type = IFFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  check.expect_almost_eq %1, %x : tensor<4xcomplex<f32>>
  func.return
}

// -----

func.func @odd() {
  %x = stablehlo.constant dense<[(1.0, 0.0), (2.0, 0.0), (4.0, 0.0)]> : tensor<3xcomplex<f64>>
  %0 = stablehlo.fft %x, type = FFT, length = [3] : (tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
  check.expect_almost_eq_const %0, dense<[(7.0, 0.0), (-2.0, 1.7320508075688772), (-2.0, -1.7320508075688772)]> : tensor<3xcomplex<f64>>
  func.return
}

// -----

func.func @real() {
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<2x4xf32>
  %0 = stablehlo.fft %x, type = RFFT, length = [4] : (tensor<2x4xf32>) -> tensor<2x3xcomplex<f32>>
  check.expect_almost_eq_const %0, dense<[[(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0)], [(0.0, 0.0), (0.0, 0.0), (0.0, 0.0)]]> : tensor<2x3xcomplex<f32>>
  %1 = stablehlo.fft %0, type = IRFFT, length = [4] : (tensor<2x3xcomplex<f32>>) -> tensor<2x4xf32>
  check.expect_almost_eq %1, %x : tensor<2x4xf32>
  %2 = stablehlo.fft %x, type = RFFT, length = [2, 4] : (tensor<2x4xf32>) -> tensor<2x3xcomplex<f32>>
  check.expect_almost_eq_const %2, dense<[[(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0)], [(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0)]]> : tensor<2x3xcomplex<f32>>
  %3 = stablehlo.fft %2, type = IRFFT, length = [2, 4] : (tensor<2x3xcomplex<f32>>) -> tensor<2x4xf32>
  check.expect_almost_eq %3, %x : tensor<2x4xf32>
  func.return
}

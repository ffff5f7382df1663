// RUN: torchere-translate --interpret -split-input-file %s

func.func @batched() {
  %l = stablehlo.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi64>
  %r = stablehlo.constant dense<[[[1, 0], [0, 1]], [[1, 0], [0, 1]]]> : tensor<2x2x2xi64>
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x2x2xi64>, tensor<2x2x2xi64>) -> tensor<2x2x2xi64>
  check.expect_eq_const %0, dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi64>
  func.return
}

// -----

func.func @widens() {
  %l = stablehlo.constant dense<[[100, 100]]> : tensor<1x2xi8>
  %r = stablehlo.constant dense<[[100], [100]]> : tensor<2x1xi8>
  %0 = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0] : (tensor<1x2xi8>, tensor<2x1xi8>) -> tensor<1x1xi32>
  check.expect_eq_const %0, dense<20000> : tensor<1x1xi32>
  func.return
}

// -----

func.func @complex() {
  %l = stablehlo.constant dense<[(1.0, 2.0), (0.0, 1.0)]> : tensor<2xcomplex<f32>>
  %r = stablehlo.constant dense<[(3.0, -1.0), (0.0, 1.0)]> : tensor<2xcomplex<f32>>
  %0 = stablehlo.dot_general %l, %r, contracting_dims = [0] x [0] : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<complex<f32>>
  check.expect_eq_const %0, dense<(4.0, 5.0)> : tensor<complex<f32>>
  func.return
}

// -----

func.func @bools() {
  %l = stablehlo.constant dense<[[true, false], [false, false]]> : tensor<2x2xi1>
  %r = stablehlo.constant dense<[[true, true], [true, true]]> : tensor<2x2xi1>
  %0 = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0] : (tensor<2x2xi1>, tensor<2x2xi1>) -> tensor<2x2xi1>
  check.expect_eq_const %0, dense<[[true, true], [false, false]]> : tensor<2x2xi1>
  func.return
}

// -----

// Each side is converted to the result's kind of numbers.
func.func @mixed() {
  %a = stablehlo.constant dense<[[0.5, 2.0]]> : tensor<1x2xbf16>
  %b = stablehlo.constant dense<[[3], [-4]]> : tensor<2x1xi8>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1x2xbf16>, tensor<2x1xi8>) -> tensor<1x1xf32>
  check.expect_eq_const %0, dense<-6.5> : tensor<1x1xf32>
  func.return
}

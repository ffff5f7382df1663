// RUN: torchere-translate --interpret -split-input-file %s

func.func @up() {
  %x = stablehlo.constant dense<[-0.8166, -0.2530, 0.2530, 2.0, 0x7F800000]> : tensor<5xf32>
  %0 = stablehlo.ceil %x : tensor<5xf32>
  check.expect_eq_const %0, dense<[-0.0, -0.0, 1.0, 2.0, 0x7F800000]> : tensor<5xf32>
  func.return
}

// -----

func.func @halves() {
  %x = stablehlo.constant dense<[1.5, -1.5, 0.0]> : tensor<3xbf16>
  %0 = stablehlo.ceil %x : tensor<3xbf16>
  check.expect_eq_const %0, dense<[2.0, -1.0, 0.0]> : tensor<3xbf16>
  func.return
}

// RUN: torchere-translate --interpret -split-input-file %s

func.func @half() {
  %x = stablehlo.constant dense<[65519.0, 65520.0, 6.10351563E-5, 3.05175781E-5, 1.00048828, 1.00146484, 0x7FC00000]> : tensor<7xf32>
  %0 = stablehlo.reduce_precision %x, format = e5m10 : tensor<7xf32>
  check.expect_eq_const %0, dense<[65504.0, 0x7F800000, 6.10351563E-5, 0.0, 1.0, 1.00195313, 0x7FC00000]> : tensor<7xf32>
  func.return
}

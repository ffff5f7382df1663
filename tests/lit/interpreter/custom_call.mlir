// RUN: torchere-translate --interpret -split-input-file %s

func.func @checks() {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  stablehlo.custom_call @check.expect_close(%x, %x) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  stablehlo.custom_call @check.expect_eq(%x, %x) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}

// -----

// The result of check.eq is true: where it does not hold, the program ends.
// CHECK-LABEL: tensor<i1>
// CHECK-NEXT: true
func.func @eq() -> tensor<i1> {
  %a = stablehlo.constant dense<[1.0, 0x7FC00000, 0x7F800000]> : tensor<3xf32>
  %b = stablehlo.constant dense<[1.00005, 0x7FC00000, 0x7F800000]> : tensor<3xf32>
  %0 = stablehlo.custom_call @check.eq(%a, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<i1>
  func.return %0 : tensor<i1>
}

// -----

func.func @eq_of_other_types() {
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi8>
  %0 = stablehlo.custom_call @check.eq(%a, %a) : (tensor<2xi8>, tensor<2xi8>) -> tensor<i1>
  %b = stablehlo.constant dense<true> : tensor<i1>
  %1 = stablehlo.custom_call @check.eq(%b, %b) : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %c = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f32>>
  %d = stablehlo.constant dense<(1.00005, 1.99995)> : tensor<complex<f32>>
  %2 = stablehlo.custom_call @check.eq(%c, %d) : (tensor<complex<f32>>, tensor<complex<f32>>) -> tensor<i1>
  func.return
}

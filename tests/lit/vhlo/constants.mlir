// RUN: torchere-translate --serialize --target=1.16.0 %s | torchere-translate --deserialize | FileCheck %s

// CHECK-LABEL: func @booleans
func.func @booleans() {
  // CHECK: dense<true> : tensor<i1>
  %0 = stablehlo.constant dense<true> : tensor<i1>
  // CHECK: dense<false> : tensor<1xi1>
  %1 = stablehlo.constant dense<false> : tensor<1xi1>
  // CHECK: dense<[true, false]> : tensor<2xi1>
  %2 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  // CHECK: dense<[true, false, true, true, false, false, true]> : tensor<7xi1>
  %3 = stablehlo.constant dense<[true, false, true, true, false, false, true]> : tensor<7xi1>
  // CHECK: dense<[false, false, true, true, false, false, true, true]> : tensor<8xi1>
  %4 = stablehlo.constant dense<[false, false, true, true, false, false, true, true]> : tensor<8xi1>
  // CHECK: dense<[false, false, true, true, false, false, true, true, true]> : tensor<9xi1>
  %5 = stablehlo.constant dense<[false, false, true, true, false, false, true, true, true]> : tensor<9xi1>
  // CHECK: dense<true> : tensor<9xi1>
  %6 = stablehlo.constant dense<true> : tensor<9xi1>
  // CHECK: dense<> : tensor<0x2xi1>
  %7 = stablehlo.constant dense<> : tensor<0x2xi1>
  return
}

// CHECK-LABEL: func @numbers
func.func @numbers() {
  // CHECK: dense<[-8, 7, 3]> : tensor<3xi4>
  %0 = stablehlo.constant dense<[-8, 7, 3]> : tensor<3xi4>
  // CHECK: dense<[0, 15, 3]> : tensor<3xui4>
  %1 = stablehlo.constant dense<[0, 15, 3]> : tensor<3xui4>
  // CHECK: dense<[-2, 1]> : tensor<2xi2>
  %2 = stablehlo.constant dense<[-2, 1]> : tensor<2xi2>
  // CHECK: dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf8E4M3FN>
  %3 = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf8E4M3FN>
  // CHECK: dense<[1.000000e+00, -5.000000e-01]> : tensor<2xf4E2M1FN>
  %4 = stablehlo.constant dense<[1.0, -0.5]> : tensor<2xf4E2M1FN>
  // CHECK: dense<[1.000000e+00, 0x7FC0]> : tensor<2xbf16>
  %5 = stablehlo.constant dense<[1.0, 0x7FC0]> : tensor<2xbf16>
  // CHECK: dense<[(1.000000e+00,2.000000e+00), (3.000000e+00,-0.000000e+00)]> : tensor<2xcomplex<f32>>
  %6 = stablehlo.constant dense<[(1.0, 2.0), (3.0, -0.0)]> : tensor<2xcomplex<f32>>
  // CHECK: dense<-9223372036854775808> : tensor<1000xi64>
  %7 = stablehlo.constant dense<-9223372036854775808> : tensor<1000xi64>
  // CHECK: dense<[18446744073709551615, 0]> : tensor<2xui64>
  %8 = stablehlo.constant dense<[18446744073709551615, 0]> : tensor<2xui64>
  return
}

// RUN: torchere-translate --interpret -split-input-file %s

func.func @philox() {
  // The numbers here and below are what XLA's CPU plugin gives.
  %s = stablehlo.constant dense<[9223372036854775813, 18446744073709551614, 7]> : tensor<3xui64>
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<5xui32>)
  check.expect_eq_const %0, dense<[9223372036854775813, 0, 8]> : tensor<3xui64>
  check.expect_eq_const %1, dense<[3630461045, 1721259390, 2559049361, 2649838020, 1068096479]> : tensor<5xui32>
  func.return
}

// -----

func.func @philox_64() {
  %s = stablehlo.constant dense<[9223372036854775813, 18446744073709551614, 7]> : tensor<3xui64>
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<3xui64>)
  check.expect_eq_const %0, dense<[9223372036854775813, 0, 8]> : tensor<3xui64>
  check.expect_eq_const %1, dense<[7392752791613370485, 11380967638156443281, 117692924001115103]> : tensor<3xui64>
  func.return
}

// -----

func.func @philox_short_state() {
  %s = stablehlo.constant dense<[9223372036854775813, 18446744073709551614]> : tensor<2xui64>
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
  check.expect_eq_const %0, dense<[9223372036854775813, 0]> : tensor<2xui64>
  check.expect_eq_const %1, dense<[911437490, 932094173, 4121853611, 1078865787, 3729030871]> : tensor<5xui32>
  func.return
}

// -----

func.func @philox_bytes() {
  %s = stablehlo.constant dense<[9223372036854775813, 18446744073709551614, 7]> : tensor<3xui64>
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2x3xui8>)
  check.expect_eq_const %0, dense<[9223372036854775813, 0, 8]> : tensor<3xui64>
  check.expect_eq_const %1, dense<[[117, 126, 145], [196, 223, 23]]> : tensor<2x3xui8>
  func.return
}

// -----

func.func @three_fry() {
  %s = stablehlo.constant dense<[9223372036854775813, 18446744073709551614]> : tensor<2xui64>
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
  check.expect_eq_const %0, dense<[9223372036854775813, 1]> : tensor<2xui64>
  check.expect_eq_const %1, dense<[3331914273, 3936478428, 345986348, 3545832757, 1337340255]> : tensor<5xui32>
  func.return
}

// -----

func.func @three_fry_64() {
  %s = stablehlo.constant dense<[9223372036854775813, 18446744073709551614]> : tensor<2xui64>
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui64>)
  check.expect_eq_const %0, dense<[9223372036854775813, 1]> : tensor<2xui64>
  check.expect_eq_const %1, dense<[16907046113001404961, 15229235728746501420, 3607819637178642783]> : tensor<3xui64>
  func.return
}

// -----

func.func @three_fry_bytes() {
  %s = stablehlo.constant dense<[9223372036854775813, 18446744073709551614]> : tensor<2xui64>
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x3xui8>)
  check.expect_eq_const %0, dense<[9223372036854775813, 1]> : tensor<2xui64>
  check.expect_eq_const %1, dense<[[33, 44, 95], [220, 53, 216]]> : tensor<2x3xui8>
  func.return
}

// -----

func.func @three_fry_scalar() {
  %s = stablehlo.constant dense<[9223372036854775813, 18446744073709551614]> : tensor<2xui64>
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui16>)
  check.expect_eq_const %0, dense<[9223372036854775813, 18446744073709551615]> : tensor<2xui64>
  check.expect_eq_const %1, dense<64033> : tensor<ui16>
  func.return
}

// RUN: torchere-opt %s --stablehlo-target-independent-optimization | FileCheck %s

// CHECK-LABEL: func @known_branch
// CHECK-NEXT: %[[ABS:.*]] = stablehlo.abs %arg0
// CHECK-NEXT: %[[NEGATED:.*]] = stablehlo.negate %arg0
// CHECK-NEXT: return %[[ABS]], %[[NEGATED]]
func.func @known_branch(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %0 = "stablehlo.if"(%true) ({
    %1 = stablehlo.abs %x : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }, {
    %1 = stablehlo.floor %x : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %2 = "stablehlo.case"(%seven) ({
    stablehlo.return %x : tensor<f32>
  }, {
    %3 = stablehlo.negate %x : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  return %0, %2 : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func @unknown_branch
// CHECK: "stablehlo.if"
func.func @unknown_branch(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.abs %x : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func @loops
// CHECK-NEXT: %[[ENDLESS:.*]] = stablehlo.while
// CHECK: return %arg0, %[[ENDLESS]]
func.func @loops(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0 = stablehlo.while(%i = %x) : tensor<f32> cond {
    %false = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.return %false : tensor<i1>
  } do {
    %1 = stablehlo.abs %i : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }
  %2 = stablehlo.while(%i = %x) : tensor<f32> cond {
    %true = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %true : tensor<i1>
  } do {
    stablehlo.return %i : tensor<f32>
  }
  return %0, %2 : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func @wrapped
// CHECK-NEXT: return %arg0, %arg1, %arg2, %arg1
func.func @wrapped(%x: tensor<f32>, %y: tensor<f32>, %c: tensor<complex<f32>>) -> (tensor<f32>, tensor<f32>, tensor<complex<f32>>, tensor<f32>) {
  %0 = stablehlo.complex %x, %y : tensor<complex<f32>>
  %1 = stablehlo.real %0 : (tensor<complex<f32>>) -> tensor<f32>
  %2 = stablehlo.imag %0 : (tensor<complex<f32>>) -> tensor<f32>
  %3 = stablehlo.real %c : (tensor<complex<f32>>) -> tensor<f32>
  %4 = stablehlo.imag %c : (tensor<complex<f32>>) -> tensor<f32>
  %5 = stablehlo.complex %3, %4 : tensor<complex<f32>>
  %6 = stablehlo.tuple %x, %y : tuple<tensor<f32>, tensor<f32>>
  %7 = stablehlo.get_tuple_element %6[1] : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>
  return %1, %2, %5, %7 : tensor<f32>, tensor<f32>, tensor<complex<f32>>, tensor<f32>
}

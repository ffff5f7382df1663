// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @types
func.func @types(%arg0: tensor<2x3xcomplex<f32>>, %arg1: tensor<5x8xf64>, %arg2: tensor<?x?xcomplex<f32>>) {
  // CHECK: stablehlo.fft %arg0, type = FFT, length = [2, 3] : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
  %0 = stablehlo.fft %arg0, type = FFT, length = [2, 3] : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
  // CHECK: stablehlo.fft %arg0, type = IFFT, length = [3] {note = 1 : i64} : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
  %1 = stablehlo.fft %arg0, type = IFFT, length = [3] {note = 1 : i64} : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
  // CHECK: stablehlo.fft %arg1, type = RFFT, length = [8] : (tensor<5x8xf64>) -> tensor<5x5xcomplex<f64>>
  %2 = stablehlo.fft %arg1, type = RFFT, length = [8] : (tensor<5x8xf64>) -> tensor<5x5xcomplex<f64>>
  // CHECK: stablehlo.fft %arg0, type = IRFFT, length = [2, 5] : (tensor<2x3xcomplex<f32>>) -> tensor<2x5xf32>
  %3 = "stablehlo.fft"(%arg0) {fft_type = #stablehlo<fft_type IRFFT>, fft_length = array<i64: 2, 5>} : (tensor<2x3xcomplex<f32>>) -> tensor<2x5xf32>
  // CHECK: stablehlo.fft %arg2, type = IRFFT, length = [0] : (tensor<?x?xcomplex<f32>>) -> tensor<2x0xf32>
  %4 = stablehlo.fft %arg2, type = IRFFT, length = [0] : (tensor<?x?xcomplex<f32>>) -> tensor<2x0xf32>
  return
}

// -----

func.func @element_type(%arg0: tensor<2xi32>) {
  // expected-error@+1 {{'stablehlo.fft' op operand #0 must be ranked tensor of floating-point or complex values, but got 'tensor<2xi32>'}}
  %0 = stablehlo.fft %arg0, type = FFT, length = [2] : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @c1(%arg0: tensor<3xcomplex<f32>>) {
  // expected-error@+2 {{'stablehlo.fft' op (C1) fft_length has more elements than the operand has dimensions: got 2 and 1}}
  // expected-error@+1 {{'stablehlo.fft' op failed to infer returned types}}
  %0 = stablehlo.fft %arg0, type = FFT, length = [1, 3] : (tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  return
}

// -----

func.func @c2_fft(%arg0: tensor<3xf32>) {
  // expected-error@+2 {{'stablehlo.fft' op (C2) elements of the operand of FFT: got 'f32', expected a complex type}}
  // expected-error@+1 {{'stablehlo.fft' op failed to infer returned types}}
  %0 = stablehlo.fft %arg0, type = FFT, length = [3] : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @c2_rfft(%arg0: tensor<3xcomplex<f32>>) {
  // expected-error@+2 {{'stablehlo.fft' op (C2) elements of the operand of RFFT: got 'complex<f32>', expected f32 or f64}}
  // expected-error@+1 {{'stablehlo.fft' op failed to infer returned types}}
  %0 = stablehlo.fft %arg0, type = RFFT, length = [3] : (tensor<3xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return
}

// -----

func.func @c2_rfft_bf16(%arg0: tensor<3xbf16>) {
  // expected-error@+2 {{'stablehlo.fft' op (C2) elements of the operand of RFFT: got 'bf16', expected f32 or f64}}
  // expected-error@+1 {{'stablehlo.fft' op failed to infer returned types}}
  %0 = stablehlo.fft %arg0, type = RFFT, length = [3] : (tensor<3xbf16>) -> tensor<2xcomplex<f32>>
  return
}

// -----

func.func @c2_result(%arg0: tensor<3xcomplex<f32>>) {
  // expected-error@+2 {{'stablehlo.fft' op inferred type(s) 'tensor<5xf32>' are incompatible with return type(s) of operation 'tensor<5xf64>'}}
  // expected-error@+1 {{'stablehlo.fft' op failed to infer returned types}}
  %0 = stablehlo.fft %arg0, type = IRFFT, length = [5] : (tensor<3xcomplex<f32>>) -> tensor<5xf64>
  return
}

// -----

func.func @c3(%arg0: tensor<3xcomplex<f32>>) {
  // expected-error@+2 {{'stablehlo.fft' op (C3) number of elements of fft_length: got 0, expected it in [1, 3]}}
  // expected-error@+1 {{'stablehlo.fft' op failed to infer returned types}}
  %0 = stablehlo.fft %arg0, type = FFT, length = [] : (tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  return
}

// -----

func.func @c4_rfft(%arg0: tensor<2x3xf32>) {
  // expected-error@+2 {{'stablehlo.fft' op (C4) last dimensions of the real tensor: got 'tensor<2x3xf32>', expected the sizes [2, 4]}}
  // expected-error@+1 {{'stablehlo.fft' op failed to infer returned types}}
  %0 = stablehlo.fft %arg0, type = RFFT, length = [2, 4] : (tensor<2x3xf32>) -> tensor<2x2xcomplex<f32>>
  return
}

// -----

func.func @c4_irfft(%arg0: tensor<2x3xcomplex<f32>>) {
  // expected-error@+2 {{'stablehlo.fft' op (C4) last dimensions of the real tensor: got 'tensor<2x3xcomplex<f32>>', expected the sizes [3, 5]}}
  // expected-error@+1 {{'stablehlo.fft' op failed to infer returned types}}
  %0 = stablehlo.fft %arg0, type = IRFFT, length = [3, 5] : (tensor<2x3xcomplex<f32>>) -> tensor<2x5xf32>
  return
}

// -----

func.func @c4_negative(%arg0: tensor<?xf32>) {
  // expected-error@+2 {{'stablehlo.fft' op (C4) fft_length too small: got -3, expected at least 0}}
  // expected-error@+1 {{'stablehlo.fft' op failed to infer returned types}}
  %0 = stablehlo.fft %arg0, type = RFFT, length = [-3] : (tensor<?xf32>) -> tensor<?xcomplex<f32>>
  return
}

// -----

func.func @c5_operand(%arg0: tensor<3xcomplex<f32>>) {
  // expected-error@+2 {{'stablehlo.fft' op (C5) size of the operand's last dimension: got 3, expected 4}}
  // expected-error@+1 {{'stablehlo.fft' op failed to infer returned types}}
  %0 = stablehlo.fft %arg0, type = IRFFT, length = [6] : (tensor<3xcomplex<f32>>) -> tensor<6xf32>
  return
}

// -----

func.func @c5_result(%arg0: tensor<8xf32>) {
  // expected-error@+2 {{'stablehlo.fft' op inferred type(s) 'tensor<5xcomplex<f32>>' are incompatible with return type(s) of operation 'tensor<4xcomplex<f32>>'}}
  // expected-error@+1 {{'stablehlo.fft' op failed to infer returned types}}
  %0 = stablehlo.fft %arg0, type = RFFT, length = [8] : (tensor<8xf32>) -> tensor<4xcomplex<f32>>
  return
}

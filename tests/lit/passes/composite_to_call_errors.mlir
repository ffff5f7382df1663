// RUN: torchere-opt %s --stablehlo-legalize-composite-to-call -verify-diagnostics

func.func @with_regions(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{'stablehlo.composite' op has regions, which a call of @made_of cannot pass}}
  %0 = stablehlo.composite "lib.map" %x ({
    stablehlo.return %x : tensor<2xf32>
  }) {decomposition = @made_of} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

func.func private @made_of(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

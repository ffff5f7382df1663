// RUN: torchere-translate --interpret -split-input-file %s

// The processes take what is fed in turn; outfeed's values are not looked at.
module {
  func.func @first() -> (tensor<2xi64>) {
    %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    return %0 : tensor<2xi64>
  }
  func.func @second() -> (tensor<2xi64>) {
    %0 = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
    return %0 : tensor<2xi64>
  }
  func.func @program(%token: !stablehlo.token) -> tensor<2xi64> {
    %0:2 = "stablehlo.infeed"(%token) <{infeed_config = ""}> : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
    %1 = "stablehlo.outfeed"(%0#0, %0#1) <{outfeed_config = ""}> : (tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
    return %0#0 : tensor<2xi64>
  }
  func.func @main() {
    %token = stablehlo.create_token : !stablehlo.token
    %r:2 = "interpreter.run_parallel"(%token, %token) <{programs = [[@program], [@program]], infeed = [@first, @second]}> : (!stablehlo.token, !stablehlo.token) -> (tensor<2xi64>, tensor<2xi64>)
    check.expect_eq_const %r#0, dense<[1, 2]> : tensor<2xi64>
    check.expect_eq_const %r#1, dense<[3, 4]> : tensor<2xi64>
    return
  }
}

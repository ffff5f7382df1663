// RUN: torchere-translate --interpret -split-input-file %s

func.func @tokens() {
  %a = stablehlo.create_token : !stablehlo.token
  %b = stablehlo.after_all %a, %a : !stablehlo.token
  %c = stablehlo.after_all : !stablehlo.token
  func.return
}

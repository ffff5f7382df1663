// Implements the printing of types and attributes.
#include "stablehlo/text_of.h"

#include "llvm/Support/raw_ostream.h"

namespace torchere::stablehlo {

template <class T> static std::string printed(T value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

std::string textOf(mlir::Type type) {
  return printed(type);
}

std::string textOf(mlir::Attribute attribute) {
  return printed(attribute);
}

} // namespace torchere::stablehlo

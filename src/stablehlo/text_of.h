// What MLIR holds, as the text that it prints.
#pragma once

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Types.h"

#include <string>

namespace torchere::stablehlo {

std::string textOf(mlir::Type type);
std::string textOf(mlir::Attribute attribute);

} // namespace torchere::stablehlo

// TextFunctions: StableHLO that the user gives as text, as private functions of the module.
#pragma once

#include "exporter/composite.h"
#include "lowering/context.h"
#include "program/program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <string>
#include <vector>

namespace torchere::exporter {

/// The op that stands for a call of the text: (Tensor[] args, str op, str text) -> Tensor[].
inline constexpr std::string_view textOp = "torchere.stablehlo_text.default";

class TextFunctions {
public:
  explicit TextFunctions(Composites &names) : names(names) {}

  /// Calls the function of a text, which is parsed, verified and compared with the types of the call; texts
  /// that are equal become one function. Errors name `op`.
  Result<lowering::Values> call(lowering::Context &cx, const std::string &op, const std::string &text,
                                const lowering::Values &operands,
                                const std::vector<lowering::TensorType> &results);
  /// The same of a call of `textOp`.
  Result<lowering::Values> call(lowering::Context &cx, const std::vector<lowering::GivenArgument> &arguments,
                                const std::vector<lowering::TensorType> &results);

private:
  Result<mlir::func::FuncOp> import(const std::string &op, const std::string &text);

  Composites &names;
  std::map<std::pair<std::string, std::string>, mlir::func::FuncOp> functions; ///< by op and text
};

} // namespace torchere::exporter

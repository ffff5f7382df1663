// Model: what of a bundle a SavedModel consists of: variables, and functions of tensors that read and write
// them.
#pragma once

#include "artifact/bundle.h"
#include "artifact/saved_model/tensor_type.h"
#include "program/entry_point.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace torchere::artifact::saved_model {

/// A weight, under the first of its names where it is tied, or a constant.
struct Variable {
  std::string name; ///< as TensorFlow may have it
  TensorType type;
  const program::Weight *weight = nullptr;
};

/// A leaf of the caller's arguments.
struct InputTensor {
  std::string name; ///< "args_3"
  TensorType type;
  /// The value that the function was made for: calls with another one fail.
  std::optional<program::Constant> expected = {};
};

struct ResultIndex {
  size_t index = 0; ///< among the results of the module
};

struct OutputTensor {
  std::string name; ///< "output_3"
  TensorType type;
  std::variant<ResultIndex, program::Constant> value;
};

/// An argument of the module.
struct ModuleArgument {
  bool isVariable = false;
  size_t index = 0; ///< among Function::variables or Function::inputs
};

/// A new value of a variable.
struct Assignment {
  size_t variable = 0; ///< among Function::variables
  size_t result = 0;   ///< of the module
};

struct SavedFunction {
  std::string signatureKey;
  std::string name; ///< of the entry point
  std::vector<InputTensor> inputs;
  std::vector<OutputTensor> outputs;
  std::vector<size_t> variables; ///< those that the module takes or that are assigned, among Model::variables
  std::vector<ModuleArgument> arguments;
  std::vector<TensorType> results; ///< of the module
  std::vector<Assignment> assignments;
  std::string module; ///< a portable artifact
};

struct Model {
  std::vector<Variable> variables;
  std::vector<SavedFunction> functions;
  std::string functionAlias; ///< of the first function; may be empty
};

/// Takes what functions use of the bundle, which the model refers to. The first function has the key
/// `servingKey`, the others have their names. Checks the types against those of the modules. Errors name what
/// TensorFlow cannot run, or lacks.
Result<Model> modelOf(const Bundle &bundle, std::string_view servingKey, std::string_view functionAlias);

} // namespace torchere::artifact::saved_model

// TensorFlow's types of tensors: its numbers of dtypes, and shapes as messages.
#pragma once

#include "artifact/saved_model/wire_format.h"
#include "base/dtype.h"
#include "base/error.h"
#include "program/program.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace torchere::artifact::saved_model {

/// TensorFlow's DataType.
enum class DataType : int {
  Float = 1,
  Double = 2,
  Int32 = 3,
  String = 7,
  Int64 = 9,
  Bool = 10,
  Resource = 20
};

struct TensorType {
  DataType dtype = DataType::Float;
  std::vector<int64_t> shape; ///< -1 for a size that is not known
};

/// Unimplemented for a dtype that TensorFlow lacks, or has no variables of; `subject` starts the error.
Result<DataType> dataTypeOf(DType dtype, std::string_view subject);

/// The sizes, -1 for those that are symbolic.
std::vector<int64_t> knownSizes(const std::vector<program::SymInt> &shape);

/// A TensorShapeProto.
Message shapeMessage(const std::vector<int64_t> &shape);

} // namespace torchere::artifact::saved_model

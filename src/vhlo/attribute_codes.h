// The bytecode's codes of attributes, and the version that introduced each.
#pragma once

#include "vhlo/version.h"

#include "mlir/IR/Attributes.h"

#include <cstdint>

namespace torchere::vhlo {

enum class AttributeCode : uint8_t {
  Array = 1,
  Boolean = 2,
  ComparisonDirection = 3,
  ComparisonType = 4,
  CustomCallApiVersion = 5,
  Dictionary = 6,
  FftType = 7,
  Float = 8,
  Integer = 9,
  OutputOperandAlias = 10,
  Precision = 11,
  RngAlgorithm = 12,
  RngDistribution = 13,
  String = 14,
  Tensor = 15,
  Transpose = 16,
  Type = 17,
  TypeExtensions = 18,
  ResultAccuracyMode = 19,
  ResultAccuracy = 20,
  SubAxisInfo = 21,
  AxisRef = 22,
  ReplicaGroupMeshAxes = 23,
  MeshAxis = 24,
  Mesh = 25,
};

/// The code of an attribute in portable form (portable_form.h); none if there is none.
std::optional<AttributeCode> codeOf(mlir::Attribute attribute);

/// An enumeration's attribute: its code, and its value to and from a number.
struct EnumCoding {
  AttributeCode code;
  std::optional<uint32_t> (*value)(mlir::Attribute attribute);        ///< none if it is another attribute
  mlir::Attribute (*get)(mlir::MLIRContext *context, uint32_t value); ///< null if there is no such value
};

llvm::ArrayRef<EnumCoding> enumCodings();

/// The first version whose artifacts can hold `attribute`, a portable form; none if it has none.
std::optional<Version> attributeSince(mlir::Attribute attribute);

} // namespace torchere::vhlo

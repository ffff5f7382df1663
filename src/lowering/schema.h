// Schema: an op's signature, read from ATen's schema language (aten/src/ATen/native/README.md of PyTorch).
#pragma once

#include "base/error.h"
#include "lowering/value.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torchere::lowering {

enum class TypeKind : uint8_t {
  Tensor,
  Int,    ///< must be a constant
  SymInt, ///< a constant or a size known at run time
  Float,
  Bool,
  Scalar,
  String,
  ScalarType,
  Opaque, ///< Device, Layout, MemoryFormat, Generator
};

struct SchemaType {
  TypeKind kind = TypeKind::Tensor;
  bool isOptional = false;          ///< Tensor?, int[]?
  bool isList = false;              ///< Tensor[], int[2]
  bool hasOptionalElements = false; ///< Tensor?[]
};

struct SchemaArgument {
  std::string name;
  SchemaType type;
  std::optional<Argument> defaultValue;
};

struct Schema {
  std::string text; ///< "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
  std::string
      name; ///< "aten.add.Tensor", as torch prints an OpOverload; an op without overload has ".default"
  std::vector<SchemaArgument> arguments;

  static Result<Schema> parse(std::string_view text);
};

} // namespace torchere::lowering

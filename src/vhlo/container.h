// The container of an artifact: MLIR's bytecode, split into its sections and tables.
//
// We read it ourselves because MLIR's reader trusts its input: an index out of bounds or unbounded
// nesting would crash the process. Format: https://mlir.llvm.org/docs/BytecodeFormat.
#pragma once

#include "base/error.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace torchere::vhlo {

struct Container {
  struct OpName {
    std::string_view dialect;
    std::string_view name; ///< without the dialect
  };
  /// An attribute's or type's encoding.
  struct Entry {
    std::string_view dialect;
    std::string_view bytes;
    bool isText = false; ///< its text, because the dialect has no code for it
  };

  uint64_t bytecodeVersion = 0;
  std::string_view producer;
  std::vector<std::string_view> strings;
  std::vector<OpName> opNames;
  std::vector<Entry> attributes;
  std::vector<Entry> types;
  std::vector<std::string_view> properties;
  std::string_view ir;
};

/// All views are into `bytes`. Errors name `name` and the section.
Result<Container> readContainer(std::string_view bytes, std::string_view name);

/// The magic bytes, the bytecode's version and the producer alone.
Result<Container> readHeader(std::string_view bytes, std::string_view name);

/// The section at the cursor, which must have the id.
bool readSection(class ByteCursor &cursor, uint8_t id, std::string_view &data);

namespace section {
inline constexpr uint8_t strings = 0, dialects = 1, attributes = 2, attributeOffsets = 3, ir = 4,
                         resources = 5, resourceOffsets = 6, dialectVersions = 7, properties = 8, limit = 9;
}

/// Versions of the bytecode that introduced something.
namespace bytecode {
inline constexpr uint64_t dialectVersions = 1, isolatedRegions = 2, useListOrders = 3,
                          optionalArgumentLocations = 4, properties = 5, newest = 6;
}

/// What an op's encoding contains, one bit each.
enum OpParts : uint8_t {
  hasAttributes = 1,
  hasResults = 2,
  hasOperands = 4,
  hasSuccessors = 8,
  hasRegions = 16,
  hasUseListOrders = 32,
  hasProperties = 64,
};

} // namespace torchere::vhlo

// The table of portable ops: the versions of every op, and the attributes that each version holds.
//
// One row per op, in op_rows.cpp. Changes between the versions of StableHLO appear only in the rows; the
// writer and the reader know no op by name except where an attribute is spread or operands are restricted.
#pragma once

#include "vhlo/version.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace torchere::vhlo {

/// Attributes of StableHLO that the artifact spreads over several.
enum class Spread : uint8_t {
  None,
  Channel,           // channel_handle -> channel_id
  ChannelAndType,    // channel_handle -> channel_id, channel_type
  ConvDimensions,    // dimension_numbers -> input_batch_dimension, ...
  DotDimensions,     // dot_dimension_numbers, algorithm
  GatherDimensions,  // dimension_numbers -> offset_dims, ...
  ScatterDimensions, // scatter_dimension_numbers -> update_window_dims, ...
};

/// What an op's version restricts beyond its attributes.
enum class Limit : uint8_t {
  None,
  OneOperandInV1,     // more operands came with v2
  NoRegionsInV1,      // regions came with v2
  SameElementTypes,   // an element type that the reduction promotes: 0.17.0
  CustomCallConfig,   // a dictionary as backend_config, the typed FFI: 1.3.0; futures: 1.17.0
  MixedFloat8Operands // operands of two 8-bit float types: 1.20.0
};

struct OpRow {
  std::string_view name;       ///< as in StableHLO: "gather"
  std::string_view versions;   ///< the StableHLO version that brought v1, v2, ...
  std::string_view attributes; ///< by name; `name@2` since v2, `name@-1` up to v1
  Spread spread = Spread::None;
  Limit limit = Limit::None;
};

/// Every row, by name.
std::span<const OpRow> opRows();

/// One version of an op, for example gather_v2.
struct alignas(8) OpVersion {
  const OpRow *row = nullptr;
  unsigned number = 1;
  Version since;
  std::optional<Version> until; ///< the first version that has the next one instead
  std::string name;             ///< "gather_v2"
  /// In the order in which bytecode holds them: by name.
  std::vector<std::string_view> attributes;

  bool isIn(const Version &target) const { return since <= target && (!until || target < *until); }
};

/// The parsed rows.
class OpTable {
public:
  /// Built once, on first use.
  static const OpTable &instance();

  std::span<const std::unique_ptr<OpVersion>> versions() const { return all; }
  /// By portable name ("gather_v2"); null if there is none.
  const OpVersion *find(std::string_view portableName) const;
  /// The version of a row's op that `target` holds; null if the op is newer.
  const OpVersion *find(const OpRow &row, const Version &target) const;
  /// By StableHLO's name ("gather"); null if there is none.
  const OpRow *findRow(std::string_view name) const;

private:
  OpTable();

  std::vector<std::unique_ptr<OpVersion>> all;
  std::unordered_map<std::string_view, const OpVersion *> byName;
  std::unordered_map<std::string_view, std::pair<const OpRow *, std::vector<const OpVersion *>>> byRow;
};

/// The largest number of attributes of any op.
inline constexpr size_t maximumAttributes = 20;

} // namespace torchere::vhlo

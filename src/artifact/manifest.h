// manifest.json: which functions, weights and constants a saved program has.
#pragma once

#include "base/dtype.h"
#include "base/error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace torchere::artifact {

/// The newest format that this version writes and reads.
inline constexpr int64_t manifestFormat = 1;

struct WeightEntry {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::string sameAs; ///< an earlier weight whose file holds this one as well; empty when it has its own
};

struct Manifest {
  std::vector<std::string> functions; ///< the default one first
  bool hasWeights = true;
  std::vector<WeightEntry> weights; ///< sorted by name; also when they are left out
  std::vector<WeightEntry> constants;
};

std::string manifestText(const Manifest &manifest);
/// Refuses a weight that is the same as one that does not stand before it, has another dtype or another
/// shape.
Result<Manifest> readManifest(std::string_view text, std::string_view subject);

} // namespace torchere::artifact

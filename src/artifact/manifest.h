// manifest.json: the functions, weights and constants of a saved program.
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
  std::string sameAs;  ///< an earlier weight that shares the file; empty if the weight has its own
  bool hasData = true; ///< false for one that was exported without data: it has no file
};

/// The expected contents of a file of the program.
struct FileDigest {
  std::string name; ///< "data/block/weight"
  int64_t byteSize = 0;
  std::string blake2b; ///< hexadecimal BLAKE2b digest of 256 bits, as printed by `b2sum -l 256`
};

struct Manifest {
  std::vector<std::string> functions; ///< the default one first
  bool hasWeights = true;
  std::vector<WeightEntry> weights; ///< sorted by name; present even if the weights are left out
  std::vector<WeightEntry> constants;
  std::vector<FileDigest>
      files; ///< sorted by name, without manifest.json itself; empty if digests are not recorded
};

std::string manifestText(const Manifest &manifest);
/// Rejects a weight that refers to one that does not precede it, or that has another dtype or shape.
Result<Manifest> readManifest(std::string_view text, std::string_view subject);

} // namespace torchere::artifact

// How a fake plugin differs from one that is right.
#pragma once

#include <cstddef>
#include <cstdint>

namespace torchere::runtime {

struct FakeVariant {
  int version = 0;
  size_t tableSize = 0; ///< of the table of functions, if not 0
  bool isWithoutTable = false;
  bool isWithoutExecute = false;
  bool isWithoutAttributes = false;
  bool isWithoutStoring = false;
  bool isWithoutMemoryStats = false;
  bool initializeFails = false;
  bool executionsFail = false;
  int64_t xlaVersion = 0; ///< an attribute of XLA's plugins, if not 0
};

extern const FakeVariant variant;

} // namespace torchere::runtime

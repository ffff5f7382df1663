// Small programs on disk, for tests of the C ABI, which loads programs by path.
#pragma once

#include <filesystem>
#include <string>

namespace torchere::capi {

/// The plugin that the tests run on: the interpreter within the program.
std::string relayPlugin();

/// A folder of this process with the programs below, removed at its end.
class SavedPrograms {
public:
  SavedPrograms();
  ~SavedPrograms();
  SavedPrograms(const SavedPrograms &) = delete;
  SavedPrograms &operator=(const SavedPrograms &) = delete;

  /// "counter": add(x: f32[2]) adds x to the state `count` ([10, 20] at first) and returns it; peek() returns
  /// its negative.
  /// "dynamic": forward(x: f32[batch, 2], n: int, mode = "mean") -> (y = x * w, doubled: f32[2*batch, 2],
  /// "mean"), batch from 1 to 8, w = [3, 5]; n is not read.
  /// "identity": forward(x: f32[2]) -> x.
  /// "checked": forward(x: f32[2]) -> x, which fails for x[0] = 1: "[aten.linalg_inv.default] singular".
  /// "mutating": forward(x: f32[2]) -> x + 1, and x becomes 2 * x.
  std::string path(const std::string &name) const { return (folder / name).string(); }

private:
  std::filesystem::path folder;
};

} // namespace torchere::capi

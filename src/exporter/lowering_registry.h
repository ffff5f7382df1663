// LoweringRegistry: lowerings of ops, as StableHLO text, from libraries that the program has loaded.
#pragma once

#include "base/error.h"

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace torchere::exporter {

/// One call of an op; types are as StableHLO writes them.
struct LoweringCall {
  std::string op;
  std::vector<std::string> operands;
  std::vector<std::string> results;
  std::string arguments; ///< JSON object of the arguments that are not tensors
};

using TextLowering = std::function<Result<std::string>(const LoweringCall &)>;

class LoweringRegistry {
public:
  /// The process's own.
  static LoweringRegistry &instance();

  /// Fails on a schema that cannot be parsed, and on an op that has a lowering already.
  Status add(std::string_view schema, TextLowering lowering);
  /// Opens a shared library, and registers what its torchere_register_lowerings() adds: all of it or nothing.
  /// The library stays open. Nothing is done for one that was loaded before.
  Result<std::vector<std::string>> load(const std::filesystem::path &library);
  /// None for an op that has none.
  TextLowering find(const std::string &op) const;
  /// The schemas of the ops, by their names.
  std::map<std::string, std::string> schemas() const;

private:
  struct Entry {
    std::string schema;
    TextLowering lowering;
  };
  static Result<std::pair<std::string, Entry>> parsed(std::string_view schema, TextLowering lowering);
  Status insert(std::vector<std::pair<std::string, Entry>> added);

  mutable std::mutex mutex;
  std::map<std::string, Entry> entries;
  std::map<std::filesystem::path, std::vector<std::string>> libraries;
};

} // namespace torchere::exporter

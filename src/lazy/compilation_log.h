// CompilationLog: the graphs that were compiled, and why each was although one like it had been before.
#pragma once

#include "artifact/bundle.h"
#include "program/program.h"

#include <cstdint>
#include <deque>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

namespace torchere::lazy {

class CompilationLog {
public:
  /// Of all devices.
  static CompilationLog &get();

  /// A program that no device has compiled yet. Called at each miss of a trace cache. Where a folder is set,
  /// its ops and its StableHLO are written there.
  void add(program::Program program, const artifact::Bundle &lowered);
  /// For each graph that was compiled although one like it had been: the first differences of the two, with
  /// the user's source lines. At most `limit` graphs, the last ones.
  std::string explain(size_t limit);
  void clear();
  /// Where programs are written from now on; empty for nowhere. At first it is TORCHERE_LAZY_DUMP.
  void dumpTo(std::filesystem::path path);

private:
  struct Entry {
    uint64_t number; ///< from 1, in the order of compilation
    program::Program program;
    std::vector<const program::Op *> ops; ///< of its calls
  };
  CompilationLog();
  void dump(const Entry &entry, const artifact::Bundle &lowered) const;
  const Entry *mostSimilar(size_t entry) const;
  std::string explainEntry(size_t entry) const;

  std::mutex mutex;
  std::deque<Entry> entries; ///< the last ones
  size_t nodes = 0;          ///< of all entries
  std::filesystem::path folder;
  uint64_t count = 0;
};

} // namespace torchere::lazy

// The programs that were compiled: kept without weights, and compared when somebody asks.
#include "lazy/compilation_log.h"

#include "artifact/function_module.h"
#include "lazy/graph_difference.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <unistd.h>

namespace torchere::lazy {

CompilationLog &CompilationLog::get() {
  static auto *log = new CompilationLog; // never destroyed: threads may still trace while the process ends
  return *log;
}

CompilationLog::CompilationLog() {
  if (const char *path = std::getenv("TORCHERE_LAZY_DUMP"))
    folder = path;
}

void CompilationLog::dumpTo(std::filesystem::path path) {
  std::lock_guard lock(mutex);
  folder = std::move(path);
}

static std::vector<const program::Op *> opsOf(const program::Program &program) {
  std::vector<const program::Op *> ops;
  for (const program::Node &node : program.graph.nodes)
    if (node.kind == program::NodeKind::Call)
      ops.push_back(node.callee);
  return ops;
}

void CompilationLog::add(program::Program program, const artifact::Bundle &lowered) {
  constexpr size_t mostEntries = 64, mostNodes = 100'000;
  std::lock_guard lock(mutex);
  std::vector<const program::Op *> ops = opsOf(program);
  nodes += ops.size();
  entries.push_back({++count, std::move(program), std::move(ops)});
  if (!folder.empty())
    dump(entries.back(), lowered);
  while (entries.size() > 1 && (entries.size() > mostEntries || nodes > mostNodes)) {
    nodes -= entries.front().ops.size();
    entries.pop_front();
  }
}

/// The process is a part of the names, because several may write to one folder.
void CompilationLog::dump(const Entry &entry, const artifact::Bundle &lowered) const {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  std::string name = fmt::format("graph_{}_{:04}", getpid(), entry.number);
  artifact::Function function = lowered.functions.front();
  function.printsLocations = true;
  Result<std::string> text = artifact::moduleText(function);
  std::ofstream program(folder / (name + ".txt")), module(folder / (name + ".mlir"));
  program << entry.program.print();
  module << (text ? *text : text.error().text());
  if (!program || !module) {
    TORCH_WARN_ONCE("[lazy] a compiled graph cannot be written to the folder: got ", folder.string());
  }
}

void CompilationLog::clear() {
  std::lock_guard lock(mutex);
  entries.clear();
  nodes = count = 0;
}

using Ops = std::vector<const program::Op *>;

/// How many ops two programs have in common at the beginning and at the end.
static size_t commonOps(const Ops &a, const Ops &b) {
  size_t most = std::min(a.size(), b.size()), first = 0, last = 0;
  while (first < most && a[first] == b[first])
    ++first;
  while (first + last < most && a[a.size() - 1 - last] == b[b.size() - 1 - last])
    ++last;
  return first + last;
}

/// The earlier program that has most in common with an entry, the later one of equals; null if that is less
/// than half of either.
const CompilationLog::Entry *CompilationLog::mostSimilar(size_t entry) const {
  const Entry *best = nullptr;
  size_t most = 0;
  const Ops &ops = entries[entry].ops;
  for (size_t i = 0; i < entry; ++i) {
    size_t common = commonOps(ops, entries[i].ops);
    if (common > 0 && common >= most && 2 * common >= std::max(ops.size(), entries[i].ops.size())) {
      most = common;
      best = &entries[i];
    }
  }
  return best;
}

std::string CompilationLog::explainEntry(size_t entry) const {
  const Entry *earlier = mostSimilar(entry);
  if (!earlier)
    return "";
  const Entry &now = entries[entry];
  std::string text =
      fmt::format("Graph {} ({} nodes) was compiled, although graph {} ({} nodes) is like it:\n", now.number,
                  now.ops.size(), earlier->number, earlier->ops.size());
  constexpr size_t limit = 5;
  size_t number = 0;
  for (const std::string &difference : differencesOf(now.program, earlier->program, limit))
    text += fmt::format("  {}. {}\n", ++number, difference);
  if (number == 0)
    text += "  their ops are the same: another device, or the earlier executable was evicted\n";
  return text;
}

std::string CompilationLog::explain(size_t limit) {
  std::lock_guard lock(mutex);
  std::vector<std::string> texts;
  bool hasLines = true;
  for (size_t i = entries.size(); i-- > 0 && texts.size() < limit;)
    if (std::string text = explainEntry(i); !text.empty()) {
      hasLines = hasLines && entries[i].program.stackTraces.size() > 1; // the first is the empty one
      texts.push_back(std::move(text));
    }
  std::string joined;
  for (size_t i = texts.size(); i-- > 0;)
    joined += texts[i];
  if (!joined.empty() && !hasLines)
    joined += "Source lines were not recorded: TORCHERE_LAZY_SOURCE_LINES=1 or lazy.source_lines() does.\n";
  return joined;
}

} // namespace torchere::lazy

// Op: what a node calls, interned: one object for each op, whose address stands for it.
#pragma once

#include "base/error.h"
#include "schema/schema.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace torchere::program {

struct Op {
  std::string name; ///< "aten.add.Tensor", "_operator.getitem", "higher_order.cond"
  /// What gives the arguments their positions; none for callables that torch has no schema of.
  std::optional<schema::Schema> schema;
  std::vector<std::string> argumentNames; ///< by position
  uint64_t hash = 0;                      ///< of the name and the arguments' names; the same in every process
};

/// The ops that programs call. Threads may share one; an op lives as long as it.
class TORCHERE_EXPORT OpInterner {
public:
  /// An op with torch's schema. Fails when the schema cannot be read.
  Result<const Op *> intern(std::string_view name, std::string_view schema);
  /// A callable without one: what it is called with, under these names, is part of what it is.
  const Op *intern(std::string_view name, std::vector<std::string> argumentNames);

private:
  const Op *find(const std::string &key);
  const Op *add(std::string key, Op op);

  std::mutex mutex;
  std::unordered_map<std::string, std::unique_ptr<const Op>> ops;
};

} // namespace torchere::program

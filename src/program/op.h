// Op: what a node calls. Ops are interned: each is a single object, identified by its address.
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
  /// Determines the arguments' positions; none for callables without a torch schema.
  std::optional<schema::Schema> schema;
  std::vector<std::string> argumentNames; ///< by position
  uint64_t hash = 0;                      ///< of the name and the argument names; the same in every process
};

/// The ops that programs call. Threads may share an interner; its ops live as long as it does.
class TORCHERE_EXPORT OpInterner {
public:
  /// An op with torch's schema. Fails if the schema cannot be parsed.
  Result<const Op *> intern(std::string_view name, std::string_view schema);
  /// A callable without a schema; its argument names are part of its identity.
  const Op *intern(std::string_view name, std::vector<std::string> argumentNames);

private:
  const Op *find(const std::string &key);
  const Op *add(std::string key, Op op);

  std::mutex mutex;
  std::unordered_map<std::string, std::unique_ptr<const Op>> ops;
};

} // namespace torchere::program

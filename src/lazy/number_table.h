// NumberTable: numbers of a program as arrays on the device; equal ones share an array.
#pragma once

#include "lazy/node.h"

#include <c10/core/Scalar.h>
#include <c10/util/FunctionRef.h>

#include <list>
#include <map>
#include <mutex>
#include <tuple>

namespace torchere::lazy {

/// Keeps the most recently used numbers: a loop may use new ones in each step. Used from any thread.
class NumberTable {
public:
  /// The array of a number as a 0-d tensor of a dtype; `upload` makes it.
  Value find(const c10::Scalar &number, at::ScalarType dtype, c10::function_ref<Value()> upload);
  int64_t size();

private:
  using Key = std::tuple<at::ScalarType, uint64_t, uint64_t>; ///< dtype and bits
  struct Entry {
    Key key;
    Value value;
  };
  std::mutex mutex;
  std::list<Entry> entries; ///< the most recently used first
  std::map<Key, std::list<Entry>::iterator> byKey;
};

} // namespace torchere::lazy

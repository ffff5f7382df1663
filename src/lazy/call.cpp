// The tables of types and calls.
#include "lazy/call.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace torchere::lazy {

static uint64_t mix(uint64_t hash, uint64_t word) {
  return std::rotl((hash ^ word) * 0x9e3779b97f4a7c15, 29);
}

namespace {

/// Objects by hash, with those of an equal hash in a chain.
struct TypeTable {
  std::mutex mutex;
  std::unordered_multimap<uint64_t, const TensorType *> types;
  std::deque<TensorType> stored;
};

struct CallTable {
  std::mutex mutex;
  std::unordered_map<uint64_t, const Call *> calls;
  std::deque<Call> stored;

  const Call *find(const Op &op, uint64_t hash, c10::ArrayRef<uint64_t> key) const {
    auto found = calls.find(hash);
    const Call *call = found == calls.end() ? nullptr : found->second;
    while (call && !(call->op == &op && key.equals(call->key)))
      call = call->next;
    return call;
  }
};

// Never destroyed: threads may still trace while the process ends.
TypeTable &typeTable() {
  static auto *table = new TypeTable;
  return *table;
}
CallTable &callTable() {
  static auto *table = new CallTable;
  return *table;
}

} // namespace

const TensorType *TensorType::intern(at::ScalarType dtype, c10::IntArrayRef sizes) {
  uint64_t hash = mix(static_cast<uint64_t>(dtype), sizes.size());
  for (int64_t size : sizes)
    hash = mix(hash, static_cast<uint64_t>(size));
  TypeTable &table = typeTable();
  std::lock_guard lock(table.mutex);
  auto [first, last] = table.types.equal_range(hash);
  for (; first != last; ++first)
    if (first->second->dtype == dtype && sizes.equals(first->second->sizes))
      return first->second;
  const TensorType *made = &table.stored.emplace_back(TensorType{dtype, sizes.vec()});
  table.types.emplace(hash, made);
  return made;
}

const Call *internCall(const Op &op, c10::ArrayRef<uint64_t> key, bool returnsList,
                       c10::function_ref<ResultTypes()> resultTypes) {
  auto hash = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(&op));
  for (uint64_t word : key)
    hash = mix(hash, word);
  CallTable &table = callTable();
  {
    std::lock_guard lock(table.mutex);
    if (const Call *found = table.find(op, hash, key))
      return found;
  }
  ResultTypes results = resultTypes(); // without the lock: a shape may be computed in Python
  std::lock_guard lock(table.mutex);
  if (const Call *found = table.find(op, hash, key))
    return found;
  const Call *&first = table.calls[hash];
  Call &made = table.stored.emplace_back();
  made = {&op, hash, key.vec(), {results.begin(), results.end()}, returnsList, first};
  first = &made;
  return &made;
}

} // namespace torchere::lazy

// The tables of types and calls.
#include "lazy/call.h"

#include "lazy/settings.h"

#include <torch/csrc/lazy/core/metrics.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <unordered_map>

namespace torchere::lazy {

static uint64_t mix(uint64_t hash, uint64_t word) {
  return std::rotl((hash ^ word) * 0x9e3779b97f4a7c15, 29);
}

static uint64_t hashOf(at::ScalarType dtype, c10::IntArrayRef sizes) {
  uint64_t hash = mix(static_cast<uint64_t>(dtype), sizes.size());
  for (int64_t size : sizes)
    hash = mix(hash, static_cast<uint64_t>(size));
  return hash;
}

namespace {

/// Those that somebody owns, by hash.
struct TypeTable {
  std::mutex mutex;
  std::unordered_multimap<uint64_t, const TensorType *> types;
};

/// Calls by hash, with those of an equal hash in a chain.
struct CallTable {
  std::mutex mutex;
  std::unordered_map<uint64_t, const Call *> calls;
  size_t size = 0;
  size_t sizeToEvictAt = 0; ///< where more calls than the limit are owned, the table grows
  uint64_t clock = 0;

  Reference<const Call> find(const Op &op, uint64_t hash, c10::ArrayRef<uint64_t> key) {
    auto found = calls.find(hash);
    const Call *call = found == calls.end() ? nullptr : found->second;
    while (call && !(call->op == &op && key.equals(call->key)))
      call = call->next;
    if (call)
      call->lastUse = ++clock;
    return Reference<const Call>(call);
  }

  void add(const Call &call) {
    const Call *&first = calls[call.hash];
    call.next = first;
    call.lastUse = ++clock;
    first = &call;
    ++size;
  }

  void remove(const Call &call) {
    const Call **link = &calls.find(call.hash)->second;
    while (*link != &call)
      link = const_cast<const Call **>(&(*link)->next);
    *link = call.next;
    if (auto first = calls.find(call.hash); !first->second)
      calls.erase(first);
    --size;
  }

  /// Takes out the least recently used calls that nobody owns, a quarter of the limit at once, so that the
  /// search for them costs each new call little.
  std::vector<const Call *> evict(size_t limit) {
    std::vector<const Call *> unowned;
    for (const auto &[hash, first] : calls)
      for (const Call *call = first; call; call = call->next)
        if (!call->isOwned())
          unowned.push_back(call);
    size_t count = std::min(unowned.size(), size - std::min(size, limit - limit / 4));
    auto middle = unowned.begin() + static_cast<ptrdiff_t>(count);
    std::nth_element(unowned.begin(), middle, unowned.end(),
                     [](const Call *a, const Call *b) { return a->lastUse < b->lastUse; });
    unowned.erase(middle, unowned.end());
    for (const Call *call : unowned)
      remove(*call);
    sizeToEvictAt = size > limit ? size + size / 4 : 0;
    return unowned;
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

Reference<const TensorType> TensorType::intern(at::ScalarType dtype, c10::IntArrayRef sizes) {
  uint64_t hash = hashOf(dtype, sizes);
  TypeTable &table = typeTable();
  std::lock_guard lock(table.mutex);
  auto [first, last] = table.types.equal_range(hash);
  for (; first != last; ++first)
    if (first->second->dtype == dtype && sizes.equals(first->second->sizes) && first->second->tryRetain())
      return Reference<const TensorType>::adopt(first->second);
  Reference<const TensorType> made(new TensorType(dtype, sizes));
  table.types.emplace(hash, made.get());
  return made;
}

void TensorType::release(const TensorType *type) {
  TypeTable &table = typeTable();
  {
    std::lock_guard lock(table.mutex);
    auto [first, last] = table.types.equal_range(hashOf(type->dtype, type->sizes));
    table.types.erase(std::find_if(first, last, [&](const auto &entry) { return entry.second == type; }));
  }
  delete type;
}

/// The words of an argument that follow its tag, its elements' apart.
static uint64_t wordsAfter(uint64_t tag) {
  auto kind = static_cast<ArgumentTag>(tag & 0xff);
  if (kind == ArgumentTag::None || kind == ArgumentTag::List)
    return 0;
  if (kind == ArgumentTag::String)
    return ((tag >> 8) + 7) / 8;
  return kind == ArgumentTag::Complex ? 2 : 1;
}

Call::Call(const Op &op, c10::ArrayRef<uint64_t> key, uint64_t hash, bool returnsList,
           const ResultTypes &results)
    : op(&op), hash(hash), key(key.vec()), returnsList(returnsList) {
  for (size_t i = 0; i < key.size(); i += 1 + wordsAfter(key[i]))
    if (static_cast<ArgumentTag>(key[i] & 0xff) == ArgumentTag::Operand)
      types.emplace_back(reinterpret_cast<const TensorType *>(static_cast<uintptr_t>(key[i + 1])));
  for (const Reference<const TensorType> &type : results) {
    this->results.push_back(type.get());
    if (type)
      types.push_back(type);
  }
}

Reference<const Call> internCall(const Op &op, c10::ArrayRef<uint64_t> key, bool returnsList,
                                 c10::function_ref<ResultTypes()> resultTypes) {
  auto hash = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(&op));
  for (uint64_t word : key)
    hash = mix(hash, word);
  CallTable &table = callTable();
  {
    std::lock_guard lock(table.mutex);
    if (Reference<const Call> found = table.find(op, hash, key))
      return found;
  }
  ResultTypes results = resultTypes(); // without the lock: a shape may be computed in Python
  Reference<const Call> made;
  std::vector<const Call *> evicted;
  {
    std::lock_guard lock(table.mutex);
    if (Reference<const Call> found = table.find(op, hash, key))
      return found;
    made = Reference<const Call>(new Call(op, key, hash, returnsList, results));
    table.add(*made);
    auto limit = static_cast<size_t>(setting(Setting::Calls));
    if (table.size > std::max(limit, table.sizeToEvictAt))
      evicted = table.evict(limit);
  }
  TORCH_LAZY_COUNTER("EvictedCall", static_cast<int64_t>(evicted.size()));
  for (const Call *call : evicted)
    delete call;
  return made;
}

void callsWereReleased() {
  std::lock_guard lock(callTable().mutex);
  callTable().sizeToEvictAt = 0;
}

CallCounts callCounts() {
  std::scoped_lock lock(callTable().mutex, typeTable().mutex);
  return {static_cast<int64_t>(callTable().size), static_cast<int64_t>(typeTable().types.size())};
}

} // namespace torchere::lazy

// The numbers that a device keeps.
#include "lazy/number_table.h"

#include "lazy/settings.h"

#include <bit>
#include <vector>

namespace torchere::lazy {

Value NumberTable::find(const c10::Scalar &number, at::ScalarType dtype, c10::function_ref<Value()> upload) {
  auto complex = number.toComplexDouble();
  auto bits = number.isIntegral(true) ? static_cast<uint64_t>(number.toLong())
                                      : std::bit_cast<uint64_t>(complex.real());
  Key key{dtype, bits, std::bit_cast<uint64_t>(complex.imag())};
  std::vector<Value> evicted; // destroyed without the lock
  std::lock_guard lock(mutex);
  auto found = byKey.find(key);
  if (found != byKey.end()) {
    entries.splice(entries.begin(), entries, found->second);
    return entries.front().value;
  }
  entries.push_front({key, upload()});
  byKey.emplace(key, entries.begin());
  for (auto limit = static_cast<size_t>(setting(Setting::Numbers)); entries.size() > limit;) {
    byKey.erase(entries.back().key);
    evicted.push_back(std::move(entries.back().value));
    entries.pop_back();
  }
  return entries.front().value;
}

int64_t NumberTable::size() {
  std::lock_guard lock(mutex);
  return static_cast<int64_t>(entries.size());
}

} // namespace torchere::lazy

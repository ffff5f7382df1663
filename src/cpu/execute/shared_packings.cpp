// Implements the table of packed copies.
#include "cpu/execute/shared_packings.h"

#include <map>
#include <mutex>

namespace torchere::cpu {

namespace {

class Packings {
public:
  Packed find(uint64_t id, const std::string &layout);
  void add(uint64_t id, const std::string &layout, const Packed &copy);

private:
  std::mutex mutex;
  std::map<std::pair<uint64_t, std::string>, std::weak_ptr<const std::byte[]>> copies;
  size_t pruned = 0; ///< entries that were left when the dead ones were erased
};

Packed Packings::find(uint64_t id, const std::string &layout) {
  std::lock_guard lock(mutex);
  auto found = copies.find({id, layout});
  return found == copies.end() ? nullptr : found->second.lock();
}

void Packings::add(uint64_t id, const std::string &layout, const Packed &copy) {
  std::lock_guard lock(mutex);
  std::weak_ptr<const std::byte[]> &known = copies[{id, layout}];
  if (known.expired())
    known = copy;
  if (copies.size() > 2 * pruned + 64) {
    std::erase_if(copies, [](const auto &entry) { return entry.second.expired(); });
    pruned = copies.size();
  }
}

Packings &packings() {
  static auto &all = *new Packings; // steps may outlive static destructors
  return all;
}

} // namespace

Packed findPacking(uint64_t id, const std::string &layout) {
  return packings().find(id, layout);
}

void addPacking(uint64_t id, const std::string &layout, const Packed &copy) {
  packings().add(id, layout, copy);
}

Result<Packed> sharedPacking(uint64_t id, const std::string &layout,
                             const std::function<Result<Packed>()> &pack) {
  if (!layout.empty())
    if (Packed copy = findPacking(id, layout))
      return copy;
  TORCHERE_ASSIGN(Packed copy, pack()); // two threads may do so at once
  if (!layout.empty())
    addPacking(id, layout, copy);
  return copy;
}

} // namespace torchere::cpu

// WeightStore: slots by view and by name, and the transfer of weights to the device.
#include "session/weight_store.h"

namespace torchere::session {

WeightSlot &WeightStore::addConstant(const std::string &name, const program::Weight &weight) {
  if (weight.elementCount() == 0) // views without elements may share an address
    return slots.emplace_back(WeightSlot{name, &weight, false, false, nullptr});
  WeightSlot *&slot = views[View(weight.data(), weight.dtype, weight.shape, weight.strides)];
  if (!slot)
    slot = &slots.emplace_back(WeightSlot{name, &weight, false, false, nullptr});
  return *slot;
}

WeightSlot &WeightStore::add(const std::string &name, const program::Weight &weight) {
  auto found = names.find(name);
  if (found == names.end())
    found = names.emplace(name, &addConstant(name, weight)).first;
  return *found->second;
}

WeightSlot *WeightStore::find(std::string_view name) const {
  auto found = names.find(name);
  return found == names.end() ? nullptr : found->second;
}

void WeightStore::shareValues(WeightStore &other) {
  std::scoped_lock lock(mutex, other.mutex);
  for (auto &[view, slot] : views) {
    auto found = other.views.find(view);
    // Other storages may have had the same address at another time.
    if (found != other.views.end() && found->second->weight->storage == slot->weight->storage &&
        !found->second->isState && !slot->isState)
      slot->value = found->second->value;
  }
}

Error WeightStore::lost(const std::string &name, const Error &failure) {
  return {ErrorCode::FailedPrecondition,
          fmt::format("[{}] its value was lost in a call that failed ({}): load the program again, or set it",
                      name, failure.message),
          failure.where};
}

Status WeightStore::checkNotLost(const WeightSlot &slot) {
  if (slot.value)
    if (Status failure = slot.value->buffer.failure(); !failure)
      return tl::unexpected(lost(slot.name, failure.error()));
  if (!slot.isLost)
    return {};
  return fail(ErrorCode::FailedPrecondition,
              "[{}] its value was lost in a call that failed: load the program again, or set it", slot.name);
}

Status WeightStore::checkPresent() const {
  if (!isGivenUp)
    return {};
  return fail(ErrorCode::FailedPrecondition, "[session] another session of the program has taken its state");
}

Status WeightStore::makeResident(WeightSlot &slot) {
  std::lock_guard lock(mutex);
  if (slot.value)
    return {};
  const program::Weight &weight = *slot.weight;
  TORCHERE_ASSIGN(runtime::HostArray array, denseArray({weight.data(), weight.dtype, weight.shape,
                                                        weight.strides, "cpu", weight.storage}));
  auto transfer = slot.isState ? runtime::HostTransfer::Copy : runtime::HostTransfer::ZeroCopy;
  TORCHERE_ASSIGN(runtime::Buffer buffer,
                  runtime::Buffer::fromHost(client, std::move(array), transfer, device));
  slot.value = std::make_shared<WeightValue>(std::move(buffer));
  return {};
}

} // namespace torchere::session

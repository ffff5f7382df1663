// Implements Rendezvous: a meeting goes through two phases, in which members wait for all to come and to
// leave.
#include "cpu/execute/rendezvous.h"

#include <algorithm>

namespace torchere::cpu {

/// Those who wait for the phase to end no longer do, whether they have woken up yet or not.
void Rendezvous::advance(Meeting &meeting) {
  ++meeting.phase;
  waiting -= meeting.waiting;
  meeting.waiting = 0;
  changed.notify_all();
}

void Rendezvous::findStuck() {
  if (waiting < present || waiting == 0)
    return;
  isStuck = true;
  changed.notify_all();
}

Status Rendezvous::wait(Meeting &meeting, std::unique_lock<std::mutex> &lock) {
  uint64_t phase = meeting.phase;
  ++meeting.waiting;
  ++waiting;
  findStuck();
  changed.wait(lock, [&] { return meeting.phase != phase || isStuck; });
  if (meeting.phase == phase)
    return fail(ErrorCode::FailedPrecondition, "a process waits for others that do not come");
  return {};
}

/// Plans that were read from a file may disagree, whatever each of them says.
Status Rendezvous::arrive(Meeting &meeting, std::span<const int64_t> members, int64_t self, Part given) {
  auto place = static_cast<size_t>(std::find(members.begin(), members.end(), self) - members.begin());
  if (meeting.arrived == 0 && !meeting.isTaking) {
    meeting.members.assign(members.begin(), members.end());
    meeting.bytes = given.bytes;
    meeting.given.assign(members.size(), nullptr);
  }
  bool agrees = !meeting.isTaking && std::ranges::equal(members, meeting.members) &&
                given.bytes == meeting.bytes && place < members.size() && !meeting.given[place];
  if (!agrees)
    return invalidArgument("process {} meets others who exchange something else", self);
  meeting.given[place] = given.memory;
  ++meeting.arrived;
  return {};
}

Status Rendezvous::meet(int64_t number, std::span<const int64_t> members, int64_t self, Part given,
                        const std::function<void(Given)> &take) {
  std::unique_lock lock(mutex);
  Meeting &meeting = meetings[{number, members.front()}];
  TORCHERE_TRY(arrive(meeting, members, self, given));
  if (meeting.arrived == members.size()) {
    meeting.arrived = 0;
    meeting.isTaking = true;
    advance(meeting);
  } else {
    TORCHERE_TRY(wait(meeting, lock));
  }
  lock.unlock();
  take(meeting.given);
  lock.lock();
  if (++meeting.left < members.size())
    return wait(meeting, lock);
  meeting.left = 0;
  meeting.isTaking = false;
  advance(meeting);
  return {};
}

void Rendezvous::leave() {
  std::lock_guard lock(mutex);
  --present;
  findStuck();
}

} // namespace torchere::cpu

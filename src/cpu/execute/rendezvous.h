// Rendezvous: where the processes of one run, a thread each, wait for each other and read what others have.
#pragma once

#include "base/error.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <vector>

namespace torchere::cpu {

class Rendezvous {
public:
  using Given = std::span<const std::byte *const>;
  /// What a process passes for others to read.
  struct Part {
    const std::byte *memory = nullptr;
    int64_t bytes = 0;
  };

  explicit Rendezvous(size_t processes) : present(processes) {}
  Rendezvous(const Rendezvous &) = delete;

  /// Waits until all members have come, lets `take` read what each has given, by its place among the members,
  /// and returns when all have done so. FailedPrecondition if a member never comes. `number` names the
  /// meeting: all members pass the same ones in the same order, of whom each is another, and as many bytes.
  /// InvalidArgument if they do not.
  Status meet(int64_t number, std::span<const int64_t> members, int64_t self, Part given,
              const std::function<void(Given)> &take);
  /// The process takes no further part.
  void leave();

private:
  struct Meeting {
    std::vector<int64_t> members; ///< of those who have arrived, as is `bytes`
    int64_t bytes = 0;
    std::vector<const std::byte *> given; ///< null of those who have not arrived
    size_t arrived = 0, left = 0;
    bool isTaking = false; ///< all have come, and not all have left
    size_t waiting = 0;    ///< members that wait for the rest
    uint64_t phase = 0;    ///< counts: all have come, all have left, all have come, ...
  };
  Status arrive(Meeting &meeting, std::span<const int64_t> members, int64_t self, Part given);
  Status wait(Meeting &meeting, std::unique_lock<std::mutex> &lock);
  void advance(Meeting &meeting);
  void findStuck();

  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<int64_t, int64_t>, Meeting> meetings; ///< by number and first member
  size_t present;                                          ///< processes that have not left
  size_t waiting = 0;                                      ///< of these, those in all meetings
  bool isStuck = false;                                    ///< all that are present wait
};

} // namespace torchere::cpu

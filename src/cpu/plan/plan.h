// Plan: a program as a flat list of steps on buffers whose places are known in advance.
#pragma once

#include "base/error.h"
#include "cpu/kernels/thread_pool.h"
#include "cpu/plan/view.h"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace torchere::cpu {

/// What a buffer's memory is.
enum class Home : uint8_t {
  Arena,    ///< a part of the memory that a run has for itself
  Argument, ///< argument `index` of the program
  Result,   ///< result `index`
  Constant, ///< constant `index`
};

struct Buffer {
  Home home = Home::Arena;
  size_t index = 0;
  int64_t bytes = 0;
  int64_t offset = 0; ///< in the arena
  // The steps between which it is in use, the last included.
  int64_t first = 0;
  int64_t last = 0;
};

/// An argument of the run that a step may keep something made of it for.
struct Origin {
  uint64_t id = 0;                    ///< see pjrt_server::Argument
  std::weak_ptr<const void> contents; ///< expires when nobody has the argument any more
};

class Rendezvous;

/// A run's memory.
struct Frame {
  const Context &context;
  std::vector<std::byte *> memory;  ///< by buffer
  std::span<const Origin> origins;  ///< by argument
  Rendezvous *rendezvous = nullptr; ///< with the other processes of the program, if there are any
  std::byte *at(const View &view) const { return memory[view.buffer] + view.offset * view.elementSize(); }
};

/// One kernel call, or one op that is evaluated. Any number of threads run it at once, in frames of their
/// own.
class Step {
public:
  virtual ~Step() = default;
  virtual Status run(const Frame &frame) const = 0;
};

using Steps = std::vector<std::unique_ptr<const Step>>;
Status runSteps(const Steps &steps, const Frame &frame);

/// Memory aligned to 64 bytes, as kernels want it.
struct MemoryRelease {
  void operator()(std::byte *memory) const;
};
using Memory = std::unique_ptr<std::byte[], MemoryRelease>;
/// ResourceExhausted if there is not enough. Not zeroed.
Result<Memory> allocateMemory(int64_t bytes);

struct Plan {
  std::vector<Buffer> buffers;
  std::vector<Memory> constants;
  Steps steps;
  int64_t arenaBytes = 0;
  std::vector<BufferId> results;            ///< by result, each a buffer of its own
  std::vector<bool> writtenArguments;       ///< by argument: whether steps write into it
  std::map<std::string, int64_t> evaluated; ///< how many steps evaluate an op, by its name
};

/// Lays the arena's buffers so that none overlaps another that is in use at the same time.
void layArena(Plan &plan);

} // namespace torchere::cpu

// Plan: a program as a flat list of steps on buffers whose places are known in advance.
#pragma once

#include "base/error.h"
#include "base/lifetime.h"
#include "base/memory_share.h"
#include "cpu/kernels/thread_pool.h"
#include "cpu/plan/view.h"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace torchere::cpu {

/// What a buffer's memory is.
enum class Home : uint8_t {
  Arena,    ///< a part of the memory that a run has for itself
  Argument, ///< argument `index` of the program
  Result,   ///< result `index`
  Constant, ///< constant `index`
  Part,     ///< a part of buffer `index`, which is an Arena
};

struct Buffer {
  Home home = Home::Arena;
  size_t index = 0;
  int64_t bytes = 0;
  int64_t offset = 0; ///< in the arena, or in the buffer that it is a part of
  // The steps between which it is in use, the last included.
  int64_t first = 0;
  int64_t last = 0;
};

/// An argument of the run that a step may keep something made of it for.
struct Origin {
  /// Of what the argument holds, longer than the run. Null: nothing is to be kept.
  const Lifetime *contents = nullptr;
  /// The same in most calls, and never written: what is made of it is worth keeping at its first use.
  bool isWeight = false;
  /// Only what was made of it is left: FailedPrecondition if more is to be made.
  bool isGone = false;
};

class PlanLimits;
class Recorder;
class Rendezvous;

/// A run's memory.
struct Frame {
  const Context &context;
  std::vector<std::byte *> memory;  ///< by buffer
  std::span<const Origin> origins;  ///< by argument
  Rendezvous *rendezvous = nullptr; ///< with the other processes of the program, if there are any
  Recorder *recorder = nullptr;     ///< of a run that is measured
  std::byte *at(const View &view) const { return memory[view.buffer] + view.offset * view.elementSize(); }
};

/// What a step keeps packed of an argument.
struct Packing {
  size_t argument = 0;
  std::string layout; ///< all that it depends on beside the argument's contents
  int64_t bytes = 0;
};

/// One kernel call, or one op that is evaluated. Any number of threads run it at once, in frames of their
/// own.
class Step {
public:
  virtual ~Step() = default;
  virtual Status run(const Frame &frame) const = 0;

  /// Of the kernel, for people.
  virtual std::string_view name() const = 0;
  /// How many floating-point operations a run takes, or 0.
  virtual double flops() const { return 0; }
  /// Whether it needs the buffer, a weight's, for prepare() alone.
  virtual bool packs(BufferId) const { return false; }
  /// Before the first run: packs its weights. Of the frame's memory only arguments and constants are there.
  virtual Status prepare(const Frame &) const { return {}; }
  /// Adds what prepare() packs of arguments that are weights.
  virtual void addPackings(std::vector<Packing> &) const {}
  /// Tells the classes of steps apart that are stored with their plans; null for others.
  virtual const char *storedClass() const { return nullptr; }
};

template <class T> inline constexpr char storedClassOf = 0;

/// A step that is stored with its plan. It lists its fields (see Fields), has a constructor without
/// arguments, and `Status restore(const PlanLimits &)`, which verifies the fields that were read and derives
/// what else it has. docs/engine.md tells what that must find.
template <class Derived> class StoredStep : public Step {
public:
  const char *storedClass() const final { return &storedClassOf<Derived>; }
};

/// Runs steps in place of runSteps(), to measure them.
class Recorder {
public:
  virtual ~Recorder() = default;
  virtual Status run(const Step &step, const Frame &frame) = 0;
};

using Steps = std::vector<std::unique_ptr<const Step>>;
Status runSteps(const Steps &steps, const Frame &frame);
Status prepareSteps(const Steps &steps, const Frame &frame);
void addPackingsOf(const Steps &steps, std::vector<Packing> &packings);
/// Whether one of them packs the buffer.
bool anyPacks(const Steps &steps, BufferId buffer);

/// Memory aligned to 64 bytes, as kernels want it, and its share of all memory.
struct MemoryRelease {
  void operator()(std::byte *memory);
  MemoryShare share;
};
using Memory = std::unique_ptr<std::byte[], MemoryRelease>;
/// ResourceExhausted if there is not enough (see base/memory_share.h). Not zeroed.
Result<Memory> allocateMemory(int64_t bytes);
inline constexpr int64_t memoryAlignment = 64;
inline int64_t roundedToAlignment(int64_t bytes) {
  return (bytes + memoryAlignment - 1) / memoryAlignment * memoryAlignment;
}

/// Where a step comes from, for people.
struct StepOrigin {
  std::string op;     ///< "stablehlo.dot_general"
  std::string source; ///< "model.py:31 in encoder.layer.0", or a part of it
  int64_t bytes = 0;  ///< that it reads and writes, each once
};

struct Plan {
  std::vector<Buffer> buffers;
  std::vector<Memory> constants;
  Steps steps;
  /// By step: its number among all, those that steps run included. Buffers are in use between such numbers.
  std::vector<int64_t> stepNumbers;
  int64_t arenaBytes = 0;
  std::vector<BufferId> results;            ///< by result, each a buffer of its own
  std::vector<bool> writtenArguments;       ///< by argument: whether steps write into it
  std::vector<bool> readArguments;          ///< by argument: whether steps read it, beyond Step::prepare()
  std::map<std::string, int64_t> evaluated; ///< how many steps evaluate an op, by its name
  std::unordered_map<const Step *, StepOrigin> origins; ///< also of the steps in steps
};

/// Lays the arena's buffers so that none overlaps another that is in use at the same time. Of parts of parts
/// it makes parts of the buffer that holds them all.
void layArena(Plan &plan);
/// The memory of parts, where that of all other buffers is known.
void placeParts(const Plan &plan, std::vector<std::byte *> &memory);

} // namespace torchere::cpu

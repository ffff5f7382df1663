// Callable: one entry point of a session, with its executables, one for each of the sets of sizes used last.
#pragma once

#include "artifact/bundle.h"
#include "base/digest.h"
#include "base/single_flight.h"
#include "passes/prepare/prepare.h"
#include "runtime/executable.h"
#include "session/call_signature.h"
#include "session/executable_table.h"
#include "session/session.h"
#include "session/weight_store.h"
#include "stablehlo/shared_module.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace torchere::session {

class Callable {
public:
  /// Where an argument of the function comes from.
  struct Source {
    WeightSlot *slot = nullptr; ///< null: the user's input at `position`
    size_t position = 0;
  };
  /// A result that becomes a weight's next value.
  struct Update {
    size_t result;
    WeightSlot *slot;
    std::optional<size_t> donatedArgument; ///< the argument whose memory the result takes
  };

  /// `constants` are the bundle's. Errors name the weight that is missing or of the wrong dtype or shape.
  static Result<std::unique_ptr<Callable>> create(const artifact::Function &function,
                                                  const artifact::Bundle &bundle, WeightStore &weights);

  const program::EntryPoint &entryPoint() const { return function.entryPoint; }
  const CallSignature &signature() const { return callSignature; }
  const std::vector<Source> &sources() const { return argumentSources; }
  const std::vector<Update> &updates() const { return stateUpdates; }
  /// The arguments that are state, of this callable or of another of the session's.
  const std::vector<size_t> &stateArguments() const { return stateReads; }
  /// Fills stateArguments(). Once all callables of the session are there.
  void findStateReads();
  /// The executable for sizes that the signature gave; one that is there is found without a lock. Made when
  /// it is not there: sizes are then checked, weights made resident, and, unless the client finds an
  /// executable for all this, the module refined and compiled. One thread makes it, those that ask for the
  /// same sizes wait, and those that ask for others do not. Counts as a call.
  Result<std::shared_ptr<const Specialization>> specialize(const Sizes &sizes, std::span<const Input> inputs,
                                                           runtime::Client &client,
                                                           std::optional<int> device);
  /// What a call with such sizes takes; an executable that is not there is made.
  Result<runtime::MemoryStatistics> memoryStatistics(const Sizes &sizes, std::span<const Input> inputs,
                                                     runtime::Client &client, std::optional<int> device);
  CallCounts counts() const;

private:
  Callable(const artifact::Function &function) : function(function), callSignature(function.entryPoint) {}
  Status findSources(const artifact::Bundle &bundle, WeightStore &weights);
  Status findUpdates();
  passes::Target targetFor(const runtime::Client &client, std::vector<passes::ArgumentShape> shapes) const;
  std::string identity(const passes::Target &target);
  Result<std::string> programFor(const passes::Target &target);
  Result<std::shared_ptr<const stablehlo::SharedModule>> findModule();
  Result<std::shared_ptr<const Specialization>> prepare(const Sizes &sizes, std::span<const Input> inputs,
                                                        runtime::Client &client, std::optional<int> device);
  Result<std::shared_ptr<const Specialization>> findOrPrepare(const Sizes &sizes,
                                                              std::span<const Input> inputs,
                                                              runtime::Client &client,
                                                              std::optional<int> device);
  std::vector<std::shared_ptr<const runtime::ArrayType>> argumentTypes(std::span<const Input> inputs) const;

  const artifact::Function &function;
  CallSignature callSignature;
  WeightStore *weightStore = nullptr;
  std::vector<Source> argumentSources;
  std::vector<Update> stateUpdates;
  std::vector<size_t> stateReads;

  ExecutableTable executables;
  SingleFlight<Sizes, std::shared_ptr<const Specialization>> preparations; ///< its lock is for put()
  std::atomic<int64_t> callCount = 0, refinementCount = 0, preparationCount = 0;

  std::once_flag digestOnce;
  Digest programDigest; ///< of what all specializations are made from

  // One thread at a time uses the module and what is made from it, because these share an MLIR context.
  // Refining and writing take milliseconds; the plugin compiles without it.
  std::mutex moduleMutex; ///< while the module is read
  std::shared_ptr<const stablehlo::SharedModule> module;
};

} // namespace torchere::session

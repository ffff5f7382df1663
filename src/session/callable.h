// Callable: one entry point of a session, with the executables for its most recently used sets of sizes.
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
  /// The source of a function argument.
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

  /// `constants` are the bundle's. Errors name the weight that is missing or has the wrong dtype or shape.
  static Result<std::unique_ptr<Callable>> create(const artifact::Function &function,
                                                  const artifact::Bundle &bundle, WeightStore &weights);

  const program::EntryPoint &entryPoint() const { return function.entryPoint; }
  const CallSignature &signature() const { return callSignature; }
  const std::vector<Source> &sources() const { return argumentSources; }
  const std::vector<Update> &updates() const { return stateUpdates; }
  /// The arguments that are state, of this callable or of another one of the session.
  const std::vector<size_t> &stateArguments() const { return stateReads; }
  /// Fills stateArguments(), once all callables of the session exist.
  void findStateReads();
  /// The result that is the status of the function's checks.
  std::optional<size_t> statusResult() const { return status; }
  Status donateInputs(std::span<const InputDonation> donations);
  /// The same function with other weights: what is known of its program, and the executables, which stay in
  /// use for the client to find.
  void continueFrom(Callable &other);
  /// The executable for sizes that the signature returned; an existing one is found without a lock. Otherwise
  /// the sizes are checked, weights made resident, and, unless the client finds an executable for this
  /// combination, the module is refined and compiled. One thread does this; callers with the same sizes wait
  /// for it, callers with other sizes do not. A plugin that binds open sizes itself compiles one executable
  /// for all sizes. Counts as a call.
  Result<std::shared_ptr<const Specialization>> specialize(const Sizes &sizes, std::span<const Input> inputs,
                                                           runtime::Client &client,
                                                           std::optional<int> device);
  /// The same without the count.
  Status prepareFor(const Sizes &sizes, std::span<const Input> inputs, runtime::Client &client,
                    std::optional<int> device);
  /// The memory that a call with such sizes needs, of an executable for these sizes alone, which is prepared
  /// if there is none.
  Result<runtime::MemoryStatistics> memoryStatistics(const Sizes &sizes, std::span<const Input> inputs,
                                                     runtime::Client &client, std::optional<int> device);
  CallCounts counts() const;

private:
  Callable(const artifact::Function &function) : function(function), callSignature(function.entryPoint) {}
  Status findSources(const artifact::Bundle &bundle, WeightStore &weights);
  Status findUpdates();
  /// What becomes of the dynamic sizes of a program.
  enum class Sizing : bool { Fixed, AsThePluginTakes };
  passes::Target targetFor(const runtime::Client &client, std::vector<passes::ArgumentShape> shapes,
                           Sizing sizing) const;
  std::vector<passes::ArgumentShape>
  shapesOf(std::span<const Input> inputs,
           std::span<const std::shared_ptr<const runtime::ArrayType>> types) const;
  Result<std::shared_ptr<const runtime::Executable>> compile(std::vector<passes::ArgumentShape> shapes,
                                                             Sizing sizing, runtime::Client &client,
                                                             std::optional<int> device);
  std::string identity(const passes::Target &target);
  Result<std::string> programFor(passes::Target target, const std::vector<passes::ArgumentShape> &shapes,
                                 bool withLocations);
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
  std::optional<size_t> status;
  std::vector<passes::Donation> inputDonations; ///< of the user's inputs

  ExecutableTable executables;
  SingleFlight<Sizes, std::shared_ptr<const Specialization>> preparations; ///< its lock also guards put()
  std::atomic<int64_t> callCount = 0, refinementCount = 0, preparationCount = 0;

  /// Of what all specializations have in common.
  struct ProgramDigest {
    std::once_flag once;
    Digest value;
  };
  std::shared_ptr<ProgramDigest> programDigest = std::make_shared<ProgramDigest>();
  std::vector<std::shared_ptr<const Specialization>> inherited; ///< only kept in use

  // One thread at a time uses the module and anything built from it, because they share an MLIR context.
  // Refining and writing take milliseconds; the plugin compiles without this lock.
  std::mutex moduleMutex; ///< held while the module is parsed
  std::shared_ptr<const stablehlo::SharedModule> module;
};

} // namespace torchere::session

// Program and Engine: what a plugin of ours brings to the server of PJRT's functions.
#pragma once

#include "base/lifetime.h"
#include "interpreter/entry_point.h"
#include "pjrt/compile_options.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace torchere::pjrt_server {

// Arrays are tensors of elements in host memory.
using interpreter::Index;
using interpreter::IndexView;
using interpreter::Tensor;
using interpreter::TensorType;

/// An argument of a run.
struct Argument {
  const Tensor *tensor = nullptr; ///< which lasts longer than the run
  /// Whether nobody else has the tensor's memory, so that the run may write results into it.
  bool mayBeOverwritten = false;
  /// That of the buffer's contents, whose id no other contents ever have, also not in the same memory. Lasts
  /// longer than the run.
  const Lifetime *contents = nullptr;

  /// Of the elements; written only if it may be overwritten.
  std::byte *memory() const { return const_cast<std::byte *>(tensor->bytes().data()); }
};

/// By process: a replica's partitions, then the next replica's.
using ArgumentLists = std::vector<std::vector<Argument>>;
using ResultLists = std::vector<std::vector<Tensor>>;

/// A compiled program. Any number of threads run it at once.
class Program {
public:
  virtual ~Program() = default;

  virtual const interpreter::EntryPoint &entry() const = 0;
  /// A result may share its elements with arguments and with other results.
  virtual Result<ResultLists> run(const ArgumentLists &arguments) const = 0;
  /// The same, and what each part of the run took, as JSON; docs/engine.md describes it. Unimplemented where
  /// runs are not measured.
  virtual Result<ResultLists> profile(const ArgumentLists &, std::string & /*report*/) const {
    return fail(ErrorCode::Unimplemented, "[{}] runs of this program are not measured", entry().name);
  }
  /// What Engine::load makes the program of again, without compiling. Empty if there is no such form of it.
  virtual std::string stored() const { return {}; }
  /// Bytes that a run needs beside arguments and results, as far as they are known.
  virtual int64_t temporaryBytes() const { return 0; }
};

/// The options of a client beyond the number of its devices.
struct ClientOptions {
  /// Runs start in a thread of the client's, and the call returns; otherwise the call computes.
  bool asynchronous = true;
  /// How many threads a run computes with; 0 leaves it to the engine.
  int64_t intraOpThreads = 0;
  /// An absolute folder for weights as programs pack them; empty leaves it to the engine.
  std::string packedCache = {};
  int64_t packedCacheSize = 0; ///< at most, in bytes; 0 leaves it to the engine
};

/// How programs are compiled, and what the plugin says of itself.
struct Engine {
  std::string_view platform;   ///< "interpreter"
  std::string_view deviceName; ///< "Interpreter": its devices are InterpreterDevice(id=0)
  std::string_view stored;     ///< the line that a stored executable begins with: its format and version
  /// That option of clients which do not set it.
  bool isAsynchronous = true;
  /// Which of the client's options a caller may set.
  bool takesOptions = false;
  /// Whether it knows marked weights: arguments with the attribute `torchere.weight`.
  bool knowsWeights = false;
  /// Whether its programs can be profiled.
  bool hasProfiles = false;
  Result<std::unique_ptr<const Program>> (*compile)(std::string_view code,
                                                    const pjrt::CompileOptions &options,
                                                    const ClientOptions &clientOptions) = nullptr;
  /// The program of what stored() gave, for these options; `code`, which it was compiled from, lasts longer
  /// than the program. Null if it was stored by another build, or for
  /// other options or another processor, so that it has to be compiled again. InvalidArgument for anything
  /// else. Null if no program has such a form.
  Result<std::unique_ptr<const Program>> (*load)(std::string_view stored, std::string_view code,
                                                 const pjrt::CompileOptions &options,
                                                 const ClientOptions &clientOptions) = nullptr;
};

} // namespace torchere::pjrt_server

// Executable: a compiled program, loaded on a device.
#pragma once

#include "runtime/buffer.h"

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace torchere::runtime {

/// What an execution takes, in bytes, as the plugin's compiler planned it.
struct MemoryStatistics {
  int64_t arguments = 0;
  int64_t results = 0;
  int64_t aliases = 0;     ///< of the results, what lies in the memory of donated arguments
  int64_t temporaries = 0; ///< allocated for the time of the execution
  int64_t code = 0;
};

/// Owns the plugin's executable and, through it, the client. Callable from several threads at once.
class TORCHERE_EXPORT Executable {
public:
  ~Executable();
  Executable(const Executable &) = delete;
  Executable &operator=(const Executable &) = delete;

  /// Runs the program on one device and waits for the end. `arguments` are the program's, in order, of its
  /// dtypes and shapes: plugins do not check them. The program donates the arguments that it marks
  /// (`tf.aliasing_output`, `jax.buffer_donor`) except those whose indices are in `kept`; a donated buffer is
  /// deleted afterwards. Arguments may be results that are still computed; where that failed, its error is
  /// this one's.
  Result<std::vector<Buffer>> execute(std::span<const Buffer *const> arguments,
                                      std::span<const int64_t> kept = {}) const;
  /// The same without waiting, unless the plugin does: whoever reads a result waits for it, and gets the
  /// error of what went wrong, `[origin's name] executing the program failed: ...; at its place`. The
  /// arguments may go meanwhile: the plugin keeps what it needs.
  Result<std::vector<Buffer>> start(std::span<const Buffer *const> arguments, std::span<const int64_t> kept,
                                    Origin origin) const;
  /// What the plugin needs to load it again, with the same build of the plugin on the same kind of machine.
  /// Unimplemented when the plugin has no such function; else what it answers.
  Result<std::string> serialize() const;
  /// Unimplemented when the plugin has no such function; else what it answers.
  Result<MemoryStatistics> memoryStatistics() const;
  size_t outputCount() const { return outputs; }
  const std::shared_ptr<Client> &client() const { return owningClient; }

private:
  friend class Client;
  struct OutputType {
    std::shared_ptr<const ArrayType> type;
    bool hostReadable = false;
  };
  /// `options` in their wire form; `device` is the one that they name.
  static Result<std::shared_ptr<const Executable>> compile(std::shared_ptr<Client> client,
                                                           std::string_view program,
                                                           const std::string &options, const Device &device);
  /// Loads what serialize() gave.
  static Result<std::shared_ptr<const Executable>> deserialize(std::shared_ptr<Client> client,
                                                               std::string_view bytes, const Device &device);
  Executable(std::shared_ptr<Client> client, pjrt::LoadedExecutable *handle, const Device &device)
      : owningClient(std::move(client)), executable(handle), device(&device) {}
  static Result<std::shared_ptr<const Executable>> load(std::shared_ptr<Client> client,
                                                        pjrt::LoadedExecutable *handle, const Device &device);
  /// Fills in the results and the event of the end, which may be null.
  Status launch(std::span<const Buffer *const> arguments, std::span<const int64_t> kept,
                std::span<pjrt::Buffer *> results, pjrt::Event *&end) const;
  Status readOutputCount();
  /// Calls `use` with the part of the executable that tells about itself.
  template <class Use> Status inspect(Use use) const;
  Status readOutputTypes(std::span<pjrt::Buffer *const> results) const;
  /// `isReady`: they are computed. Else `execution` does so; null where only the plugin knows.
  Result<std::vector<Buffer>> wrap(std::span<pjrt::Buffer *const> results,
                                   const std::shared_ptr<Execution> &execution, bool isReady) const;
  void destroy(std::span<pjrt::Buffer *const> results) const;

  std::shared_ptr<Client> owningClient;
  pjrt::LoadedExecutable *executable;
  const Device *device; ///< the client's
  size_t outputs = 0;

  // The types of the results are the same in every execution: asked for once.
  mutable std::once_flag typesOnce;
  mutable Status typesStatus;
  mutable std::vector<OutputType> outputTypes;
};

} // namespace torchere::runtime

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
  /// deleted afterwards.
  Result<std::vector<Buffer>> execute(std::span<const Buffer *const> arguments,
                                      std::span<const int64_t> kept = {}) const;
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
  /// `options` in their wire form.
  static Result<std::shared_ptr<const Executable>>
  compile(std::shared_ptr<Client> client, std::string_view program, const std::string &options);
  /// Loads what serialize() gave.
  static Result<std::shared_ptr<const Executable>> deserialize(std::shared_ptr<Client> client,
                                                               std::string_view bytes);
  Executable(std::shared_ptr<Client> client, abi::LoadedExecutable *handle)
      : owningClient(std::move(client)), executable(handle) {}
  static Result<std::shared_ptr<const Executable>> load(std::shared_ptr<Client> client,
                                                        abi::LoadedExecutable *handle);
  Status readOutputCount();
  /// Calls `use` with the part of the executable that tells about itself.
  template <class Use> Status inspect(Use use) const;
  Status readOutputTypes(std::span<abi::Buffer *const> results) const;
  Result<std::vector<Buffer>> wrap(std::span<abi::Buffer *const> results) const;
  void destroy(std::span<abi::Buffer *const> results) const;

  std::shared_ptr<Client> owningClient;
  abi::LoadedExecutable *executable;
  size_t outputs = 0;

  // The types of the results are the same in every execution: asked for once.
  mutable std::once_flag typesOnce;
  mutable Status typesStatus;
  mutable std::vector<OutputType> outputTypes;
};

} // namespace torchere::runtime

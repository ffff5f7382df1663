// Executable: a compiled program, loaded on a device.
#pragma once

#include "runtime/buffer.h"
#include "runtime/cache_entry.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace torchere::runtime {

/// The memory that an execution needs, in bytes, as planned by the plugin's compiler.
struct MemoryStatistics {
  int64_t arguments = 0;
  int64_t results = 0;
  int64_t aliases = 0;     ///< the part of the results in the memory of donated arguments
  int64_t temporaries = 0; ///< allocated during the execution
  int64_t code = 0;
};

/// Owns the plugin's executable and, through it, the client. Callable from several threads at once.
class TORCHERE_EXPORT Executable {
public:
  ~Executable();
  Executable(const Executable &) = delete;
  Executable &operator=(const Executable &) = delete;

  /// Runs the program on one device and waits for the end. `arguments` are the program's, in order, with its
  /// dtypes and shapes: plugins do not check them. The program donates the arguments that it marks
  /// (`tf.aliasing_output`, `jax.buffer_donor`) except those whose indices are in `kept`; a donated buffer is
  /// deleted. Arguments may be results that are still being computed; if computing one fails, this call fails
  /// with its error.
  Result<std::vector<Buffer>> execute(std::span<const Buffer *const> arguments,
                                      std::span<const int64_t> kept = {}) const;
  /// The same as execute(), and what the plugin measured, as JSON. Unimplemented if the plugin is not one of
  /// this package's that measures.
  Result<std::pair<std::vector<Buffer>, std::string>> profile(std::span<const Buffer *const> arguments,
                                                              std::span<const int64_t> kept = {}) const;
  /// The same without waiting, unless the plugin itself waits. Reading a result waits for it, and returns the
  /// error of a failed execution: `[origin's name] executing the program failed: ...; at its place`. The
  /// arguments may be destroyed in the meantime: the plugin keeps what it needs.
  Result<std::vector<Buffer>> start(std::span<const Buffer *const> arguments, std::span<const int64_t> kept,
                                    Origin origin) const;
  /// The bytes from which the same build of the plugin can load it again on the same kind of machine.
  /// Unimplemented if the plugin has no such function; otherwise the plugin's errors.
  Result<std::string> serialize() const;
  /// Unimplemented if the plugin has no such function; otherwise the plugin's errors.
  Result<MemoryStatistics> memoryStatistics() const;
  size_t outputCount() const { return outputs; }
  const std::shared_ptr<Client> &client() const { return owningClient; }

private:
  friend class Client;
  struct OutputType {
    std::shared_ptr<const ArrayType> type;
    bool hostReadable = false;
  };
  /// `options` in their wire form; `device` is the device that they name.
  static Result<std::shared_ptr<const Executable>> compile(std::shared_ptr<Client> client,
                                                           std::string_view program,
                                                           const std::string &options, const Device &device);
  /// Loads the bytes that serialize() returned.
  static Result<std::shared_ptr<const Executable>> deserialize(std::shared_ptr<Client> client,
                                                               std::string_view bytes, const Device &device);
  Executable(std::shared_ptr<Client> client, pjrt::LoadedExecutable *handle, const Device &device)
      : owningClient(std::move(client)), executable(handle), device(&device) {}
  static Result<std::shared_ptr<const Executable>> load(std::shared_ptr<Client> client,
                                                        pjrt::LoadedExecutable *handle, const Device &device);
  /// Sets the results, and the event of the end, which may be null. `report`: where the plugin's profile
  /// goes; null for none.
  Status launch(std::span<const Buffer *const> arguments, std::span<const int64_t> kept,
                std::span<pjrt::Buffer *> results, pjrt::Event *&end, std::string *report = nullptr) const;
  Status measure(pjrt::LoadedExecutableExecuteArgs &args, std::string &report) const;
  Result<std::vector<Buffer>> finish(std::span<const Buffer *const> arguments,
                                     std::span<pjrt::Buffer *const> results, pjrt::Event *end) const;
  Status readOutputCount();
  /// Calls `use` with the part of the executable that can be queried.
  template <class Use> Status inspect(Use use) const;
  Result<OutputType> readOutputType(pjrt::Buffer *result) const;
  /// Sets outputTypes.
  Status readOutputTypes(std::span<pjrt::Buffer *const> results) const;
  /// `isReady`: the results are computed. Otherwise `execution` computes them; null if only the plugin knows
  /// when.
  Result<std::vector<Buffer>> wrap(std::span<pjrt::Buffer *const> results,
                                   const std::shared_ptr<Execution> &execution, bool isReady) const;
  void destroy(std::span<pjrt::Buffer *const> results) const;
  /// Of a program of open sizes: it is in the cache, with so many bytes.
  void markOpen(const CacheKey &key, size_t bytes) const {
    openEntry.key = key;
    openEntry.bytes = bytes;
  }
  /// Of a successful call.
  void countCall() const;

  std::shared_ptr<Client> owningClient;
  pjrt::LoadedExecutable *executable;
  const Device *device; ///< the client's
  size_t outputs = 0;

  /// The entry in the cache of a program of open sizes, for which the plugin may store more after calls.
  struct OpenEntry {
    std::optional<CacheKey> key;
    std::atomic<size_t> bytes = 0; ///< that are stored
    std::atomic<uint64_t> calls = 0;
  };
  mutable OpenEntry openEntry;

  // The result types are the same for every execution, so they are queried once; those with sizes that
  // depend on data are null.
  mutable std::once_flag typesOnce;
  mutable Status typesStatus;
  mutable std::vector<OutputType> outputTypes;
};

} // namespace torchere::runtime

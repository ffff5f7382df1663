// The kernels and types that this process has registered with a plugin.
#pragma once

#include "base/error.h"
#include "ffi/abi.h"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace torchere::ffi {

/// By target for kernels, by name for types. Nothing is ever taken out.
class Registry {
public:
  static Registry &instance();

  /// Asks the handlers for the version that they were compiled with. AlreadyExists for another kernel of the
  /// target.
  Status addKernel(std::string_view target, const abi::HandlerBundle &kernel);
  std::optional<abi::HandlerBundle> findKernel(std::string_view target) const;

  /// `id` is that of the type in other registries, or 0 for a new one. Returns the type's id, which is the
  /// same each time.
  Result<int64_t> addType(std::string_view name, int64_t id, void (*deleter)(void *object));
  bool hasType(int64_t id) const;
  /// Null for a type whose objects nobody deletes.
  void (*deleterOf(int64_t id) const)(void *object);

private:
  struct Type {
    int64_t id = 0;
    void (*deleter)(void *object) = nullptr;
  };
  const Type *findType(int64_t id) const;

  mutable std::mutex mutex;
  std::map<std::string, abi::HandlerBundle, std::less<>> kernels;
  std::map<std::string, Type, std::less<>> types;
  int64_t nextType = int64_t(1) << 32; ///< far from those of other registries
};

} // namespace torchere::ffi

// Implements the registry: versions are checked when a kernel is registered.
#include "ffi/registry.h"

#include "ffi/api_table.h"

namespace torchere::ffi {

Registry &Registry::instance() {
  static auto &registry = *new Registry; // programs may outlive static destructors
  return registry;
}

/// Handlers of another major version have another ABI.
static Status checkVersion(std::string_view target, abi::Handler *handler) {
  abi::Metadata metadata;
  metadata.version.major = -1;
  abi::MetadataExtension extension{{sizeof extension, abi::ExtensionType::Metadata, nullptr}, &metadata};
  abi::CallFrame frame;
  frame.extensions = &extension.base;
  frame.api = &apiTable();
  if (abi::Error *error = handler(&frame)) {
    Error taken = takeError(error);
    return fail(taken.code, "[{}] the kernel cannot be registered: {}", target, taken.message);
  }
  if (metadata.version.major != abi::majorVersion)
    return fail(ErrorCode::Unimplemented,
                "[{}] a kernel of another version of XLA's FFI: got {}.{}, expected {}.x", target,
                metadata.version.major, metadata.version.minor, abi::majorVersion);
  return {};
}

static bool isSame(const abi::HandlerBundle &left, const abi::HandlerBundle &right) {
  return left.instantiate == right.instantiate && left.prepare == right.prepare &&
         left.initialize == right.initialize && left.execute == right.execute;
}

Status Registry::addKernel(std::string_view target, const abi::HandlerBundle &kernel) {
  if (target.empty())
    return invalidArgument("a kernel's target: got an empty name");
  if (!kernel.execute)
    return invalidArgument("[{}] a kernel without a handler for its execution", target);
  for (abi::Handler *handler : {kernel.instantiate, kernel.prepare, kernel.initialize, kernel.execute})
    if (handler)
      TORCHERE_TRY(checkVersion(target, handler));
  std::lock_guard lock(mutex);
  auto [row, isNew] = kernels.emplace(target, kernel);
  if (!isNew && !isSame(row->second, kernel))
    return fail(ErrorCode::AlreadyExists, "[{}] another kernel is registered for the target already", target);
  return {};
}

std::optional<abi::HandlerBundle> Registry::findKernel(std::string_view target) const {
  std::lock_guard lock(mutex);
  auto row = kernels.find(target);
  return row == kernels.end() ? std::nullopt : std::optional(row->second);
}

const Registry::Type *Registry::findType(int64_t id) const {
  for (const auto &[name, type] : types)
    if (type.id == id)
      return &type;
  return nullptr;
}

Result<int64_t> Registry::addType(std::string_view name, int64_t id, void (*deleter)(void *object)) {
  std::lock_guard lock(mutex);
  if (auto row = types.find(name); row != types.end()) {
    if (id != 0 && id != row->second.id)
      return fail(ErrorCode::AlreadyExists, "[{}] the type is registered already: got id {}, expected {}",
                  name, id, row->second.id);
    return row->second.id;
  }
  if (id != 0 && findType(id))
    return fail(ErrorCode::AlreadyExists, "[{}] another type has its id, {}", name, id);
  int64_t given = id != 0 ? id : nextType++;
  types.emplace(name, Type{given, deleter});
  return given;
}

bool Registry::hasType(int64_t id) const {
  std::lock_guard lock(mutex);
  return findType(id) != nullptr;
}

void (*Registry::deleterOf(int64_t id) const)(void *) {
  std::lock_guard lock(mutex);
  const Type *type = findType(id);
  return type ? type->deleter : nullptr;
}

} // namespace torchere::ffi

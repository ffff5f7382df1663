// The objects that handles stand for.
#pragma once

#include "artifact/bundle.h"
#include "capi/description.h"
#include "capi/handles.h"
#include "runtime/client.h"
#include "runtime/discovery.h"
#include "session/session.h"

#include <torchere/torchere.h>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace torchere::capi {

struct Plugins {
  using Handle = torchere_plugins;
  static constexpr HandleKind kind = HandleKind::Plugins;
  static constexpr const char *noun = "plugins";
  std::vector<runtime::PluginLocation> list;
};

struct Client {
  using Handle = torchere_client;
  static constexpr HandleKind kind = HandleKind::Client;
  static constexpr const char *noun = "client";
  std::shared_ptr<runtime::Client> client;
};

/// What programs that share their weights share.
struct LoadedBundle {
  std::shared_ptr<const artifact::Bundle> bundle;
  std::vector<FunctionDescription> functions; ///< refer to the bundle
};

struct Program {
  using Handle = torchere_program;
  static constexpr HandleKind kind = HandleKind::Program;
  static constexpr const char *noun = "program";

  /// Opens a session for the bundle; `like` is a program of the same bundle whose executables are used again.
  static Result<std::shared_ptr<Program>> create(std::shared_ptr<runtime::Client> client,
                                                 std::shared_ptr<const LoadedBundle> loaded,
                                                 std::optional<int> device, const Program *like = nullptr);

  std::shared_ptr<const LoadedBundle> loaded; ///< outlives the session
  std::shared_ptr<runtime::Client> client;
  std::optional<int> deviceId;
  std::shared_ptr<session::Session> session;
  std::vector<ValueDescription> states; ///< without the random numbers'

  /// The description of a function; OutOfRange if there is none at this index.
  Result<const FunctionDescription *> function(size_t index) const;
};

/// An array on the device, and the host's view of it once somebody has asked.
class Array {
public:
  using Handle = torchere_array;
  static constexpr HandleKind kind = HandleKind::Array;
  static constexpr const char *noun = "array";

  explicit Array(session::DeviceTensor tensor) : tensor(std::move(tensor)) {}
  /// Waits. Lives as long as this object.
  Result<const runtime::HostArray *> host();
  const session::DeviceTensor &onDevice() const { return tensor; }

private:
  session::DeviceTensor tensor;
  std::mutex mutex;
  std::optional<runtime::HostArray> array;
};

/// A value that a call gave: nothing for a constant.
using ResultValue = std::variant<std::monostate, runtime::HostArray, std::shared_ptr<Array>>;

struct CallOutcome {
  using Handle = torchere_result;
  static constexpr HandleKind kind = HandleKind::Result;
  static constexpr const char *noun = "result";

  /// Puts the values in the order of the function's description.
  static Result<std::shared_ptr<CallOutcome>> create(std::shared_ptr<const LoadedBundle> loaded,
                                                     const FunctionDescription &function,
                                                     session::CallResult result);

  std::shared_ptr<const LoadedBundle> loaded; ///< keeps the description
  const FunctionDescription *function = nullptr;
  std::vector<ResultValue> values;

  /// Waits. FailedPrecondition for a constant.
  Result<const runtime::HostArray *> host(size_t index) const;
  /// A value of the execution that computes this result; null if there is none to wait for.
  const runtime::Buffer *pending() const;
};

struct Snapshot {
  using Handle = torchere_snapshot;
  static constexpr HandleKind kind = HandleKind::Snapshot;
  static constexpr const char *noun = "snapshot";
  std::vector<session::NamedArray> states;
};

/// Fills in what is known of an array whose type it is; the pointers are into the type.
void fillType(const runtime::ArrayType &type, torchere_value_info &info);
/// Views of the arrays, which must outlive them.
std::vector<session::NamedView> viewsOf(const std::vector<session::NamedArray> &arrays);
/// Copies an array's elements. OutOfRange if the memory is too short.
Status copyElements(const runtime::HostArray &array, const char *name, void *data, size_t byteSize);

} // namespace torchere::capi

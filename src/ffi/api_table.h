// The functions that handlers call back, and the structures behind their handles.
#pragma once

#include "base/error.h"
#include "ffi/call_site.h"

#include <array>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace torchere::ffi {

const abi::Api &apiTable();

/// The error that a handler returned, which is destroyed.
Error takeError(abi::Error *error);

/// Behind abi::ExecutionContext: one run of the handlers, or their instantiation.
struct Execution {
  std::array<State *, 3> states{}; ///< by stage; of those before Execute
  std::optional<RunPlace> place;   ///< none while a program is instantiated
  abi::Stage stage;                ///< of the handler that runs
};

/// Behind abi::Future.
class Future {
public:
  void set(Status status);
  Status wait();

private:
  std::mutex mutex;
  std::condition_variable isSet;
  std::optional<Status> result;
};

} // namespace torchere::ffi

// For our own plugins: a function table, filled with C++ functions that return a Status.
#pragma once

#include "base/guarded.h"
#include "pjrt/api.h"

namespace torchere::pjrt {

/// A complete table: the functions for errors and events work (events are Completions), and every other
/// function returns Unimplemented with its name.
Api makeTable();

/// An error of the table, which the plugin's caller destroys. A message without a subject gets the function's
/// name.
Error *makeError(const torchere::Error &error, std::string_view function);

/// How much of its argument structure a function needs. Callers built against an older version pass shorter
/// structures; those that grew since are listed here.
template <class Args> inline constexpr size_t requiredSize = Args{}.structSize;
template <>
inline constexpr size_t requiredSize<ClientCreateArgs> =
    offsetof(ClientCreateArgs, client) + sizeof(ClientCreateArgs::client);
template <>
inline constexpr size_t requiredSize<ExecuteOptions> =
    offsetof(ExecuteOptions, nonDonatableInputCount) + sizeof(ExecuteOptions::nonDonatableInputCount);
template <>
inline constexpr size_t requiredSize<ExecutableDeserializeAndLoadArgs> =
    offsetof(ExecutableDeserializeAndLoadArgs, executable) +
    sizeof(ExecutableDeserializeAndLoadArgs::executable);

/// InvalidArgument for null and for a structure that is shorter than the function needs.
template <class Args> Status checkStructure(const Args *args) {
  if (!args)
    return invalidArgument("no structure of arguments: got null");
  if (args->structSize < requiredSize<Args>)
    return invalidArgument("structure of arguments too short: got {} bytes, expected at least {}",
                           args->structSize, requiredSize<Args>);
  return {};
}

/// InvalidArgument for null; `what` names what is missing.
template <class T> Status checkGiven(const T *pointer, std::string_view what) {
  return pointer ? Status{} : invalidArgument("no {}: got null", what);
}

/// The entry at `offset` of the table, which checks its argument and calls `implementation`.
template <auto implementation, size_t offset> struct Entry;
template <class Args, Status (*implementation)(Args &), size_t offset> struct Entry<implementation, offset> {
  static Error *call(Args *args) noexcept {
    Status status = run(args);
    return status ? nullptr : makeError(status.error(), functionName(offset));
  }

private:
  static Status run(Args *args) {
    TORCHERE_TRY(checkStructure(args));
    return guarded([args] { return implementation(*args); });
  }
};

/// Fills an entry: TORCHERE_PJRT_FILL(api, clientCreate, createClient).
#define TORCHERE_PJRT_FILL(api, member, implementation)                                                      \
  api.member = ::torchere::pjrt::Entry<implementation, offsetof(::torchere::pjrt::Api, member)>::call

} // namespace torchere::pjrt

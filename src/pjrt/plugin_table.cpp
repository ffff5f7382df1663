// Implements the base table for our own plugins: errors, events, and Unimplemented for everything else.
#include "pjrt/plugin_table.h"

#include "pjrt/completion.h"

namespace torchere::pjrt {

// The handles are opaque: other plugins in the process have types of their own behind them.
namespace {
struct OwnError {
  ErrorCode code;
  std::string message;
};
struct OwnEvent {
  std::shared_ptr<Completion> completion;
};

const OwnError &own(const Error *error) {
  return *reinterpret_cast<const OwnError *>(error);
}
Completion &own(Event *event) {
  return *reinterpret_cast<OwnEvent *>(event)->completion;
}

void destroyError(ErrorDestroyArgs *args) {
  if (checkStructure(args))
    delete reinterpret_cast<OwnError *>(args->error);
}
void messageOf(ErrorMessageArgs *args) {
  if (!checkStructure(args) || !args->error)
    return;
  args->message = own(args->error).message.data();
  args->messageSize = own(args->error).message.size();
}
Status codeOf(ErrorGetCodeArgs &args) {
  TORCHERE_TRY(checkGiven(args.error, "error"));
  args.code = static_cast<int>(own(args.error).code);
  return {};
}

Status destroyEvent(EventDestroyArgs &args) {
  delete reinterpret_cast<OwnEvent *>(args.event);
  return {};
}
Status isReady(EventIsReadyArgs &args) {
  TORCHERE_TRY(checkGiven(args.event, "event"));
  args.isReady = own(args.event).isSet();
  return {};
}
Status errorOf(EventErrorArgs &args) {
  TORCHERE_TRY(checkGiven(args.event, "event"));
  if (!own(args.event).isSet())
    return fail(ErrorCode::FailedPrecondition, "the event is not ready");
  return own(args.event).wait();
}
Status await(EventAwaitArgs &args) {
  TORCHERE_TRY(checkGiven(args.event, "event"));
  return own(args.event).wait();
}
Status callWhenReady(EventOnReadyArgs &args) {
  TORCHERE_TRY(checkGiven(args.event, "event"));
  if (!args.callback)
    return invalidArgument("no callback: got null");
  own(args.event).onSet([callback = args.callback, argument = args.argument](const Status &status) {
    callback(status ? nullptr : makeError(status.error(), "PJRT_Event_OnReady"), argument);
  });
  return {};
}
Status createEvent(EventCreateArgs &args) {
  args.event = makeEvent(std::make_shared<Completion>());
  return {};
}
Status setEvent(EventSetArgs &args) {
  TORCHERE_TRY(checkGiven(args.event, "event"));
  Status status;
  if (args.code < 0 || args.code > static_cast<int>(ErrorCode::Unauthenticated))
    return invalidArgument("no such code of an error: got {}", args.code);
  if (args.code != 0)
    status = tl::unexpected(torchere::Error{static_cast<ErrorCode>(args.code),
                                            args.message ? std::string(args.message, args.messageSize) : "",
                                            {}});
  if (!own(args.event).set(std::move(status)))
    return fail(ErrorCode::FailedPrecondition, "the event is ready already");
  return {};
}

template <class Args> Status unimplemented(Args &) {
  return fail(ErrorCode::Unimplemented, "the plugin does not have this function");
}
} // namespace

Error *makeError(const torchere::Error &error, std::string_view function) {
  std::string text = error.text();
  if (!text.starts_with('['))
    text = fmt::format("[{}] {}", function, text);
  return reinterpret_cast<Error *>(new OwnError{error.code, std::move(text)});
}

Event *makeEvent(std::shared_ptr<Completion> completion) {
  return reinterpret_cast<Event *>(new OwnEvent{std::move(completion)});
}

Api makeTable() {
  Api api{};
  api.structSize = sizeof(Api);
  api.version.major = majorVersion;
  api.version.minor = minorVersion;
  api.errorDestroy = destroyError;
  api.errorMessage = messageOf;
#define TORCHERE_PJRT_UNIMPLEMENTED(member, Args, name) TORCHERE_PJRT_FILL(api, member, unimplemented<Args>);
  TORCHERE_PJRT_FUNCTIONS(TORCHERE_PJRT_UNIMPLEMENTED)
#undef TORCHERE_PJRT_UNIMPLEMENTED
  TORCHERE_PJRT_FILL(api, errorGetCode, codeOf);
  TORCHERE_PJRT_FILL(api, eventDestroy, destroyEvent);
  TORCHERE_PJRT_FILL(api, eventIsReady, isReady);
  TORCHERE_PJRT_FILL(api, eventError, errorOf);
  TORCHERE_PJRT_FILL(api, eventAwait, await);
  TORCHERE_PJRT_FILL(api, eventOnReady, callWhenReady);
  TORCHERE_PJRT_FILL(api, eventCreate, createEvent);
  TORCHERE_PJRT_FILL(api, eventSet, setEvent);
  return api;
}

} // namespace torchere::pjrt

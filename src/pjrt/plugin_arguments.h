// The arguments of the functions for errors, the plugin itself and events.
#pragma once

#include "pjrt/types.h"

namespace torchere::pjrt {

struct ErrorDestroyArgs {
  TORCHERE_PJRT_HEADER(ErrorDestroyArgs, error);
  Error *error = nullptr;
};
struct ErrorMessageArgs {
  TORCHERE_PJRT_HEADER(ErrorMessageArgs, messageSize);
  const Error *error = nullptr;
  const char *message = nullptr; // out, lives as long as the error
  size_t messageSize = 0;        // out
};
struct ErrorGetCodeArgs {
  TORCHERE_PJRT_HEADER(ErrorGetCodeArgs, code);
  const Error *error = nullptr;
  int code = 0; // out
};
/// Lets the client's callbacks create errors of the plugin's.
using CallbackError = Error *(*)(int code, const char *message, size_t messageSize);

struct PluginInitializeArgs {
  TORCHERE_PJRT_HEADER(PluginInitializeArgs, extensions);
};
struct PluginAttributesArgs {
  TORCHERE_PJRT_HEADER(PluginAttributesArgs, count);
  const NamedValue *attributes = nullptr; // out
  size_t count = 0;                       // out
};

struct EventDestroyArgs {
  TORCHERE_PJRT_HEADER(EventDestroyArgs, event);
  Event *event = nullptr;
};
struct EventIsReadyArgs {
  TORCHERE_PJRT_HEADER(EventIsReadyArgs, isReady);
  Event *event = nullptr;
  bool isReady = false; // out
};
/// Returns the event's error; the event must be ready.
struct EventErrorArgs {
  TORCHERE_PJRT_HEADER(EventErrorArgs, event);
  Event *event = nullptr;
};
/// Waits for the event and returns its error.
struct EventAwaitArgs {
  TORCHERE_PJRT_HEADER(EventAwaitArgs, event);
  Event *event = nullptr;
};
/// The callback owns the error that it is given.
using EventCallback = void (*)(Error *error, void *argument);
struct EventOnReadyArgs {
  TORCHERE_PJRT_HEADER(EventOnReadyArgs, argument);
  Event *event = nullptr;
  EventCallback callback = nullptr;
  void *argument = nullptr;
};
struct EventCreateArgs {
  TORCHERE_PJRT_HEADER(EventCreateArgs, event);
  Event *event = nullptr; // out
};
/// Makes an event ready that PJRT_Event_Create created.
struct EventSetArgs {
  TORCHERE_PJRT_HEADER(EventSetArgs, messageSize);
  Event *event = nullptr;
  int code = 0; ///< 0: no error
  const char *message = nullptr;
  size_t messageSize = 0;
};

} // namespace torchere::pjrt

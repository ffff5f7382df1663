// Implements the functions that handlers call back.
#include "ffi/api_table.h"

#include "ffi/registry.h"
#include "ffi/task_pool.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace torchere::ffi {

namespace {

abi::Error *errorOf(Error error) {
  return reinterpret_cast<abi::Error *>(new Error(std::move(error)));
}
Error &held(abi::Error *error) {
  return *reinterpret_cast<Error *>(error);
}
Execution &held(abi::ExecutionContext *context) {
  return *reinterpret_cast<Execution *>(context);
}
Future &held(abi::Future *future) {
  return *reinterpret_cast<Future *>(future);
}
std::string_view textOf(const abi::ByteSpan &span) {
  return {span.data, span.size};
}

/// A function of the table, which checks its argument's size and returns the error of `implementation`.
template <auto implementation> struct Entry;
template <class Args, Status (*implementation)(Args &)> struct Entry<implementation> {
  static abi::Error *call(Args *args) noexcept {
    if (!args || args->structSize < Args{}.structSize)
      return errorOf({ErrorCode::InvalidArgument,
                      fmt::format("structure of arguments too short: got {} bytes, expected at least {}",
                                  args ? args->structSize : 0, Args{}.structSize),
                      {}});
    Status status = implementation(*args);
    return status ? nullptr : errorOf(std::move(status).error());
  }
};

abi::Error *createError(abi::ErrorCreateArgs *args) noexcept {
  int code = args->code;
  bool isKnown =
      code >= static_cast<int>(ErrorCode::Cancelled) && code <= static_cast<int>(ErrorCode::Unauthenticated);
  return errorOf(
      {isKnown ? static_cast<ErrorCode>(code) : ErrorCode::Unknown, args->message ? args->message : "", {}});
}
void getMessage(abi::ErrorGetMessageArgs *args) noexcept {
  args->message = held(args->error).message.c_str();
}
void destroyError(abi::ErrorDestroyArgs *args) noexcept {
  delete &held(args->error);
}

Status registerHandler(abi::HandlerRegisterArgs &args) {
  return Registry::instance().addKernel(textOf(args.name), args.bundle);
}

Status registerType(abi::TypeRegisterArgs &args) {
  if (!args.typeId)
    return invalidArgument("[{}] no place for the type's id: got null", textOf(args.name));
  auto *deleter = args.info ? args.info->deleter : nullptr;
  TORCHERE_ASSIGN(args.typeId->id, Registry::instance().addType(textOf(args.name), args.typeId->id, deleter));
  return {};
}

Status getStream(abi::StreamGetArgs &) {
  return fail(ErrorCode::Unimplemented, "a processor has no streams");
}
Status getUserData(abi::ContextGetArgs &args) {
  return fail(ErrorCode::NotFound, "the execution has no user data of the type {}",
              args.typeId ? args.typeId->id : 0);
}

/// Null for a stage without a state.
Result<State *> stateOf(const abi::StateArgs &args) {
  const std::array<State *, 3> &states = held(args.context).states;
  auto stage = static_cast<size_t>(args.stage);
  if (!args.typeId || stage >= states.size() || !states[stage])
    return invalidArgument("no state of stage {}", static_cast<int>(args.stage));
  return states[stage];
}

Status setState(abi::StateArgs &args) {
  TORCHERE_ASSIGN(State * state, stateOf(args));
  if (args.stage != held(args.context).stage)
    return fail(ErrorCode::FailedPrecondition, "the state of stage {} is set in stage {}",
                static_cast<int>(args.stage), static_cast<int>(held(args.context).stage));
  if (!Registry::instance().hasType(args.typeId->id))
    return fail(ErrorCode::NotFound, "a state's type is not registered: got id {}", args.typeId->id);
  if (state->type != 0)
    return fail(ErrorCode::AlreadyExists, "the stage's state is set already");
  state->type = args.typeId->id;
  state->object = args.state;
  return {};
}

Status getState(abi::StateArgs &args) {
  TORCHERE_ASSIGN(State * state, stateOf(args));
  if (state->type == 0)
    return fail(ErrorCode::NotFound, "the stage's state is not set");
  if (state->type != args.typeId->id)
    return invalidArgument("the stage's state is of another type: got id {}, expected {}", args.typeId->id,
                           state->type);
  args.state = state->object;
  return {};
}

Status allocate(abi::MemoryAllocateArgs &args) {
  size_t alignment = std::max(args.alignment, sizeof(void *));
  size_t size = (std::max<size_t>(args.size, 1) + alignment - 1) / alignment * alignment;
  args.data = std::aligned_alloc(alignment, size);
  if (!args.data)
    return fail(ErrorCode::ResourceExhausted, "no memory for {} bytes aligned to {}", args.size, alignment);
  return {};
}
Status release(abi::MemoryFreeArgs &args) {
  std::free(args.data);
  return {};
}

Result<RunPlace> placeOf(abi::ExecutionContext *context) {
  const std::optional<RunPlace> &place = held(context).place;
  if (!place)
    return fail(ErrorCode::FailedPrecondition, "nothing is run while a program is instantiated");
  return *place;
}

Status schedule(abi::ThreadPoolScheduleArgs &args) {
  TORCHERE_ASSIGN(RunPlace place, placeOf(args.context));
  scheduleTask(args.task, args.data, place.threads);
  return {};
}
Status countThreads(abi::ThreadPoolNumThreadsArgs &args) {
  TORCHERE_ASSIGN(RunPlace place, placeOf(args.context));
  *args.count = place.threads;
  return {};
}
Status getDevice(abi::DeviceOrdinalGetArgs &args) {
  TORCHERE_ASSIGN(RunPlace place, placeOf(args.context));
  args.ordinal = place.device;
  return {};
}
Status getRunId(abi::RunIdGetArgs &args) {
  TORCHERE_TRY(placeOf(args.context));
  args.id = reinterpret_cast<intptr_t>(args.context); // that of no other run at the time
  return {};
}

Status createFuture(abi::FutureCreateArgs &args) {
  args.future = reinterpret_cast<abi::Future *>(new Future);
  return {};
}
Status setAvailable(abi::FutureSetAvailableArgs &args) {
  held(args.future).set({});
  return {};
}
Status setError(abi::FutureSetErrorArgs &args) {
  held(args.future).set(tl::unexpected(takeError(args.error)));
  return {};
}

constexpr abi::Api makeTable() {
  abi::Api api;
  api.errorCreate = createError;
  api.errorGetMessage = getMessage;
  api.errorDestroy = destroyError;
  api.handlerRegister = Entry<registerHandler>::call;
  api.streamGet = Entry<getStream>::call;
  api.typeRegister = Entry<registerType>::call;
  api.contextGet = Entry<getUserData>::call;
  api.stateSet = Entry<setState>::call;
  api.stateGet = Entry<getState>::call;
  api.memoryAllocate = Entry<allocate>::call;
  api.memoryFree = Entry<release>::call;
  api.threadPoolSchedule = Entry<schedule>::call;
  api.threadPoolNumThreads = Entry<countThreads>::call;
  api.futureCreate = Entry<createFuture>::call;
  api.futureSetAvailable = Entry<setAvailable>::call;
  api.futureSetError = Entry<setError>::call;
  api.runIdGet = Entry<getRunId>::call;
  api.deviceOrdinalGet = Entry<getDevice>::call;
  return api;
}

constexpr abi::Api table = makeTable();

} // namespace

const abi::Api &apiTable() {
  return table;
}

Error takeError(abi::Error *error) {
  Error taken = std::move(held(error));
  delete &held(error);
  return taken;
}

State::~State() {
  if (auto *deleter = Registry::instance().deleterOf(type))
    deleter(object);
}

void Future::set(Status status) {
  std::lock_guard lock(mutex); // held while others are told: the waiter destroys the future
  result = std::move(status);
  isSet.notify_all();
}

Status Future::wait() {
  std::unique_lock lock(mutex);
  isSet.wait(lock, [this] { return result.has_value(); });
  return *std::move(result);
}

} // namespace torchere::ffi

// XLA's FFI in our own declaration: the C ABI between a runtime and the kernels of custom calls.
//
// A handler is a function of one structure, the call frame, which holds the stage, the operands, the results,
// the attributes, and a table of functions that the handler calls back. As in PJRT, a structure begins with
// its size, up to the end of the last member that the caller knows, and a chain of extensions. The version is
// 0.3.
#pragma once

#include <cstddef>
#include <cstdint>

namespace torchere::ffi::abi {

inline constexpr int majorVersion = 0, minorVersion = 3;

enum class ExtensionType : int { Metadata = 1 };

struct Extension {
  size_t structSize;
  ExtensionType type;
  Extension *next;
};

/// The leading members; `last` is the last member, where the size ends.
#define TORCHERE_FFI_HEADER(structure, last)                                                                 \
  size_t structSize = offsetof(structure, last) + sizeof(structure::last);                                   \
  ::torchere::ffi::abi::Extension *extensions = nullptr

// Of the runtime's own.
struct Error;
struct Future;
struct ExecutionContext;
struct Api;

struct Version {
  TORCHERE_FFI_HEADER(Version, minor);
  int major = majorVersion;
  int minor = minorVersion;
};

/// The numbers of XLA's PrimitiveType.
enum class DataType : int {
  Invalid = 0,
  Pred = 1,
  S8 = 2,
  S16 = 3,
  S32 = 4,
  S64 = 5,
  U8 = 6,
  U16 = 7,
  U32 = 8,
  U64 = 9,
  F16 = 10,
  F32 = 11,
  F64 = 12,
  C64 = 15,
  BF16 = 16,
  Token = 17,
  C128 = 18,
  F8E5M2 = 19,
  F8E4M3FN = 20,
  S4 = 21,
  U4 = 22,
  F8E4M3B11FNUZ = 23,
  F8E5M2FNUZ = 24,
  F8E4M3FNUZ = 25,
  S2 = 26,
  U2 = 27,
  F8E4M3 = 28,
  F8E3M4 = 29,
  F4E2M1FN = 32,
  F8E8M0FNU = 33,
};

struct Buffer {
  TORCHERE_FFI_HEADER(Buffer, dimensions);
  DataType type = DataType::Invalid;
  void *data = nullptr;
  int64_t rank = 0;
  int64_t *dimensions = nullptr;
};

/// Of operands and of results.
enum class ValueKind : int { Buffer = 1 };
enum class AttributeKind : int { Array = 1, Dictionary = 2, Scalar = 3, String = 4 };

struct ByteSpan {
  const char *data;
  size_t size;
};
struct Scalar {
  DataType type;
  void *value;
};
struct Array {
  DataType type;
  size_t size; ///< elements
  void *data;
};

struct TypeId {
  int64_t id;
};
struct TypeInfo {
  TORCHERE_FFI_HEADER(TypeInfo, deleter);
  void (*deleter)(void *object) = nullptr;
};

enum class Stage : int { Instantiate = 0, Prepare = 1, Initialize = 2, Execute = 3 };

/// Operands and results alike.
struct Values {
  TORCHERE_FFI_HEADER(Values, values);
  int64_t size = 0;
  ValueKind *kinds = nullptr;
  void **values = nullptr;
};
/// Sorted by name.
struct Attributes {
  TORCHERE_FFI_HEADER(Attributes, values);
  int64_t size = 0;
  AttributeKind *kinds = nullptr;
  ByteSpan **names = nullptr;
  void **values = nullptr;
};

struct CallFrame {
  TORCHERE_FFI_HEADER(CallFrame, attributes); // handlers ask for just this size
  const Api *api = nullptr;
  ExecutionContext *context = nullptr;
  Stage stage = Stage::Execute;
  Values operands;
  Values results;
  Attributes attributes;
  Future *future = nullptr; ///< out: the handler is done when this is
};

/// An error, which its receiver destroys, or null.
using Handler = Error *(CallFrame *);

struct HandlerBundle {
  Handler *instantiate = nullptr; ///< may be null, like the next two
  Handler *prepare = nullptr;
  Handler *initialize = nullptr;
  Handler *execute = nullptr;
};

/// A handler that gets it fills it, and does nothing else.
struct Metadata {
  size_t structSize = offsetof(Metadata, stateType) + sizeof(stateType);
  Version version;
  uint32_t traits = 0;
  TypeId stateType{};
};
struct MetadataExtension {
  Extension base;
  Metadata *metadata;
};

// The arguments of the table's functions.

struct ErrorCreateArgs {
  TORCHERE_FFI_HEADER(ErrorCreateArgs, code);
  const char *message = nullptr;
  int code = 0;
};
struct ErrorGetMessageArgs {
  TORCHERE_FFI_HEADER(ErrorGetMessageArgs, message);
  Error *error = nullptr;
  const char *message = nullptr; // out
};
struct ErrorDestroyArgs {
  TORCHERE_FFI_HEADER(ErrorDestroyArgs, error);
  Error *error = nullptr;
};
struct HandlerRegisterArgs {
  TORCHERE_FFI_HEADER(HandlerRegisterArgs, traits);
  ByteSpan name{};
  ByteSpan platform{};
  HandlerBundle bundle;
  uint32_t traits = 0;
};
struct StreamGetArgs {
  TORCHERE_FFI_HEADER(StreamGetArgs, stream);
  ExecutionContext *context = nullptr;
  void *stream = nullptr; // out
};
struct TypeRegisterArgs {
  TORCHERE_FFI_HEADER(TypeRegisterArgs, typeId);
  ByteSpan name{};
  TypeId *typeId = nullptr; ///< in and out; an id of 0 asks for a new one
  const TypeInfo *info = nullptr;
};
struct ContextGetArgs {
  TORCHERE_FFI_HEADER(ContextGetArgs, data);
  ExecutionContext *context = nullptr;
  TypeId *typeId = nullptr;
  void *data = nullptr; // out
};
/// To set a stage's state, or to get it.
struct StateArgs {
  TORCHERE_FFI_HEADER(StateArgs, state);
  ExecutionContext *context = nullptr;
  Stage stage = Stage::Instantiate;
  TypeId *typeId = nullptr;
  void *state = nullptr; // out, to get it
};
struct MemoryAllocateArgs {
  TORCHERE_FFI_HEADER(MemoryAllocateArgs, data);
  ExecutionContext *context = nullptr;
  size_t size = 0;
  size_t alignment = 0;
  void *data = nullptr; // out
};
struct MemoryFreeArgs {
  TORCHERE_FFI_HEADER(MemoryFreeArgs, data);
  ExecutionContext *context = nullptr;
  size_t size = 0;
  void *data = nullptr;
};
using Task = void(void *data);
struct ThreadPoolScheduleArgs {
  TORCHERE_FFI_HEADER(ThreadPoolScheduleArgs, data);
  ExecutionContext *context = nullptr;
  Task *task = nullptr;
  void *data = nullptr;
};
struct ThreadPoolNumThreadsArgs {
  TORCHERE_FFI_HEADER(ThreadPoolNumThreadsArgs, count);
  ExecutionContext *context = nullptr;
  int64_t *count = nullptr; // out
};
struct FutureCreateArgs {
  TORCHERE_FFI_HEADER(FutureCreateArgs, extensions); // the size that handlers pass
  Future *future = nullptr;                          // out
};
struct FutureSetAvailableArgs {
  TORCHERE_FFI_HEADER(FutureSetAvailableArgs, future);
  Future *future = nullptr;
};
struct FutureSetErrorArgs {
  TORCHERE_FFI_HEADER(FutureSetErrorArgs, error);
  Future *future = nullptr;
  Error *error = nullptr; ///< the runtime's from then on
};
struct RunIdGetArgs {
  TORCHERE_FFI_HEADER(RunIdGetArgs, id);
  ExecutionContext *context = nullptr;
  int64_t id = 0; // out
};
struct DeviceOrdinalGetArgs {
  TORCHERE_FFI_HEADER(DeviceOrdinalGetArgs, ordinal);
  ExecutionContext *context = nullptr;
  int32_t ordinal = 0; // out
};

struct Api {
  TORCHERE_FFI_HEADER(Api, deviceOrdinalGet);
  Version version;
  const void *internal = nullptr;
  Error *(*errorCreate)(ErrorCreateArgs *) = nullptr;
  void (*errorGetMessage)(ErrorGetMessageArgs *) = nullptr;
  void (*errorDestroy)(ErrorDestroyArgs *) = nullptr;
  Error *(*handlerRegister)(HandlerRegisterArgs *) = nullptr;
  Error *(*streamGet)(StreamGetArgs *) = nullptr;
  Error *(*typeRegister)(TypeRegisterArgs *) = nullptr;
  Error *(*contextGet)(ContextGetArgs *) = nullptr;
  Error *(*stateSet)(StateArgs *) = nullptr;
  Error *(*stateGet)(StateArgs *) = nullptr;
  Error *(*memoryAllocate)(MemoryAllocateArgs *) = nullptr;
  Error *(*memoryFree)(MemoryFreeArgs *) = nullptr;
  Error *(*threadPoolSchedule)(ThreadPoolScheduleArgs *) = nullptr;
  Error *(*threadPoolNumThreads)(ThreadPoolNumThreadsArgs *) = nullptr;
  Error *(*futureCreate)(FutureCreateArgs *) = nullptr;
  Error *(*futureSetAvailable)(FutureSetAvailableArgs *) = nullptr;
  Error *(*futureSetError)(FutureSetErrorArgs *) = nullptr;
  Error *(*runIdGet)(RunIdGetArgs *) = nullptr;
  Error *(*deviceOrdinalGet)(DeviceOrdinalGetArgs *) = nullptr;
};

// The sizes and offsets on 64-bit machines, which are fixed.
#define TORCHERE_FFI_SIZE(structure, bytes) static_assert(structure{}.structSize == (bytes), #structure)
TORCHERE_FFI_SIZE(Version, 24);
TORCHERE_FFI_SIZE(Buffer, 48);
TORCHERE_FFI_SIZE(TypeInfo, 24);
TORCHERE_FFI_SIZE(Values, 40);
TORCHERE_FFI_SIZE(Attributes, 48);
TORCHERE_FFI_SIZE(CallFrame, 168);
TORCHERE_FFI_SIZE(Metadata, 48);
TORCHERE_FFI_SIZE(ErrorCreateArgs, 28);
TORCHERE_FFI_SIZE(ErrorGetMessageArgs, 32);
TORCHERE_FFI_SIZE(HandlerRegisterArgs, 84);
TORCHERE_FFI_SIZE(TypeRegisterArgs, 40);
TORCHERE_FFI_SIZE(ContextGetArgs, 40);
TORCHERE_FFI_SIZE(StateArgs, 48);
TORCHERE_FFI_SIZE(MemoryAllocateArgs, 48);
TORCHERE_FFI_SIZE(MemoryFreeArgs, 40);
TORCHERE_FFI_SIZE(ThreadPoolScheduleArgs, 40);
TORCHERE_FFI_SIZE(FutureCreateArgs, 16);
TORCHERE_FFI_SIZE(FutureSetErrorArgs, 32);
TORCHERE_FFI_SIZE(RunIdGetArgs, 32);
TORCHERE_FFI_SIZE(DeviceOrdinalGetArgs, 28);
TORCHERE_FFI_SIZE(Api, 192);
static_assert(offsetof(CallFrame, operands) == 40 && offsetof(CallFrame, attributes) == 120 &&
              offsetof(CallFrame, future) == 168);
#undef TORCHERE_FFI_SIZE

} // namespace torchere::ffi::abi

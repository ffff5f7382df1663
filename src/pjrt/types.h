// The PJRT C ABI of version 0.90 in our own declaration: the types that the functions' arguments consist of.
//
// A plugin exports `GetPjrtApi`, which returns a table of functions (pjrt/api.h). Each function takes a
// pointer to one structure that holds its inputs and outputs (the latter marked `out`), and returns an error
// or null. Every structure begins with its size, up to the end of the last member that the caller knows, and
// a chain of extensions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace torchere::pjrt {

// Handles that a plugin returns. Each plugin has types of its own behind these names.
struct Error;
struct Event;
struct Client;
struct Device;
struct DeviceDescription;
struct Memory;
struct TopologyDescription;
struct Executable;
struct LoadedExecutable;
struct Buffer;
struct ExecuteContext;
struct AsyncTrackingEvent;
struct AsyncHostToDeviceTransferManager;
struct CopyToDeviceStream;
struct FulfillAliasBufferCallback;
struct SerializedExecutable;
struct SerializedCompileOptions;
struct SerializedTopology;
struct SerializedDeviceAssignment;

enum class ExtensionType : int {
  GpuCustomCall,
  Profiler,
  CustomPartitioner,
  Stream,
  Layouts,
  Ffi,
  MemoryDescriptions,
  Triton,
  RawBuffer,
  PhaseCompile,
  Example,
  Unknown,
  CrossHostTransfers,
  ExecutableMetadata,
  Callback,
  HostAllocator,
  TpuTopology,
  TpuExecutable,
  Megascale,
};

/// The leading members of every extension, a link of the chain. The rest depends on the type.
struct Extension {
  size_t structSize;
  ExtensionType type;
  Extension *next;
};

/// The two leading members of every structure; `last` is the last member, where the size ends.
#define TORCHERE_PJRT_HEADER(structure, last)                                                                \
  size_t structSize = offsetof(structure, last) + sizeof(structure::last);                                   \
  ::torchere::pjrt::Extension *extensions = nullptr

enum class BufferType : int {
  Invalid,
  Pred,
  S8,
  S16,
  S32,
  S64,
  U8,
  U16,
  U32,
  U64,
  F16,
  F32,
  F64,
  BF16,
  C64,
  C128,
  F8E5M2,
  F8E4M3FN,
  F8E4M3B11FNUZ,
  F8E5M2FNUZ,
  F8E4M3FNUZ,
  S4,
  U4,
  Token,
  S2,
  U2,
  F8E4M3,
  F8E3M4,
  F8E8M0FNU,
  F4E2M1FN,
};

/// What the plugin may do with host memory that a buffer is made from.
enum class HostBufferSemantics : int {
  ImmutableOnlyDuringCall,
  ImmutableUntilTransferCompletes,
  ImmutableZeroCopy,
  MutableZeroCopy,
};

struct Version {
  TORCHERE_PJRT_HEADER(Version, minor);
  int major = 0;
  int minor = 0;
};

enum class NamedValueType : int { String, Int64, Int64List, Float, Bool };

struct NamedValue {
  TORCHERE_PJRT_HEADER(NamedValue, valueSize);
  const char *name = nullptr;
  size_t nameSize = 0;
  NamedValueType type = NamedValueType::String;
  union {
    const char *string = nullptr;
    int64_t int64;
    const int64_t *int64List;
    float float32;
    bool boolean;
  };
  size_t valueSize = 0; ///< characters of a string, elements of a list, else 1
};

struct Program {
  TORCHERE_PJRT_HEADER(Program, formatSize);
  /// In the caller's memory; written only as an `out` of PJRT_Executable_OptimizedProgram.
  const char *code = nullptr;
  size_t codeSize = 0;
  const char *format = nullptr; ///< "mlir" or "hlo"
  size_t formatSize = 0;
};

enum class MemoryLayoutType : int { Tiled, Strides };
struct TiledLayout {
  TORCHERE_PJRT_HEADER(TiledLayout, tileCount);
  const int64_t *minorToMajor = nullptr;
  size_t minorToMajorSize = 0;
  const int64_t *tileDimensions = nullptr;
  const size_t *tileDimensionSizes = nullptr;
  size_t tileCount = 0;
};
struct StridedLayout {
  TORCHERE_PJRT_HEADER(StridedLayout, byteStrideCount);
  const int64_t *byteStrides = nullptr;
  size_t byteStrideCount = 0;
};
struct MemoryLayout {
  TORCHERE_PJRT_HEADER(MemoryLayout, type);
  union {
    TiledLayout tiled;
    StridedLayout strided;
  };
  MemoryLayoutType type = MemoryLayoutType::Tiled;

  constexpr MemoryLayout() : tiled() {}
};

struct ShapeSpec {
  TORCHERE_PJRT_HEADER(ShapeSpec, type);
  const int64_t *dimensions = nullptr;
  size_t dimensionCount = 0;
  BufferType type = BufferType::Invalid;
};

/// Host memory on its way to or from a device.
struct Chunk {
  void *data;
  size_t size;
  void (*deleter)(void *data, void *deleterArgument);
  void *deleterArgument;
};

} // namespace torchere::pjrt

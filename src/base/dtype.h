// DType: torch's element types, and the one table of their names in every format that we write.
#pragma once

#include "base/export.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace torchere {

enum class DType : uint8_t {
  Bool,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F16,
  BF16,
  F32,
  F64,
  C32,
  C64,
  C128,
  F8E4M3FN,
  F8E4M3FNUZ,
  F8E5M2,
  F8E5M2FNUZ,
  F8E8M0FNU,
};

/// One row of the table. `descr` is the type in a .npy header; numpy has no name for some of torch's types,
/// which are then written as raw bytes ("|V2") and named in the manifest.
struct DTypeInfo {
  DType dtype;
  std::string_view torchName; ///< "float32", as str(torch.float32) without "torch."
  std::string_view shortName; ///< "f32", as torch prints tensor types in graphs
  std::string_view mlirName;  ///< "f32", as the element type of an MLIR tensor; torch.complex32 has none ("")
  std::string_view descr;     ///< "<f4"
  size_t byteSize;
  bool isFloatingPoint;
  bool isComplex;
  bool isSigned;
};

TORCHERE_EXPORT const DTypeInfo &dtypeInfo(DType dtype);
inline size_t byteSize(DType dtype) {
  return dtypeInfo(dtype).byteSize;
}

/// The dtype of a complex one's parts; any other dtype itself.
constexpr DType partType(DType dtype) {
  if (dtype == DType::C32)
    return DType::F16;
  if (dtype == DType::C64)
    return DType::F32;
  return dtype == DType::C128 ? DType::F64 : dtype;
}

/// The dtype of torch's name ("float32"), if it is one that we know.
TORCHERE_EXPORT std::optional<DType> dtypeFromTorchName(std::string_view name);

} // namespace torchere

// Call: an op with its attributes and the types of its operands, interned together with the types that
// result.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/SmallVector.h>

#include <cstdint>
#include <string>
#include <vector>

namespace torchere::lazy {

/// The type of a tensor. Equal types are the same object, which lives until the process ends.
struct TensorType {
  at::ScalarType dtype = at::ScalarType::Float;
  std::vector<int64_t> sizes;

  static const TensorType *intern(at::ScalarType dtype, c10::IntArrayRef sizes);
};

/// An op of the table.
struct Op {
  const char *name;   ///< as programs name it: "aten.add.Tensor"
  const char *schema; ///< "aten::add.Tensor(Tensor self, ...) -> Tensor"
};

/// What kind of argument a word begins; see CallKey.
enum class ArgumentTag : uint8_t {
  None,
  Operand, ///< followed by the address of its TensorType
  Int,
  Float,
  Complex, ///< followed by its two parts
  Bool,
  DType,
  MemoryFormat,
  String, ///< the count is its length; followed by its bytes
  List,   ///< the count is its length; followed by its elements
};

/// A call as words: for each argument of the schema, in order, a tag (with a count in the upper bits) and the
/// words that follow it. The words are compared, hashed, and read again when the program is built.
using CallKey = c10::SmallVector<uint64_t, 32>;

inline uint64_t tagWord(ArgumentTag tag, uint64_t count = 0) {
  return static_cast<uint64_t>(tag) | count << 8;
}

/// Equal calls are the same object, which lives until the process ends. Whether shapes were computed before,
/// and whether two graphs are equal, is decided by addresses.
struct Call {
  const Op *op = nullptr;
  uint64_t hash = 0;
  std::vector<uint64_t> key;
  /// Of the results, in order; null for one that the op leaves undefined.
  std::vector<const TensorType *> results;
  bool returnsList = false; ///< the results are the elements of a Tensor[]
  const Call *next = nullptr;
};

using ResultTypes = c10::SmallVector<const TensorType *, 4>;

/// The interned call; `resultTypes` computes what results, once for each call. It may run Python code.
const Call *internCall(const Op &op, c10::ArrayRef<uint64_t> key, bool returnsList,
                       c10::function_ref<ResultTypes()> resultTypes);

} // namespace torchere::lazy

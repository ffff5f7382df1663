// Call: an op with its attributes and the types of its operands, interned together with the types that
// result.
#pragma once

#include "lazy/reference.h"

#include <c10/core/ScalarType.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/SmallVector.h>

#include <cstdint>
#include <string>
#include <vector>

namespace torchere::lazy {

/// The type of a tensor. Equal types are the same object while anyone owns it.
struct TensorType : Counted {
  const at::ScalarType dtype;
  const std::vector<int64_t> sizes;

  static Reference<const TensorType> intern(at::ScalarType dtype, c10::IntArrayRef sizes);
  static void release(const TensorType *type);

private:
  TensorType(at::ScalarType dtype, c10::IntArrayRef sizes) : dtype(dtype), sizes(sizes.vec()) {}
};

/// An op of the table.
struct Op {
  const char *name;   ///< as programs name it: "aten.add.Tensor"
  const char *schema; ///< "aten::add.Tensor(Tensor self, Tensor other, ...) -> Tensor"
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

using ResultTypes = c10::SmallVector<Reference<const TensorType>, 4>;

/// Equal calls are the same object while anyone owns it, so that whether two graphs are equal is decided by
/// addresses. One that nobody owns stays in the table, for the next call of its kind, until it is evicted.
struct Call : Counted {
  Call(const Op &op, c10::ArrayRef<uint64_t> key, uint64_t hash, bool returnsList,
       const ResultTypes &results);
  /// The table owns calls.
  static void release(const Call *) {}

  const Op *const op;
  const uint64_t hash;
  const std::vector<uint64_t> key;
  /// Of the results, in order; null for one that the op leaves undefined.
  std::vector<const TensorType *> results;
  const bool returnsList;                         ///< the results are the elements of a Tensor[]
  std::vector<Reference<const TensorType>> types; ///< all that the key and the results mention

  // Guarded by the table's lock.
  mutable uint64_t lastUse = 0;
  mutable const Call *next = nullptr; ///< another call of the same hash
};

/// The interned call; `resultTypes` computes what results, if the table does not have the call. It may run
/// Python code.
Reference<const Call> internCall(const Op &op, c10::ArrayRef<uint64_t> key, bool returnsList,
                                 c10::function_ref<ResultTypes()> resultTypes);

/// Tells the table that owners have given calls up, so that a table above its limit evicts at the next new
/// call.
void callsWereReleased();

struct CallCounts {
  int64_t calls = 0; ///< in the table
  int64_t types = 0;
};
CallCounts callCounts();

} // namespace torchere::lazy

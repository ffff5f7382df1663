// ViewStep: how a tensor is taken from another one's memory, and how a write to it goes back.
#pragma once

#include "functionalization/emitter.h"

#include <string_view>

namespace torchere::functionalization {

/// How the memory that a view was taken of gets its new value from the view's.
enum class Inverse : uint8_t {
  Identity, ///< a tensor of its own on the same memory, as of detach
  Reshape,  ///< the view's value in the other sizes
  Permute,  ///< by the inverse permutation
  Same,     ///< by the same op: transpose, t, _conj
  Slice,    ///< slice_scatter, select_scatter, diagonal_scatter of the same arguments
  Select,
  Diagonal,
  Element,  ///< of a list of parts along a dimension: all parts joined
  ViewReal, ///< view_as_real and view_as_complex undo each other
  ViewComplex,
  ViewDType, ///< view.dtype to the other dtype
  Strided,   ///< as_strided: scattered by the strides over the whole memory
  ByIndex,   ///< the places of the elements are computed, as the view of an arange
};

/// The inverse of a view op; ByIndex for one that has no other.
Inverse inverseOf(std::string_view op);

struct ViewStep {
  Inverse inverse = Inverse::Identity;
  const program::Op *op = nullptr;              ///< null of Identity
  std::span<const program::Argument> arguments; ///< the first is what the view is taken of, and replaced
  program::Type listType = {};                  ///< of an Element: what the op gives
  int64_t element = 0;                          ///< of an Element: which one it is
  const program::Node *origin = nullptr;        ///< where the user took the view
};

/// The view taken of another value of the same memory.
program::NodeId takeView(Emitter &emitter, const ViewStep &step, program::NodeId from, program::Type type);

/// The value of what the view was taken of (`from`), once the view's elements have the value `value`. Not of
/// ByIndex.
program::NodeId putBack(Emitter &emitter, const ViewStep &step, program::NodeId from, program::NodeId value);

/// Whether putBack() reads the elements of `from`, or its sizes alone.
bool readsOldValue(Inverse inverse);

} // namespace torchere::functionalization

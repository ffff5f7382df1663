// CallSignature: checks the arguments of a call before a plugin sees them.
#pragma once

#include "program/entry_point.h"
#include "session/tensor_view.h"

#include <span>
#include <string>
#include <vector>

namespace torchere::session {

/// The sizes of a call's dynamic dimensions, and the values of the ints that shapes depend on, in the order
/// of the signature: one executable each.
using Sizes = std::vector<int64_t>;

/// Refers to the entry point, which must outlive it.
class CallSignature {
public:
  explicit CallSignature(const program::EntryPoint &entryPoint);

  /// Checks what does not depend on symbols: the count of inputs, tensor or constant, devices, dtypes,
  /// numbers of dimensions and constant sizes, and the ranges of ints. On success `sizes` holds the sizes.
  /// Errors: InvalidArgument, `[x] what is wrong: got X, expected Y`.
  Status check(std::span<const Input> inputs, Sizes &sizes) const;
  /// Checks sizes that check() gave: symbols have one value each, derived sizes (2*s0 + 1) fit, and values
  /// lie in the ranges of the program. Needed once for each set of sizes.
  Status checkSizes(const Sizes &sizes) const;
  bool isDynamic() const { return !dimensions.empty(); }

private:
  friend class SizeSolver;
  /// A dynamic dimension of an input, or an int.
  struct Dimension {
    const program::EntryInput *input;
    size_t index;
    program::SymInt size;

    bool isInt() const { return input->isSymInt; }
    /// "size of dimension 0", "value".
    std::string what() const;
    /// "dimension 0 of x", "n".
    std::string place() const;
  };
  bool isAmongSizes(const program::EntryInput &input) const;
  Status checkInt(const program::EntryInput &input, int64_t value, Sizes &sizes) const;
  Status checkInput(const program::EntryInput &input, const Input &value, Sizes &sizes) const;
  Status checkTensor(const program::EntryInput &input, DType dtype, std::span<const int64_t> given,
                     Sizes &sizes) const;
  Status checkConstant(const program::ConstantInput &constant, const Input &value) const;
  std::string inputNames() const;

  const program::EntryPoint &entryPoint;
  std::vector<const program::EntryInput *>
      tensors;                       ///< the user's, those that the program does not read included
  std::vector<Dimension> dimensions; ///< of `tensors`, those whose size is no constant, and ints of Sizes
};

} // namespace torchere::session

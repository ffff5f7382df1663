// CallSignature: checks the arguments of a call before a plugin sees them.
#pragma once

#include "program/entry_point.h"
#include "session/tensor_view.h"

#include <span>
#include <string>
#include <vector>

namespace torchere::session {

/// The sizes of a call's dynamic dimensions, and the values of the ints that shapes depend on, in the order
/// of the signature. There is one executable for each combination.
using Sizes = std::vector<int64_t>;

/// Refers to the entry point, which must outlive it.
class CallSignature {
public:
  explicit CallSignature(const program::EntryPoint &entryPoint);

  /// Checks everything that does not depend on symbols: the number of inputs, tensor or constant, devices,
  /// dtypes, ranks, static sizes, and the ranges of ints. On success `sizes` holds the sizes. Errors:
  /// InvalidArgument, `[x] what is wrong: got X, expected Y`.
  Status check(std::span<const Input> inputs, Sizes &sizes) const;
  /// Checks the sizes that check() returned: each symbol has one value, derived sizes (2*s0 + 1) match, and
  /// values lie in the program's ranges. Needed only once per set of sizes.
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
    /// "x.shape[0]", "n", as the user's Python has it.
    std::string source() const;
    /// " (batch)": the expression of the dimension; empty for an int that is its own symbol.
    std::string expressionText(const program::ExpressionPool &expressions) const;
  };
  bool isTied(const program::EntryInput &input) const;
  bool isAmongSizes(const program::EntryInput &input) const;
  Status checkInt(const program::EntryInput &input, int64_t value, Sizes &sizes) const;
  Status checkInput(const program::EntryInput &input, const Input &value, Sizes &sizes) const;
  Status checkTensor(const program::EntryInput &input, DType dtype, std::span<const int64_t> given,
                     Sizes &sizes) const;
  Status checkConstant(const program::ConstantInput &constant, const Input &value) const;
  std::string inputNames() const;

  const program::EntryPoint &entryPoint;
  std::vector<const program::EntryInput *>
      tensors;                       ///< the user's, including those that the program does not read
  std::vector<Dimension> dimensions; ///< the dynamic dimensions of `tensors`, and the ints among Sizes
};

} // namespace torchere::session

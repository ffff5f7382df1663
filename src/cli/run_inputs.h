// The --input options of `torchere run`, or random numbers, turned into the arguments of a call.
#pragma once

#include "base/error.h"
#include "program/entry_point.h"
#include "session/tensor_view.h"

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace torchere::cli {

/// The inputs that a user gives: tensors and ints, by position.
std::map<int64_t, const program::EntryInput *> givenInputs(const program::EntryPoint &entryPoint);

/// The leaves of a call's arguments, with the memory that they view.
class RunInputs {
public:
  /// Each text is FILE.npy or an integer, for the next input without a value, or NAME=FILE.npy or
  /// NAME=INTEGER. Constants have the values with which the program was captured. Errors: InvalidArgument and
  /// NotFound, naming the input; those of reading the file.
  static Result<RunInputs> read(const program::EntryPoint &entryPoint, const std::vector<std::string> &texts);

  /// Tensors of random elements, the same for equal seeds: floats between -1 and 1, integers from 0 to 9. The
  /// sizes are small ones that the program takes. Errors: InvalidArgument if none are found.
  static Result<RunInputs> random(const program::EntryPoint &entryPoint, uint64_t seed);

  std::span<const session::Input> inputs() const { return list; }

private:
  explicit RunInputs(const program::EntryPoint &entryPoint);
  Status set(const program::EntryInput &input, const std::string &text);
  void set(const program::EntryInput &input, program::Weight array);

  std::deque<program::Weight> arrays; // views refer to their shapes
  std::vector<session::Input> list;
};

} // namespace torchere::cli

// The --input options of `torchere run`, turned into the arguments of a call.
#pragma once

#include "base/error.h"
#include "program/entry_point.h"
#include "session/tensor_view.h"

#include <deque>
#include <span>
#include <string>
#include <vector>

namespace torchere::cli {

/// The leaves of a call's arguments, with the memory that they view.
class RunInputs {
public:
  /// Each text is FILE.npy or an integer, for the next input without a value, or NAME=FILE.npy or
  /// NAME=INTEGER. Constants have the values with which the program was captured. Errors: InvalidArgument and
  /// NotFound, naming the input; those of reading the file.
  static Result<RunInputs> read(const program::EntryPoint &entryPoint, const std::vector<std::string> &texts);

  std::span<const session::Input> inputs() const { return list; }

private:
  Status set(const program::EntryInput &input, const std::string &text);

  std::deque<program::Weight> arrays; // views refer to their shapes
  std::vector<session::Input> list;
};

} // namespace torchere::cli

// The inputs of a call, read from the C ABI's structures and checked.
#pragma once

#include "capi/objects.h"

#include <latch>
#include <span>
#include <vector>

namespace torchere::capi {

/// A view of the caller's tensor. Errors: InvalidArgument for wrong dtypes, dimensions, strides, and memory
/// that is too short for them; `name` starts them.
Result<session::TensorView> viewOf(const torchere_tensor &tensor, std::string_view name);

/// The tensors, each with its name. Refers to the structures.
Result<std::vector<session::NamedView>> namedViews(const torchere_tensor *tensors, size_t count,
                                                   const char *parameter);

/// The inputs of one call. When it is destroyed, nobody reads the caller's memory any more.
class CallInputs {
public:
  CallInputs() = default;
  CallInputs(const CallInputs &) = delete;
  CallInputs &operator=(const CallInputs &) = delete;
  ~CallInputs();

  /// Errors name the input.
  Status read(const FunctionDescription &function, const torchere_input *inputs, size_t count);
  std::span<const session::Input> inputs() const { return list; }

private:
  Status place(const FunctionDescription &function, const torchere_input &input, size_t index,
               std::vector<bool> &given);
  Result<session::Input> valueOf(const torchere_input &input, const ValueDescription &expected);

  std::vector<session::Input> list;
  std::shared_ptr<std::latch> released; ///< opens when nothing owns the caller's memory any more
  std::shared_ptr<const void> memory;   ///< that ownership
};

} // namespace torchere::capi

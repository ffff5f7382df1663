// The text of a Python stack trace, as torch.fx keeps it in node.meta["stack_trace"].
#pragma once

#include "base/export.h"

#include <optional>
#include <string_view>

namespace torchere::program {

/// One frame, as views of the trace's text.
struct StackFrame {
  std::string_view file;
  std::string_view line;
  std::string_view function;
  std::string_view code;
};

/// The innermost frame with a source line, which torch shows in printed graphs.
std::optional<StackFrame> innermostFrame(std::string_view trace);

/// The innermost frame outside torch's own files and generated code, which errors should name.
TORCHERE_EXPORT std::optional<StackFrame> userFrame(std::string_view trace);

} // namespace torchere::program

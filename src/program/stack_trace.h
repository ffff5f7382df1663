// The text of a Python stack trace, as torch.fx keeps it in node.meta["stack_trace"].
#pragma once

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

/// The innermost frame that comes with its source line; torch shows this one in printed graphs.
std::optional<StackFrame> innermostFrame(std::string_view trace);

/// The innermost frame that is not in torch's own files or in generated code; what an error should name.
std::optional<StackFrame> userFrame(std::string_view trace);

} // namespace torchere::program

// Program: the geometry of weights and the user's place of a node.
#include "program/program.h"

#include "program/stack_trace.h"

namespace torchere::program {

int64_t Weight::elementCount() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

bool Weight::isContiguous() const {
  if (elementCount() == 0)
    return true;
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1)
      continue;
    if (strides[i] != expected)
      return false;
    expected *= shape[i];
  }
  return true;
}

std::string Program::place(const Node &node) const {
  std::string file;
  if (std::optional<StackFrame> frame = userFrame(stackTraces[node.stackTrace])) {
    size_t slash = frame->file.find_last_of("/\\");
    file = fmt::format("{}:{}", frame->file.substr(slash == std::string_view::npos ? 0 : slash + 1),
                       frame->line);
  }
  const std::vector<ModuleFrame> &modules = moduleStacks[node.moduleStack];
  std::string path = modules.empty() ? "" : modules.back().path;
  return file + (file.empty() || path.empty() ? "" : " in ") + path;
}

} // namespace torchere::program

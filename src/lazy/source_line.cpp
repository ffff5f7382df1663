// The user's source line, by Python's C functions, which are looked up in the process: a C++ program without
// Python uses the device too.
#include "lazy/source_line.h"

#include "lazy/settings.h"
#include "program/stack_trace.h"

#include <ATen/SequenceNumber.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <c10/util/hash.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/function.h>

#include <dlfcn.h>

#include <memory>
#include <mutex>
#include <unordered_map>

namespace torchere::lazy {

std::atomic<bool> SourceLine::recorded = isSet("TORCHERE_LAZY_SOURCE_LINES") || isSet("XLA_IR_DEBUG");

std::string SourceLine::text() const {
  return fmt::format("{}:{} in {}{}{}{}", file, number, function, isBackward ? ", its gradient" : "",
                     code.empty() ? "" : ": ", code);
}

std::string SourceLine::trace() const {
  return fmt::format("  File \"{}\", line {}, in {}{}\n    {}\n", file, number, function,
                     isBackward ? " (its gradient)" : "", code);
}

namespace {

/// Of Python's stable ABI.
struct Python {
  template <class Function> static void load(Function *&function, const char *name, bool &isComplete) {
    function = reinterpret_cast<Function *>(dlsym(RTLD_DEFAULT, name));
    isComplete = isComplete && function;
  }
  Python() {
    isComplete = true;
    load(isInitialized, "Py_IsInitialized", isComplete);
    load(lock, "PyGILState_Ensure", isComplete);
    load(unlock, "PyGILState_Release", isComplete);
    load(frame, "PyEval_GetFrame", isComplete);
    load(caller, "PyFrame_GetBack", isComplete);
    load(codeOf, "PyFrame_GetCode", isComplete);
    load(lineOf, "PyFrame_GetLineNumber", isComplete);
    load(attribute, "PyObject_GetAttrString", isComplete);
    load(utf8, "PyUnicode_AsUTF8AndSize", isComplete);
    load(import, "PyImport_ImportModule", isComplete);
    load(callMethod, "PyObject_CallMethod", isComplete);
    load(clearError, "PyErr_Clear", isComplete);
    load(retain, "Py_IncRef", isComplete);
    load(drop, "Py_DecRef", isComplete);
  }
  static const Python *get() {
    static const auto *known = new Python;
    return known->isComplete && known->isInitialized() ? known : nullptr;
  }

  /// The text of an object, which is given up.
  std::string textOf(void *object) const {
    std::string text;
    ssize_t size = 0;
    if (const char *bytes = object ? utf8(object, &size) : nullptr)
      text.assign(bytes, static_cast<size_t>(size));
    clearError();
    drop(object);
    return text;
  }

  bool isComplete = false;
  int (*isInitialized)() = nullptr;
  int (*lock)() = nullptr;
  void (*unlock)(int) = nullptr;
  void *(*frame)() = nullptr; ///< borrowed; the other functions give new references
  void *(*caller)(void *) = nullptr;
  void *(*codeOf)(void *) = nullptr;
  int (*lineOf)(void *) = nullptr;
  void *(*attribute)(void *, const char *) = nullptr;
  const char *(*utf8)(void *, ssize_t *) = nullptr;
  void *(*import)(const char *) = nullptr;
  void *(*callMethod)(void *, const char *, const char *, ...) = nullptr;
  void (*clearError)() = nullptr;
  void (*retain)(void *) = nullptr;
  void (*drop)(void *) = nullptr;
};

/// A code object's file and whether it is the user's. It is kept alive, so that its address stays its own.
struct Code {
  std::string file, function;
  bool isUsers = false;
};

using Key = std::pair<uint64_t, uint64_t>;

/// What was found before. Never destroyed: threads may still trace while the process ends.
struct Tables {
  std::unordered_map<void *, Code> codes; // with Python's lock
  std::unordered_map<std::pair<void *, int>, const SourceLine *, c10::hash<std::pair<void *, int>>>
      lines; // too
  std::mutex mutex;
  /// Of the ops that have gradients, by thread and sequence number.
  std::unordered_map<Key, const SourceLine *, c10::hash<Key>> forward;
  std::unordered_map<const SourceLine *, const SourceLine *> backward;
};
Tables &tables() {
  static auto *made = new Tables;
  return *made;
}

} // namespace

static bool isUsersFile(const std::string &file) {
  return file.find("/torchere/lazy/") == std::string::npos &&
         program::userFrame(fmt::format("  File \"{}\", line 1, in f\n", file)).has_value();
}

static const Code &knownCode(const Python &python, void *code) {
  auto [entry, isNew] = tables().codes.try_emplace(code);
  if (isNew) {
    python.retain(code);
    entry->second.file = python.textOf(python.attribute(code, "co_filename"));
    entry->second.function = python.textOf(python.attribute(code, "co_name"));
    entry->second.isUsers = isUsersFile(entry->second.file);
  }
  return entry->second;
}

/// Python's linecache knows the cells of notebooks as well.
static std::string lineOfFile(const Python &python, const std::string &file, int number) {
  void *module = python.import("linecache");
  std::string text =
      python.textOf(module ? python.callMethod(module, "getline", "si", file.c_str(), number) : nullptr);
  if (module)
    python.drop(module);
  size_t first = text.find_first_not_of(" \t\n\r"), last = text.find_last_not_of(" \t\n\r");
  return first == std::string::npos ? std::string() : text.substr(first, last - first + 1);
}

static const SourceLine *knownLine(const Python &python, void *code, int number) {
  auto found = tables().lines.find({code, number});
  if (found != tables().lines.end())
    return found->second;
  auto *made = new SourceLine;
  const Code &known = knownCode(python, code);
  made->file = known.file;
  made->function = known.function;
  made->number = number;
  made->code = lineOfFile(python, known.file, number);
  tables().lines.emplace(std::pair(code, number), made);
  return made;
}

/// The innermost frame of the user's; that of the caller where all are torch's.
static const SourceLine *lineOfFrames(const Python &python) {
  int state = python.lock();
  void *frame = python.frame();
  const SourceLine *line = nullptr;
  if (frame)
    python.retain(frame);
  while (frame && !line) {
    void *code = python.codeOf(frame);
    if (knownCode(python, code).isUsers)
      line = knownLine(python, code, python.lineOf(frame));
    python.drop(code);
    void *caller = python.caller(frame);
    python.drop(frame);
    frame = caller;
  }
  if (frame)
    python.drop(frame);
  python.unlock(state);
  return line;
}

/// The gradient's line is that of the op that it belongs to.
static const SourceLine *backwardLine(const torch::autograd::Node &node) {
  Tables &known = tables();
  std::lock_guard lock(known.mutex);
  auto found = known.forward.find({node.thread_id(), node.sequence_nr()});
  if (found == known.forward.end())
    return nullptr;
  const SourceLine *&made = known.backward[found->second];
  if (!made) {
    auto *line = new SourceLine(*found->second);
    line->isBackward = true;
    made = line;
  }
  return made;
}

/// An op that has a gradient took its sequence number just before its kernel was called.
static void keepForBackward(const SourceLine *line) {
  constexpr size_t limit = 1 << 17;
  Tables &known = tables();
  std::lock_guard lock(known.mutex);
  if (known.forward.size() >= limit)
    known.forward.clear();
  known.forward.try_emplace({at::RecordFunction::currentThreadId(), at::sequence_number::peek() - 1}, line);
}

const SourceLine *SourceLine::find() {
  const Python *python = Python::get();
  if (!python)
    return nullptr;
  if (auto node = torch::autograd::get_current_node())
    if (const SourceLine *line = backwardLine(*node))
      return line;
  const SourceLine *line = lineOfFrames(*python);
  if (line && at::GradMode::is_enabled())
    keepForBackward(line);
  return line;
}

} // namespace torchere::lazy

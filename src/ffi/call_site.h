// CallSite: one call of a kernel in a program, and what its handlers keep between runs.
#pragma once

#include "base/element_type.h"
#include "base/error.h"
#include "ffi/attributes.h"
#include "ffi/registry.h"

#include <memory>
#include <span>

namespace torchere::ffi {

/// What a handler set for a stage, and others read.
struct State {
  State() = default;
  ~State();
  State(const State &) = delete;
  State &operator=(const State &) = delete;

  void *object = nullptr;
  int64_t type = 0;
};

/// Elements of an operand or a result, dense.
struct Argument {
  ElementType type = ElementType::F32;
  std::span<const int64_t> shape;
  std::byte *memory = nullptr;
};

/// Where a run takes place.
struct RunPlace {
  int64_t threads = 1; ///< for the tasks that handlers schedule
  int32_t device = 0;
};

class CallSite {
public:
  /// Runs the handler for instantiation, whose error it returns.
  static Result<std::unique_ptr<const CallSite>> create(std::string target, const abi::HandlerBundle &kernel,
                                                        std::unique_ptr<Attributes> attributes);
  /// Runs the other handlers, and waits for what they left to other threads. Any number of threads may call.
  Status run(std::span<const Argument> operands, std::span<const Argument> results, RunPlace place) const;
  const std::string &target() const { return name; }

private:
  CallSite(std::string target, const abi::HandlerBundle &kernel, std::unique_ptr<Attributes> attributes)
      : name(std::move(target)), kernel(kernel), attributes(std::move(attributes)) {}

  std::string name;
  abi::HandlerBundle kernel;
  std::unique_ptr<Attributes> attributes;
  abi::Attributes attributeFrame; ///< of `attributes`
  State instantiated;
};

} // namespace torchere::ffi

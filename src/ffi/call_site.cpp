// Implements the stages of a kernel's run.
#include "ffi/call_site.h"

#include "ffi/api_table.h"
#include "ffi/element_type.h"

#include <vector>

namespace torchere::ffi {

using abi::Stage;

namespace {

/// Operands or results in the form for handlers.
class Buffers {
public:
  explicit Buffers(std::span<const Argument> arguments)
      : kinds(arguments.size(), abi::ValueKind::Buffer), buffers(arguments.size()) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      abi::Buffer &buffer = buffers[i];
      buffer.type = dataTypeOf(arguments[i].type).value_or(abi::DataType::Invalid);
      buffer.data = arguments[i].memory;
      buffer.rank = static_cast<int64_t>(arguments[i].shape.size());
      buffer.dimensions = const_cast<int64_t *>(arguments[i].shape.data()); // handlers only read them
      pointers.push_back(&buffer);
    }
  }
  abi::Values frame() {
    abi::Values values;
    values.size = static_cast<int64_t>(buffers.size());
    values.kinds = kinds.data();
    values.values = pointers.data();
    return values;
  }

private:
  std::vector<abi::ValueKind> kinds;
  std::vector<abi::Buffer> buffers;
  std::vector<void *> pointers;
};

/// Calls the handler, if there is one, and waits for it.
Status callHandler(const std::string &target, abi::Handler *handler, abi::CallFrame frame,
                   Execution &execution, Stage stage) {
  if (!handler)
    return {};
  execution.stage = frame.stage = stage;
  frame.context = reinterpret_cast<abi::ExecutionContext *>(&execution);
  Status status;
  if (abi::Error *error = handler(&frame))
    status = tl::unexpected(takeError(error));
  if (frame.future) {
    std::unique_ptr<Future> future(reinterpret_cast<Future *>(frame.future));
    Status later = future->wait();
    if (status)
      status = std::move(later);
  }
  if (!status)
    status.error().message = fmt::format("[{}] {}", target, status.error().message);
  return status;
}

} // namespace

Result<std::unique_ptr<const CallSite>> CallSite::create(std::string target, const abi::HandlerBundle &kernel,
                                                         std::unique_ptr<Attributes> attributes) {
  std::unique_ptr<CallSite> site(new CallSite(std::move(target), kernel, std::move(attributes)));
  Execution execution{{&site->instantiated}, std::nullopt, Stage::Instantiate};
  abi::CallFrame frame;
  frame.api = &apiTable();
  frame.attributes = site->attributeFrame = site->attributes->frame();
  TORCHERE_TRY(callHandler(site->name, kernel.instantiate, frame, execution, Stage::Instantiate));
  return site;
}

Status CallSite::run(std::span<const Argument> operands, std::span<const Argument> results,
                     RunPlace place) const {
  Buffers given(operands), made(results);
  State prepared, initialized;
  auto *shared = const_cast<State *>(&instantiated); // no stage of a run sets it
  Execution execution{{shared, &prepared, &initialized}, place, Stage::Prepare};
  abi::CallFrame frame;
  frame.api = &apiTable();
  frame.operands = given.frame();
  frame.results = made.frame();
  frame.attributes = attributeFrame;
  TORCHERE_TRY(callHandler(name, kernel.prepare, frame, execution, Stage::Prepare));
  TORCHERE_TRY(callHandler(name, kernel.initialize, frame, execution, Stage::Initialize));
  return callHandler(name, kernel.execute, frame, execution, Stage::Execute);
}

} // namespace torchere::ffi

// Programs that run in parallel; sending, receiving, and asynchronous ops.
#include "interpreter/evaluator.h"

#include "interpreter/call.h"
#include "interpreter/process_group.h"

namespace torchere::interpreter {

namespace {

using mlir::ArrayAttr;

/// The mailbox that the infeed ops of a grid read, in order.
constexpr const char *infeedMailbox = "infeed";

/// The names of the programs, in rows of equal length, one per replica.
Result<size_t> partitionCount(ArrayAttr programs) {
  size_t partitions = programs.empty() ? 0 : mlir::cast<ArrayAttr>(programs[0]).size();
  for (mlir::Attribute row : programs)
    if (size_t length = mlir::cast<ArrayAttr>(row).size(); length != partitions)
      return invalidArgument("programs has rows of {} and {} functions, expected as many in each", partitions,
                             length);
  if (partitions == 0)
    return invalidArgument("programs has no function");
  return partitions;
}

/// Each program is a process and takes as many of the inputs as it has arguments.
Result<Values> runParallel(const Call &call) {
  auto programs = call.attribute<ArrayAttr>("programs");
  TORCHERE_ASSIGN(size_t partitions, partitionCount(programs));
  ProcessGrid grid(static_cast<int64_t>(programs.size()), static_cast<int64_t>(partitions));
  if (auto feeds = call.attribute<ArrayAttr>("infeed"))
    for (auto feed : feeds.getAsRange<mlir::FlatSymbolRefAttr>()) {
      TORCHERE_ASSIGN(Values fed, call.evaluator().callFunction(feed.getValue(), {}));
      grid.send(infeedMailbox, std::move(fed));
    }
  std::vector<ProcessGrid::Program> processes;
  auto next = call.values().begin();
  for (size_t place = 0; place < programs.size() * partitions; ++place) {
    ProcessId id{static_cast<int64_t>(place / partitions), static_cast<int64_t>(place % partitions)};
    auto row = mlir::cast<ArrayAttr>(programs[place / partitions]);
    llvm::StringRef name = mlir::cast<mlir::FlatSymbolRefAttr>(row[place % partitions]).getValue();
    TORCHERE_ASSIGN(mlir::func::FuncOp function, call.evaluator().findFunction(name));
    auto count = static_cast<std::ptrdiff_t>(function.getNumArguments());
    if (call.values().end() - next < count)
      return invalidArgument("programs takes more than the {} inputs", call.operandCount());
    Values arguments(next, next + count);
    next += count;
    auto evaluator = std::make_shared<Evaluator>(call.evaluator(), grid, id);
    processes.push_back([evaluator, name, arguments] { return evaluator->callFunction(name, arguments); });
  }
  if (next != call.values().end())
    return invalidArgument("programs takes {} inputs, got {}", next - call.values().begin(),
                           call.operandCount());
  return grid.runAll(std::move(processes));
}

Result<Values> startAsync(const Call &call) {
  ProcessGrid &grid = call.evaluator().grid();
  auto evaluator = std::make_shared<Evaluator>(call.evaluator(), grid, call.evaluator().process());
  mlir::Region *body = &call.region(0);
  ProcessGrid::Task &task =
      grid.start([=, values = call.values()] { return evaluator->runRegion(*body, values, nullptr); });
  return Values{Value::future([&grid, &task] { return grid.finish(task); })};
}

Result<Values> finishAsync(const Call &call) {
  return call.values().front().await();
}

/// Without source_target_pairs, the first receiver takes what is on the channel.
std::string channelMailbox(const Call &call) {
  return fmt::format("channel {}", channelOf(call));
}

/// Transfers with the host ignore source_target_pairs.
bool goesByPairs(const Call &call) {
  return !call.integers("source_target_pairs").empty() && !call.flag("is_host_transfer");
}

/// The values are in the mailbox before the token is returned.
Result<Values> send(const Call &call) {
  Values values(call.values().begin(), call.values().end() - 1);
  if (!goesByPairs(call)) {
    call.evaluator().grid().send(channelMailbox(call), std::move(values));
    return Values{Token()};
  }
  TORCHERE_ASSIGN(Ends ends, endsOf(call));
  if (ends.receiver)
    sendTo(call, *ends.receiver, values);
  return Values{Token()};
}

Result<Values> valuesAndToken(Result<Values> values) {
  if (values)
    values->push_back(Token());
  return values;
}

/// The result of a recv that nobody sends to: zeros, as in collective_permute.
Result<Values> zeroResults(const Call &call) {
  Values zeros;
  for (size_t index = 0; index + 1 < call.resultCount(); ++index) {
    TORCHERE_ASSIGN(ElementType type, call.resultType(index));
    TORCHERE_ASSIGN(Index shape, call.resultShape(index));
    TORCHERE_ASSIGN(Tensor tensor, Tensor::create(type, shape));
    zeros.push_back(std::move(tensor));
  }
  return zeros;
}

Result<Values> recv(const Call &call) {
  if (!goesByPairs(call))
    return valuesAndToken(call.evaluator().grid().receive(channelMailbox(call)));
  TORCHERE_ASSIGN(Ends ends, endsOf(call));
  return valuesAndToken(ends.sender ? receiveFrom(call, *ends.sender) : zeroResults(call));
}

Result<Values> infeed(const Call &call) {
  return valuesAndToken(call.evaluator().grid().receive(infeedMailbox));
}

/// The host ignores the values.
Result<Values> outfeed(const Call &) {
  return Values{Token()};
}

} // namespace

void addCommunication(EvaluationTable &table) {
  table.add("interpreter.run_parallel", runParallel);
  table.add("stablehlo.async_done", finishAsync);
  table.add("stablehlo.async_start", startAsync);
  table.add("stablehlo.infeed", infeed);
  table.add("stablehlo.outfeed", outfeed);
  table.add("stablehlo.recv", recv);
  table.add("stablehlo.send", send);
}

} // namespace torchere::interpreter

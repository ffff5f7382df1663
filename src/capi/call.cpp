// Calls in the C ABI: with results of their own, and into the caller's memory.
#include "capi/failure.h"
#include "capi/inputs.h"
#include "capi/structures.h"

#include <algorithm>

using namespace torchere;
using namespace torchere::capi;

static Result<std::shared_ptr<CallOutcome>> call(Program &program, size_t function, const CallInputs &inputs,
                                                 bool onDevice) {
  TORCHERE_ASSIGN(session::CallResult result,
                  program.session->call(function, inputs.inputs(), {.onDevice = onDevice}));
  return CallOutcome::create(program.loaded, program.loaded->functions[function], std::move(result));
}

static torchere_status callFor(torchere_program program, size_t function, const torchere_input *inputs,
                               size_t input_count, torchere_result *result, bool onDevice) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Program>(program));
    TORCHERE_TRY(checkGiven(result, "result"));
    TORCHERE_ASSIGN(const FunctionDescription *described, found->function(function));
    CallInputs values;
    TORCHERE_TRY(values.read(*described, inputs, input_count));
    TORCHERE_ASSIGN(auto outcome, call(*found, function, values, onDevice));
    *result = addHandle(std::move(outcome));
    return {};
  });
}

torchere_status torchere_call(torchere_program program, size_t function, const torchere_input *inputs,
                              size_t input_count, torchere_result *result) {
  return callFor(program, function, inputs, input_count, result, /*onDevice=*/false);
}

torchere_status torchere_call_async(torchere_program program, size_t function, const torchere_input *inputs,
                                    size_t input_count, torchere_result *result) {
  return callFor(program, function, inputs, input_count, result, /*onDevice=*/true);
}

/// The symbols that stand alone as a size or an int of the inputs, with their values.
static program::SymbolValues symbolsOf(const program::EntryPoint &entryPoint,
                                       std::span<const session::Input> inputs) {
  program::SymbolValues symbols;
  auto bind = [&](program::SymInt expression, int64_t value) {
    if (expression.isConstant())
      return;
    const program::Expression &read = entryPoint.expressions[expression];
    if (read.kind == program::ExpressionKind::Symbol)
      symbols.emplace(read.symbol, value);
  };
  for (const auto *list : {&entryPoint.inputs, &entryPoint.unusedInputs})
    for (const program::EntryInput &input : *list) {
      if (input.source != program::InputSource::UserInput)
        continue;
      const session::Input &value = inputs[static_cast<size_t>(input.position)];
      std::span<const int64_t> shape;
      if (const auto *tensor = std::get_if<session::TensorView>(&value))
        shape = tensor->shape;
      else if (const auto *onDevice = std::get_if<session::DeviceTensor>(&value))
        shape = (*onDevice)->type().shape;
      else if (const auto *integer = std::get<program::Constant>(value).as<int64_t>())
        bind(input.value, *integer);
      for (size_t i = 0; i < std::min(shape.size(), input.type.shape.size()); ++i)
        bind(input.type.shape[i], shape[i]);
    }
  return symbols;
}

namespace {

/// Where the outputs of a call go.
class Destinations {
public:
  Status read(const FunctionDescription &function, torchere_destination *outputs, size_t count) {
    description = &function;
    TORCHERE_ASSIGN(list, checkList(outputs, count, "outputs"));
    for (size_t i = 0; i < list.size(); ++i) {
      size_t index = i;
      if (list[i].name) {
        TORCHERE_ASSIGN(index, function.findOutput(list[i].name));
      } else {
        TORCHERE_TRY(checkIndex(i, function.outputs().size(), "outputs"));
      }
      if (function.outputs()[index].isConstant())
        return fail(ErrorCode::FailedPrecondition, "[{}] a constant: it has no memory",
                    function.outputs()[index].name());
      if (std::ranges::find(indices, index) != indices.end())
        return invalidArgument("[{}] the output is given twice", function.outputs()[index].name());
      indices.push_back(index);
    }
    return {};
  }

  /// Checks the sizes that follow from those of the inputs.
  Status checkSizes(std::span<const session::Input> inputs) {
    const program::EntryPoint &entryPoint = description->entryPoint();
    program::SymbolValues symbols = symbolsOf(entryPoint, inputs);
    for (const program::EntryOutput &output : entryPoint.outputs) {
      auto place = std::ranges::find(indices, static_cast<size_t>(output.position));
      if (output.destination != program::OutputDestination::UserOutput || place == indices.end())
        continue;
      runtime::ArrayType type{output.type.dtype, {}};
      for (program::SymInt size : output.type.shape)
        if (auto value = size.isConstant() ? Result<int64_t>(size.constant())
                                           : entryPoint.expressions.evaluate(size, symbols))
          type.shape.push_back(*value);
      if (type.shape.size() < output.type.shape.size())
        continue; // a size that only the call tells
      TORCHERE_ASSIGN(size_t needed, type.byteSize());
      TORCHERE_TRY(checkSize(static_cast<size_t>(place - indices.begin()), needed));
    }
    return {};
  }

  Status write(const CallOutcome &outcome) {
    for (size_t i = 0; i < list.size(); ++i) { // all sizes, before anything is written
      TORCHERE_ASSIGN(const runtime::HostArray *array, outcome.host(indices[i]));
      TORCHERE_ASSIGN(size_t needed, array->type->byteSize());
      TORCHERE_TRY(checkSize(i, needed));
    }
    for (size_t i = 0; i < list.size(); ++i) {
      TORCHERE_ASSIGN(const runtime::HostArray *array, outcome.host(indices[i]));
      TORCHERE_TRY(copyElements(*array, nameOf(i), list[i].data, list[i].byte_size));
    }
    return {};
  }

private:
  const char *nameOf(size_t place) const { return description->outputs()[indices[place]].name().c_str(); }
  Status checkSize(size_t place, size_t needed) {
    list[place].needed = needed;
    if (list[place].byte_size < needed)
      return fail(ErrorCode::OutOfRange, "[{}] memory too short: got {} bytes, expected at least {}",
                  nameOf(place), list[place].byte_size, needed);
    if (needed && !list[place].data)
      return invalidArgument("[{}] null pointer: expected memory of {} bytes", nameOf(place), needed);
    return {};
  }

  const FunctionDescription *description = nullptr;
  std::span<torchere_destination> list;
  std::vector<size_t> indices; ///< of the outputs
};

} // namespace

torchere_status torchere_call_into(torchere_program program, size_t function, const torchere_input *inputs,
                                   size_t input_count, torchere_destination *outputs, size_t output_count) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Program>(program));
    TORCHERE_ASSIGN(const FunctionDescription *described, found->function(function));
    Destinations destinations;
    TORCHERE_TRY(destinations.read(*described, outputs, output_count));
    CallInputs values;
    TORCHERE_TRY(values.read(*described, inputs, input_count));
    // Wrong inputs before what follows from them.
    TORCHERE_TRY(found->session->checkInputs(function, values.inputs()));
    TORCHERE_TRY(destinations.checkSizes(values.inputs()));
    TORCHERE_ASSIGN(auto outcome, call(*found, function, values, /*onDevice=*/false));
    return destinations.write(*outcome);
  });
}

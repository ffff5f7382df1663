// Functions, control flow, and ops that group or order values.
#include "evaluation/rearrangement.h"
#include "interpreter/call.h"
#include "interpreter/evaluator.h"
#include "interpreter/registered_call.h"

#include <algorithm>

namespace torchere::interpreter {

namespace {

Result<Values> callFunction(const Call &call) {
  auto callee = call.attribute<mlir::FlatSymbolRefAttr>("callee");
  return call.evaluator().callFunction(callee.getValue(), call.values());
}

Result<Values> composite(const Call &call) {
  auto decomposition = call.attribute<mlir::FlatSymbolRefAttr>("decomposition");
  return call.evaluator().callFunction(decomposition.getValue(), call.values());
}

Result<Values> loop(const Call &call) {
  Values state = call.values();
  while (true) {
    TORCHERE_ASSIGN(Values condition, call.run(call.region(0), state));
    if (!condition[0].tensor().at(int64_t(0)).asBool())
      return state;
    TORCHERE_ASSIGN(state, call.run(call.region(1), std::move(state)));
  }
}

Result<Values> branch(const Call &call) {
  bool isTrue = call.operand(0).at(int64_t(0)).asBool();
  return call.run(call.region(isTrue ? 0 : 1), {});
}

/// An out-of-range index selects the last branch.
Result<Values> choose(const Call &call) {
  int64_t index = call.operand(0).at(int64_t(0)).asSigned();
  int64_t last = static_cast<int64_t>(call.operation()->getNumRegions()) - 1;
  return call.run(call.region(static_cast<size_t>(index < 0 || index > last ? last : index)), {});
}

/// The operand as the kernel wants it to lie.
Result<Tensor> inOrder(const Tensor &tensor, const Index &order) {
  return order.empty() ? tensor : transpose(tensor, order);
}

Result<Tensor> inUsualOrder(const Tensor &tensor, const Index &order, Index shape) {
  if (order.empty())
    return tensor.reshaped(std::move(shape));
  Index inverse(order.size()), sizes(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    sizes[i] = shape[static_cast<size_t>(order[i])];
  }
  return transpose(tensor.reshaped(std::move(sizes)), inverse);
}

/// A kernel that is registered with the process. What it keeps lasts as long as the call.
Result<Values> callKernel(const Call &call) {
  TORCHERE_ASSIGN(std::unique_ptr<const ffi::CallSite> site, instantiateCall(call.operation()));
  CallForm form = formOf(call.operation());
  std::vector<Tensor> operands, results; // each with its own elements: the kernel may write results alone
  std::vector<Index> shapes;
  for (size_t i = 0; i < call.operandCount(); ++i) {
    TORCHERE_ASSIGN(operands.emplace_back(), inOrder(call.operand(i), form.operandOrders[i]));
  }
  for (size_t i = 0; i < call.resultCount(); ++i) {
    TORCHERE_ASSIGN(ElementType type, call.resultType(i));
    TORCHERE_ASSIGN(shapes.emplace_back(), call.resultShape(i));
    std::optional<size_t> aliased = form.aliasedOperands[i];
    TORCHERE_ASSIGN(results.emplace_back(),
                    aliased ? operands[*aliased].clone() : Tensor::create(type, shapes[i]));
    if (aliased)
      operands[*aliased] = results[i];
  }
  std::vector<ffi::Argument> given, made;
  for (size_t i = 0; i < operands.size(); ++i)
    given.push_back({operands[i].type(), call.operand(i).shape(), operands[i].writableBytes().data()});
  for (size_t i = 0; i < results.size(); ++i)
    made.push_back({results[i].type(), shapes[i], results[i].writableBytes().data()});
  TORCHERE_TRY(site->run(given, made, {}));
  Values values;
  for (size_t i = 0; i < results.size(); ++i) {
    TORCHERE_ASSIGN(Tensor result, inUsualOrder(results[i], form.resultOrders[i], shapes[i]));
    values.push_back(std::move(result));
  }
  return values;
}

/// A registered kernel; a value's place, of which there is one here; or one of the check dialect's
/// assertions, which upstream's test data writes as custom calls.
Result<Values> customCall(const Call &call) {
  std::string target = call.string("call_target_name");
  if (isPlacement(call.operation()))
    return call.values();
  if (!comparesTwoTensors(target))
    return callKernel(call);
  const Values &values = call.values();
  std::vector<std::string> texts;
  for (const Value &value : values)
    texts.push_back(typeText(value));
  if (values.size() != 2 || !values[0].isTensor() || !values[1].isTensor())
    return invalidArgument("wrong operands of {}: got {}, expected two tensors", target,
                           fmt::join(texts, ", "));
  return call.evaluator().findEvaluation(target)(call);
}

Result<Values> makeToken(const Call &) {
  return Values{Token()};
}

Result<Values> makeTuple(const Call &call) {
  return Values{Value::tuple(call.values())};
}

Result<Values> getTupleElement(const Call &call) {
  return Values{call.values()[0].elements()[static_cast<size_t>(call.integer("index"))]};
}

} // namespace

void addControl(EvaluationTable &table) {
  table.add("func.call", callFunction);
  table.add("stablehlo.after_all", makeToken);
  table.add("stablehlo.case", choose);
  table.add("stablehlo.composite", composite);
  table.add("stablehlo.create_token", makeToken);
  table.add("stablehlo.custom_call", customCall);
  table.add("stablehlo.get_tuple_element", getTupleElement);
  table.add("stablehlo.if", branch);
  table.add("stablehlo.optimization_barrier", passOn);
  table.add("stablehlo.tuple", makeTuple);
  table.add("stablehlo.while", loop);
}

} // namespace torchere::interpreter

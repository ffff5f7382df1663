// Control flow: branches and loops whose parts are graphs of the program.
#include "lowering/op_table.h"
#include "lowering/placement.h"
#include "lowering/random.h"
#include "lowering/region.h"

#include "mlir/IR/TypeUtilities.h"

#include <utility>

namespace torchere::lowering {

namespace {

/// A value that enters or leaves a graph, as a tensor; numbers get `dtype`. Null if it is neither.
mlir::Value asTensor(Context &cx, const Argument &argument, DType dtype) {
  if (const mlir::Value *value = argument.as<mlir::Value>())
    return *value;
  if (const Dim *size = argument.as<Dim>())
    return cx.sizeTensor(*size, dtype);
  if (const int64_t *number = argument.as<int64_t>())
    return cx.constant(*number, dtype);
  if (const double *number = argument.as<double>())
    return cx.constant(*number, dtype);
  if (const bool *number = argument.as<bool>())
    return cx.constant(*number, dtype);
  return {};
}

std::string print(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// The values as tensors of the types that the program declares for the op's results. `what` describes them
/// in errors: "output" of a graph, or "carried value" of a loop.
Result<Values> asResults(Context &cx, const std::vector<Argument> &values, std::string_view what,
                         std::string_view of) {
  if (values.size() != cx.resultCount())
    return cx.invalid("wrong number of {}s of {}: got {}, expected {}", what, of, values.size(),
                      cx.resultCount());
  Values tensors;
  for (auto [index, value] : llvm::enumerate(values)) {
    const TensorType &result = cx.resultType(index);
    mlir::RankedTensorType expected = cx.tensorType(result.shape, result.dtype);
    mlir::Value tensor = asTensor(cx, value, result.dtype);
    if (!tensor)
      return cx.unimplemented("{} {} of {} is no tensor: expected {}", what, index, of, print(expected));
    if (Context::elementType(tensor) != expected.getElementType() ||
        mlir::failed(mlir::verifyCompatibleShape(tensor.getType(), expected)))
      return cx.unimplemented("{} {} of {} has another type than the result: got {}, expected {}", what,
                              index, of, print(tensor.getType()), print(expected));
    tensors.push_back(tensor);
  }
  return tensors;
}

/// A bool, or a tensor of one element.
mlir::Value asPredicate(Context &cx, mlir::Value value) {
  return cx.reshape(cx.convert(value, DType::Bool), {});
}

/// The generator inside a region, which begins where the one around it stands.
std::optional<Generator> insideRegion(Context &cx) {
  std::optional<Generator> generator = cx.generator();
  if (generator)
    *generator = {generator->key, nextBlock(cx, *generator)};
  return generator;
}

/// Makes a region give the number of the next block as well, last.
void giveNextBlock(Context &cx, mlir::Region &region, const Generator &generator) {
  mlir::Operation *terminator = region.front().getTerminator();
  mlir::OpBuilder::InsertionGuard guard(cx.builder());
  cx.builder().setInsertionPoint(terminator);
  terminator->insertOperands(terminator->getNumOperands(), nextBlock(cx, generator));
}

/// The op's results but for the last, which is where the generator stands if the op draws from it.
Values createWithGenerator(Context &cx, const mlir::OperationState &operation, bool draws) {
  mlir::Operation *op = cx.builder().create(operation);
  Values results(op->result_begin(), op->result_end());
  if (draws)
    *cx.generator() = {cx.generator()->key, results.pop_back_val(), 0, /*isUsed=*/true};
  return results;
}

/// What one of two graphs makes of the operands. Where a branch draws random numbers, both tell how far.
Result<Values> branch(Context &cx, const Args &args) {
  mlir::OperationState operation(cx.loc(), stablehlo::IfOp::getOperationName());
  operation.addOperands(asPredicate(cx, args.tensor("pred")));
  for (size_t i = 0; i < cx.resultCount(); ++i)
    operation.addTypes(cx.tensorType(cx.resultType(i).shape, cx.resultType(i).dtype));
  const std::optional<Generator> around = cx.generator(), inside = insideRegion(cx);
  llvm::SmallVector<std::optional<Generator>, 2> left; // by each branch
  for (std::string_view argument : {"true_fn", "false_fn"}) {
    const Subgraph &graph = args.graph(argument);
    cx.generator() = inside;
    TORCHERE_TRY(addFallibleRegion(cx, operation, {}, [&](mlir::ValueRange) -> Result<Values> {
      TORCHERE_ASSIGN(std::vector<Argument> outputs, graph.emit(cx, args.list("operands")));
      return asResults(cx, outputs, "output", argument);
    }));
    left.push_back(cx.generator());
  }
  cx.generator() = around;
  bool draws = around && (left[0]->isUsed || left[1]->isUsed);
  if (draws) {
    for (auto [region, generator] : llvm::zip(operation.regions, left))
      giveNextBlock(cx, *region, *generator);
    operation.addTypes(around->first.getType());
  }
  return createWithGenerator(cx, operation, draws);
}

/// What a region makes of its arguments; building it may fail.
using Body = llvm::function_ref<Result<Values>(mlir::ValueRange)>;

/// The carried values after repeating `body` while `condition` gives true. A body that draws random numbers
/// carries the place of the generator as well.
Result<Values> repeat(Context &cx, const Values &carried, Body condition, Body body) {
  const std::optional<Generator> around = cx.generator();
  mlir::OperationState operation(cx.loc(), stablehlo::WhileOp::getOperationName());
  operation.addOperands(carried);
  llvm::SmallVector<mlir::Type> types(mlir::ValueRange(carried).getTypes());
  operation.addTypes(types);
  if (around)
    types.push_back(around->first.getType());
  cx.generator().reset();
  TORCHERE_TRY(addFallibleRegion(cx, operation, types, [&](mlir::ValueRange values) {
    return condition(values.take_front(carried.size()));
  }));
  TORCHERE_TRY(addFallibleRegion(cx, operation, types, [&](mlir::ValueRange values) {
    if (around)
      cx.generator() = Generator{around->key, values.back()};
    return body(values.take_front(carried.size()));
  }));
  std::optional<Generator> left = std::exchange(cx.generator(), around);
  bool draws = left && left->isUsed;
  if (draws) {
    giveNextBlock(cx, *operation.regions[1], *left);
    operation.addOperands(nextBlock(cx, *around));
    operation.addTypes(types.back());
  } else if (around) {
    for (const std::unique_ptr<mlir::Region> &region : operation.regions)
      region->eraseArgument(carried.size());
  }
  return createWithGenerator(cx, operation, draws);
}

/// What the body makes of the carried values, repeated for as long as the condition gives true. The further
/// inputs are the same in every round: the regions use them from outside.
Result<Values> loop(Context &cx, const Args &args) {
  TORCHERE_ASSIGN(Values carried, asResults(cx, args.list("carried_inputs"), "carried value", "the loop"));
  auto emit = [&](std::string_view argument, mlir::ValueRange values) {
    std::vector<Argument> inputs;
    for (auto [index, value] : llvm::enumerate(values))
      inputs.push_back({cx.withShape(value, cx.resultType(index).shape)});
    llvm::append_range(inputs, args.list("additional_inputs"));
    return args.graph(argument).emit(cx, std::move(inputs));
  };
  auto condition = [&](mlir::ValueRange values) -> Result<Values> {
    TORCHERE_ASSIGN(std::vector<Argument> outputs, emit("cond_fn", values));
    mlir::Value predicate = outputs.size() == 1 ? asTensor(cx, outputs.front(), DType::Bool) : mlir::Value();
    if (!predicate)
      return cx.unimplemented("cond_fn gives no bool: got {} outputs, expected one", outputs.size());
    return Values{asPredicate(cx, predicate)};
  };
  return repeat(cx, carried, condition, [&](mlir::ValueRange values) -> Result<Values> {
    TORCHERE_ASSIGN(std::vector<Argument> outputs, emit("body_fn", values));
    return asResults(cx, outputs, "output", "body_fn");
  });
}

/// Element `place` of the first dimension.
mlir::Value elementAt(Context &cx, mlir::Value value, mlir::Value place) {
  Dims shape = cx.shape(value);
  if (!llvm::all_of(shape, [](const Dim &dim) { return dim.isConstant(); }))
    return gatherSlices(cx, value, slicesAlong(cx, place, 0));
  Values operands = {value, place};
  operands.append(shape.size() - 1, cx.constant(int64_t{0}, DType::I64));
  shape[0] = 1;
  Integers sizes;
  for (const Dim &dim : shape)
    sizes.push_back(dim.constant());
  mlir::Value part =
      cx.create<stablehlo::DynamicSliceOp>(cx.tensorType(shape, Context::elementType(value)), operands,
                                           {cx.integersAttribute("slice_sizes", sizes)});
  return cx.reshape(part, llvm::ArrayRef(shape).drop_front());
}

/// The tensor with element `place` of the first dimension replaced.
mlir::Value withElement(Context &cx, mlir::Value value, mlir::Value element, mlir::Value place) {
  Dims shape = cx.shape(value);
  Dims row = shape;
  row[0] = 1;
  Values operands = {value, cx.reshape(element, row), place};
  operands.append(shape.size() - 1, cx.constant(int64_t{0}, DType::I64));
  return cx.withShape(cx.create<stablehlo::DynamicUpdateSliceOp>(value.getType(), operands), shape);
}

/// What a graph makes of each element of the first dimension of `elements`, with what it made before of the
/// first `initial.size()` results; the other results are put together.
Result<Values> forEach(Context &cx, std::string_view graph, const Args &args,
                       const std::vector<Argument> &initial, const std::vector<Argument> &elements,
                       const std::vector<Argument> &further) {
  Values sources, carried = {cx.constant(int64_t{0}, DType::I64)};
  for (const Argument &element : elements) {
    sources.push_back(asTensor(cx, element, DType::I64));
    if (!sources.back() || Context::rank(sources.back()) == 0)
      return cx.unimplemented("an element to go over is no tensor of one dimension or more");
  }
  if (sources.empty())
    return cx.unimplemented("there is nothing to go over: expected at least one tensor");
  for (size_t i = 0; i < cx.resultCount(); ++i) {
    const TensorType &type = cx.resultType(i);
    mlir::Value start = i < initial.size() ? asTensor(cx, initial[i], type.dtype)
                                           : cx.full(int64_t{0}, type.dtype, type.shape);
    if (!start)
      return cx.unimplemented("initial value {} is no tensor", i);
    carried.push_back(start);
  }
  Dim length = cx.size(sources.front(), 0);
  auto condition = [&](mlir::ValueRange state) -> Result<Values> {
    return Values{cx.compare(stablehlo::ComparisonDirection::LT, state[0], cx.sizeTensor(length))};
  };
  return repeat(cx, carried, condition, [&](mlir::ValueRange state) -> Result<Values> {
    std::vector<Argument> inputs;
    for (size_t i = 0; i < cx.resultCount(); ++i)
      cx.withShape(state[i + 1], cx.resultType(i).shape);
    for (size_t i = 0; i < initial.size(); ++i)
      inputs.push_back({state[i + 1]});
    for (mlir::Value source : sources)
      inputs.push_back({elementAt(cx, source, state[0])});
    llvm::append_range(inputs, further);
    TORCHERE_ASSIGN(std::vector<Argument> outputs, args.graph(graph).emit(cx, std::move(inputs)));
    if (outputs.size() != cx.resultCount())
      return cx.invalid("wrong number of outputs of {}: got {}, expected {}", graph, outputs.size(),
                        cx.resultCount());
    Values next = {cx.elementwise<stablehlo::AddOp>({state[0], cx.constant(int64_t{1}, DType::I64)})};
    for (auto [index, output] : llvm::enumerate(outputs)) {
      mlir::Value made = asTensor(cx, output, cx.resultType(index).dtype);
      if (!made)
        return cx.unimplemented("output {} of {} is no tensor", index, graph);
      next.push_back(index < initial.size() ? made : withElement(cx, state[index + 1], made, state[0]));
    }
    return next;
  });
}

/// Without the count of rounds.
Result<Values> withoutCount(Result<Values> results) {
  if (results)
    results->erase(results->begin());
  return results;
}

Result<Values> scanGraph(Context &cx, const Args &args) {
  return withoutCount(
      forEach(cx, "combine_fn", args, args.list("init"), args.list("xs"), args.list("additional_inputs")));
}

Result<Values> mapGraph(Context &cx, const Args &args) {
  return withoutCount(forEach(cx, "f", args, {}, args.list("xs"), args.list("pos_args")));
}

} // namespace

void addControlFlow(OpTable &table) {
  table.add("higher_order::cond(Tensor pred, Graph true_fn, Graph false_fn, Any[] operands) -> Any[]",
            branch);
  table.add("higher_order::while_loop(Graph cond_fn, Graph body_fn, Any[] carried_inputs, "
            "Any[] additional_inputs) -> Any[]",
            loop);
  table.add("higher_order::scan(Graph combine_fn, Any[] init, Any[] xs, Any[] additional_inputs) -> Any[]",
            scanGraph);
  table.add("higher_order::map_impl(Graph f, Any[] xs, Any[] pos_args) -> Any[]", mapGraph);
}

} // namespace torchere::lowering

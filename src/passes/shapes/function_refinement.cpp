// Implements shape refinement: one walk over the ops, in order, that infers every type anew.
#include "passes/shapes/function_refinement.h"

#include "evaluation/constant_evaluation.h"
#include "passes/shapes/static_forms.h"
#include "passes/shapes/type_refinement.h"
#include "passes/simplify/dead_code.h"
#include "stablehlo/dialect.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace torchere::evaluation;
using namespace torchere::stablehlo;

namespace torchere::passes {

namespace {

/// Refines the functions that can be reached from one, cloning those that are called with several signatures.
class Refiner {
public:
  explicit Refiner(ModuleOp module) : symbols(module) {}

  LogicalResult refineFunction(func::FuncOp function);
  /// The first op with a result of unknown size; null if there is none.
  Operation *firstUnknown() const;
  /// Erases ops that have no uses left, in the refined functions.
  void eraseDead();

private:
  LogicalResult refineBlock(Block &block);
  LogicalResult refineRegions(Operation *op);
  LogicalResult refineOp(Operation *op);
  LogicalResult refineWhile(WhileOp op);
  /// Of an op whose attribute `callee` names a function.
  LogicalResult refineCall(Operation *call, StringRef callee);
  /// The callee for the operands of a call: the function itself the first time, later a copy of the original.
  FailureOr<func::FuncOp> specialise(Operation *call, func::FuncOp callee);

  SymbolTable symbols;
  llvm::SetVector<Operation *> refined;
  llvm::SmallDenseSet<Operation *> inProgress;
  llvm::StringMap<OwningOpRef<func::FuncOp>> originals;
  llvm::DenseMap<std::pair<Attribute, Attribute>, func::FuncOp> specialisations;
};

/// A size may be computed by way of a 0-d float: half of another one, rounded.
bool isOfScalars(Operation *op) {
  auto isScalar = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() == 0;
  };
  return llvm::all_of(op->getOperandTypes(), isScalar) && llvm::all_of(op->getResultTypes(), isScalar);
}

void replaceByConstant(Value value, DenseElementsAttr constant, OpBuilder &builder) {
  if (value.use_empty())
    return;
  value.replaceAllUsesWith(ConstantOp::create(builder, value.getLoc(), constant));
}

LogicalResult Refiner::refineFunction(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError() << "has " << function.getBody().getBlocks().size()
                                  << " blocks, expected one: StableHLO functions have no branches";
  refined.insert(function);
  inProgress.insert(function);
  LogicalResult result = refineBlock(function.front());
  inProgress.erase(function);
  if (failed(result))
    return failure();
  function.setType(FunctionType::get(function.getContext(), function.front().getArgumentTypes(),
                                     function.front().getTerminator()->getOperandTypes()));
  return success();
}

LogicalResult Refiner::refineBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(refineOp(&op)))
      return failure();
  return success();
}

LogicalResult Refiner::refineRegions(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (failed(refineBlock(block)))
        return failure();
  return success();
}

LogicalResult Refiner::refineOp(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return refineCall(call, call.getCalleeAttrName());
  if (auto composite = dyn_cast<CompositeOp>(op))
    return refineCall(composite, composite.getDecompositionAttrName());
  if (auto call = dyn_cast<CustomCallOp>(op); call && call.getCallTargetName() == operandWrapper &&
                                              call->getNumOperands() > 0 && call->getNumResults() == 1) {
    call->getResult(0).replaceAllUsesWith(call->getOperand(0));
    call->erase();
    return success();
  }
  FailureOr<Operation *> form = makeStatic(op);
  if (failed(form))
    return failure();
  op = *form;
  bool isBranch = isa<IfOp, CaseOp>(op); // its branches determine its result types
  if (isBranch && failed(refineRegions(op)))
    return failure();
  if (failed(refineResultTypes(op)))
    return failure();
  if (auto loop = dyn_cast<WhileOp>(op))
    return refineWhile(loop);
  if (!isBranch && failed(refineRegions(op)))
    return failure();
  bool ofScalars = isOfScalars(op);
  if (DenseElementsAttr constant =
          evaluate(op, {.elements = maxShapeElements, .floats = ofScalars, .approximations = ofScalars})) {
    OpBuilder builder(op);
    replaceByConstant(op->getResult(0), constant, builder);
    op->erase();
  }
  return success();
}

LogicalResult Refiner::refineWhile(WhileOp op) {
  for (Region *region : {&op.getCond(), &op.getBody()}) {
    for (auto [argument, type] : llvm::zip(region->getArguments(), op.getOperandTypes()))
      argument.setType(type);
    if (failed(refineBlock(region->front())))
      return failure();
  }
  return success();
}

LogicalResult Refiner::refineCall(Operation *call, StringRef attribute) {
  auto callee = symbols.lookup<func::FuncOp>(call->getAttrOfType<FlatSymbolRefAttr>(attribute).getValue());
  if (!callee || callee.isExternal())
    return success();
  if (callee.getNumArguments() != call->getNumOperands() || callee.getNumResults() != call->getNumResults())
    return call->emitOpError() << "does not fit the signature of @" << callee.getSymName();
  FailureOr<func::FuncOp> specialised = specialise(call, callee);
  if (failed(specialised))
    return failure();
  call->setAttr(attribute, FlatSymbolRefAttr::get(specialised->getSymNameAttr()));
  OpBuilder builder(call->getContext());
  builder.setInsertionPointAfter(call);
  Operation *terminator = specialised->front().getTerminator();
  for (auto [result, returned] : llvm::zip(call->getResults(), terminator->getOperands())) {
    result.setType(returned.getType());
    if (DenseIntElementsAttr constant = constantInteger(returned))
      replaceByConstant(result, constant, builder);
  }
  return success();
}

FailureOr<func::FuncOp> Refiner::specialise(Operation *call, func::FuncOp callee) {
  if (inProgress.contains(callee))
    return call->emitOpError() << "is recursive: @" << callee.getSymName() << " is being called already";
  auto [original, isFirst] = originals.try_emplace(callee.getSymName());
  if (isFirst)
    original->second = callee.clone();
  // A function with only static types gains nothing from its operands' values.
  bool usesValues = llvm::any_of(callee.getArgumentTypes(), [](Type type) { return !isStaticType(type); }) ||
                    !isStaticFunction(*original->second);
  SmallVector<Attribute> signature;
  for (Value operand : call->getOperands()) {
    Attribute constant = usesValues ? constantInteger(operand) : DenseIntElementsAttr();
    signature.push_back(constant ? constant : TypeAttr::get(operand.getType()));
  }
  func::FuncOp &known =
      specialisations[{callee.getSymNameAttr(), ArrayAttr::get(call->getContext(), signature)}];
  if (known)
    return known;
  func::FuncOp function = callee;
  if (!isFirst) {
    function = original->second->clone();
    function.setPrivate();
    symbols.insert(function, std::next(Block::iterator(callee)));
  }
  known = function;
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  for (auto [argument, operand, value] : llvm::zip(function.getArguments(), call->getOperands(), signature)) {
    argument.setType(operand.getType());
    if (auto constant = dyn_cast<DenseIntElementsAttr>(value))
      replaceByConstant(argument, constant, builder);
  }
  if (failed(refineFunction(function)))
    return failure();
  return function;
}

Operation *Refiner::firstUnknown() const {
  Operation *first = nullptr;
  for (Operation *function : refined) {
    function->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (llvm::all_of(op->getResultTypes(), isStaticType))
        return WalkResult::advance();
      first = op;
      return WalkResult::interrupt();
    });
    if (first)
      break;
  }
  return first;
}

void Refiner::eraseDead() {
  for (Operation *function : refined)
    eraseDeadOps(function);
}

} // namespace

bool isStaticType(Type type) {
  if (auto tuple = dyn_cast<TupleType>(type))
    return llvm::all_of(tuple.getTypes(), isStaticType);
  auto tensor = dyn_cast<ShapedType>(type);
  return !tensor || tensor.hasStaticShape();
}

bool isStaticFunction(func::FuncOp function) {
  WalkResult result = function.walk([](Operation *op) {
    bool isStatic = llvm::all_of(op->getResultTypes(), isStaticType);
    for (Region &region : op->getRegions())
      isStatic &= llvm::all_of(region.getArgumentTypes(), isStaticType);
    return isStatic ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted() && llvm::all_of(function.getArgumentTypes(), isStaticType) &&
         llvm::all_of(function.getResultTypes(), isStaticType);
}

bool isStaticModule(ModuleOp module) {
  return llvm::all_of(module.getOps<func::FuncOp>(), isStaticFunction);
}

LogicalResult verifyArgumentTypes(func::FuncOp function, ArrayRef<Type> types) {
  if (types.size() != function.getNumArguments())
    return function.emitOpError() << "has " << function.getNumArguments() << " arguments, got "
                                  << types.size() << " types to refine them";
  for (auto [index, type] : llvm::enumerate(types))
    if (!areCompatible(function.getArgument(index).getType(), type))
      return function.emitOpError() << "argument " << index << ": got " << type
                                    << ", expected a refinement of " << function.getArgument(index).getType();
  return success();
}

void wrapArguments(func::FuncOp function, ArrayRef<Type> types) {
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  for (auto [argument, type] : llvm::zip(function.getArguments(), types)) {
    if (argument.getType() == type)
      continue;
    Type old = argument.getType();
    argument.setType(type);
    ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
    Value sizes = ConstantOp::create(builder, argument.getLoc(), builder.getI64TensorAttr(shape));
    OperationState state(argument.getLoc(), CustomCallOp::getOperationName(), {argument, sizes}, old);
    state.addAttribute("call_target_name", builder.getStringAttr(operandWrapper));
    state.addAttribute("indices_of_shape_operands", builder.getI64TensorAttr({1}));
    Operation *wrapper = builder.create(state);
    argument.replaceAllUsesExcept(wrapper->getResult(0), wrapper);
  }
  function.setType(builder.getFunctionType(types, function.getResultTypes()));
}

FailureOr<Operation *> refineFrom(ModuleOp module, func::FuncOp main) {
  Refiner refiner(module);
  if (failed(refiner.refineFunction(main)))
    return failure();
  refiner.eraseDead();
  return llvm::all_of(main.getArgumentTypes(), isStaticType) ? refiner.firstUnknown() : nullptr;
}

} // namespace torchere::passes

// Implements checkTensorFlowLimits: types, custom calls, and where the sizes of dynamic ops come from.
#include "passes/compatibility/tensorflow_limits.h"

#include "stablehlo/diagnostics.h"
#include "stablehlo/dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"

#include <array>

using namespace mlir;
using namespace torchere::stablehlo;

namespace torchere::passes {

namespace {

/// The custom calls that XLA itself replaces, on every platform.
constexpr std::array<std::string_view, 2> knownCalls = {"shape_assertion", "Sharding"};

/// The operands that XLA has to know when it compiles.
SmallVector<Value> shapeOperands(Operation *op) {
  return TypeSwitch<Operation *, SmallVector<Value>>(op)
      .Case([](DynamicBroadcastInDimOp op) { return SmallVector<Value>{op.getOutputDimensions()}; })
      .Case([](DynamicReshapeOp op) { return SmallVector<Value>{op.getOutputShape()}; })
      .Case([](DynamicIotaOp op) { return SmallVector<Value>{op.getOutputShape()}; })
      .Case([](DynamicGatherOp op) { return SmallVector<Value>{op.getSliceSizes()}; })
      .Case([](DynamicPadOp op) {
        return SmallVector<Value>{op.getEdgePaddingLow(), op.getEdgePaddingHigh(), op.getInteriorPadding()};
      })
      .Case([](DynamicConvOp op) { return SmallVector<Value>{op.getPadding()}; })
      .Case([](RealDynamicSliceOp op) {
        return SmallVector<Value>{op.getStartIndices(), op.getLimitIndices(), op.getStrides()};
      })
      .Default([](Operation *) { return SmallVector<Value>(); });
}

/// Finds whether values depend on the data of @main's arguments, not on their sizes alone.
class DataDependence {
public:
  explicit DataDependence(ModuleOp module) : symbols(module) {
    module.walk([&](func::CallOp call) { calls[symbols.lookup(call.getCallee())].push_back(call); });
    module.walk([&](CompositeOp op) { calls[symbols.lookup(op.getDecomposition())].push_back(op); });
  }

  bool of(Value value) {
    SmallVector<Value> pending = {value};
    while (!pending.empty()) {
      Value next = pending.pop_back_val();
      if (independent.insert(next).second && !findSources(next, pending))
        return true; // the caller stops here, so it does not matter what was noted on the way
    }
    return false;
  }

private:
  /// Adds what the value is computed from; false if it is data itself.
  bool findSources(Value value, SmallVector<Value> &sources) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return findPassed(argument, sources);
    Operation *op = value.getDefiningOp();
    if (isa<GetDimensionSizeOp, ConstantOp, IotaOp>(op))
      return true;
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto function = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!function || function.isExternal())
        return false;
      sources.push_back(
          function.front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber()));
      return true;
    }
    if (op->getNumOperands() == 0 || isa<CustomCallOp, WhileOp, IfOp, CaseOp>(op))
      return false;
    llvm::append_range(sources, op->getOperands());
    return true;
  }

  /// An argument of a function that is called is what its callers pass; others are data.
  bool findPassed(BlockArgument argument, SmallVector<Value> &sources) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto callers = function ? calls.find(function) : calls.end();
    if (callers == calls.end())
      return false;
    for (Operation *call : callers->second)
      sources.push_back(call->getOperand(argument.getArgNumber()));
    return true;
  }

  SymbolTable symbols;
  DenseMap<Operation *, SmallVector<Operation *>> calls;
  DenseSet<Value> independent; ///< of data, unless the search has ended with data
};

/// The first part of the type that TensorFlow has not; empty if there is none.
std::string_view unknownPart(Type type) {
  std::string_view found;
  AttrTypeWalker walker;
  walker.addWalk([&](RankedTensorType tensor) {
    auto extensions = dyn_cast_or_null<TypeExtensionsAttr>(tensor.getEncoding());
    if (found.empty() && extensions)
      found = "sizes with a bound";
  });
  walker.addWalk([&](quant::QuantizedType) {
    if (found.empty())
      found = "quantized types";
  });
  walker.walk(type);
  return found;
}

/// What TensorFlow cannot run of the op alone; empty if it can.
std::string brokenLimit(Operation *op, DataDependence &dependence) {
  for (Type type : llvm::concat<const Type>(op->getResultTypes(), op->getOperandTypes()))
    if (std::string_view part = unknownPart(type); !part.empty())
      return fmt::format("{} has {}, which TensorFlow cannot run", op->getName().getStringRef().str(), part);
  if (isa<UniformQuantizeOp, UniformDequantizeOp>(op))
    return fmt::format("{} cannot be run by TensorFlow", op->getName().getStringRef().str());
  if (auto call = dyn_cast<CustomCallOp>(op)) {
    StringRef target = call.getCallTargetName();
    if (!llvm::is_contained(knownCalls, std::string_view(target)))
      return fmt::format("custom_call @{} is not known to TensorFlow", target.str());
  }
  if (isa<SetDimensionSizeOp>(op))
    return "stablehlo.set_dimension_size makes a size that depends on data, which TensorFlow cannot run";
  for (Value operand : shapeOperands(op))
    if (dependence.of(operand))
      return fmt::format("{} has a shape that depends on the data of an input, which TensorFlow cannot run",
                         op->getName().getStringRef().str());
  return "";
}

} // namespace

Status checkTensorFlowLimits(ModuleOp module, std::string_view name) {
  DataDependence dependence(module);
  Status status;
  module.walk([&](Operation *op) {
    std::string broken = brokenLimit(op, dependence);
    if (broken.empty())
      return WalkResult::advance();
    status = tl::unexpected(Error{ErrorCode::Unimplemented,
                                  fmt::format("[{}] cannot be a SavedModel: {}", name, broken),
                                  stablehlo::sourcePlace(op->getLoc())});
    return WalkResult::interrupt();
  });
  return status;
}

} // namespace torchere::passes

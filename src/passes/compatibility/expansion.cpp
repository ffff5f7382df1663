// Implements expandForVersion, the expansion of tan, and locations for old readers.
#include "passes/compatibility/expansion.h"

#include "passes/chlo/formula.h"
#include "passes/compatibility/composite_calls.h"
#include "stablehlo/diagnostics.h"
#include "stablehlo/mesh_axes.h"

#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace torchere::stablehlo;

namespace torchere::passes {

namespace {

Elements tangent(const Elements &x) {
  Elements opposite = sine(x), adjacent = cosine(x);
  return opposite / adjacent;
}

/// tan(a + bi) = (tan a + i tanh b) / (1 - i tan a tanh b).
Value complexTangent(FormulaBuilder &formula, Value operand) {
  auto element = cast<ComplexType>(elementType(operand.getType()));
  Elements tan = tangent({formula, formula.retyped<RealOp>(operand, element.getElementType())});
  Elements hyperbolic = tanh(Elements(formula, formula.retyped<ImagOp>(operand, element.getElementType())));
  Value numerator = formula.retyped<ComplexOp>({tan, hyperbolic}, element);
  Elements product = tan * hyperbolic;
  Elements one = tan.constant(1.0);
  Value denominator = formula.retyped<ComplexOp>({one, -product}, element);
  return formula.elementwise<DivOp>({numerator, denominator});
}

/// A tan with a required accuracy is kept: the quotient guarantees none.
void expandTangent(TanOp op) {
  Type element = elementType(op.getType());
  if (!isa<FloatType, ComplexType>(element) ||
      op.getResultAccuracy().getMode().getValue() != ResultAccuracyMode::DEFAULT)
    return;
  OpBuilder builder(op);
  FormulaBuilder formula(builder, op.getLoc(), op.getOperand());
  Elements operand(formula, op.getOperand());
  Value value = isa<ComplexType>(element) ? complexTangent(formula, operand) : Value(tangent(operand));
  value.setType(op.getType());
  value.getDefiningOp()->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op.replaceAllUsesWith(value);
  op.erase();
}

/// Replaces each range of source text by its start.
void expandLocationRanges(ModuleOp module) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](FileLineColRange range) -> std::optional<Attribute> {
    if (isStrictFileLineColLoc(range))
      return std::nullopt;
    return FileLineColLoc::get(range.getFilename(), range.getStartLine(), range.getStartColumn());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/false, /*replaceLocs=*/true,
                                        /*replaceTypes=*/false);
}

/// Lists replica groups given as axes of a mesh. Those of an unreadable mesh are kept.
void listReplicaGroups(Operation *op) {
  auto axes =
      dyn_cast_or_null<ReplicaGroupMeshAxesAttr>(op->getInherentAttr("replica_groups").value_or(Attribute()));
  if (!axes)
    return;
  DiagnosticText reasons(*op->getContext()); // the writer says that the target has no such attribute
  SymbolTableCollection symbols;
  FailureOr<DenseIntElementsAttr> groups = listGroups(op, axes, symbols);
  if (succeeded(groups))
    op->setInherentAttr(StringAttr::get(op->getContext(), "replica_groups"), *groups);
}

void expandOp(Operation *op, const vhlo::Version &target) {
  listReplicaGroups(op);
  if (auto tangent = dyn_cast<TanOp>(op); tangent && target < vhlo::Version{1, 4, 0})
    expandTangent(tangent);
  else if (auto composite = dyn_cast<CompositeOp>(op);
           composite && target < vhlo::Version{0, 19, 0} && composite->getNumRegions() == 0)
    replaceByCall(composite);
  else if (target < vhlo::Version{1, 1, 0})
    expandBatchingDimensions(op);
}

} // namespace

bool mayNeedExpansion(const vhlo::Version &target) {
  return target < vhlo::Version{1, 16, 0};
}

void expandForVersion(ModuleOp module, const vhlo::Version &target) {
  if (!mayNeedExpansion(target))
    return;
  module.walk([&](Operation *op) { expandOp(op, target); });
  if (target < vhlo::Version{1, 9, 0})
    expandLocationRanges(module);
}

} // namespace torchere::passes

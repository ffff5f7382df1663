// Custom calls: effects and the verifier.
#include "stablehlo/constraint.h"
#include "stablehlo/dialect.h"

using namespace mlir;

namespace torchere::stablehlo {

void CustomCallOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (!getHasSideEffect())
    return;
  effects.emplace_back(MemoryEffects::Allocate::get());
  effects.emplace_back(MemoryEffects::Free::get());
  effects.emplace_back(MemoryEffects::Write::get());
  effects.emplace_back(MemoryEffects::Read::get());
}

namespace {

/// One layout, a permutation of the dimensions, for each value. What is no tensor has an empty one.
LogicalResult verifyLayouts(const Reporter &reporter, StringRef name, ArrayAttr layouts, TypeRange types) {
  if (failed(reporter.size("", name, layouts.size(), types.size())))
    return failure();
  for (auto [attribute, type] : llvm::zip(layouts, types)) {
    auto layout = dyn_cast<DenseIntElementsAttr>(attribute);
    if (!layout || !layout.getElementType().isIndex() || layout.getType().getRank() != 1)
      return reporter.violation("", name, " holds ", attribute, ", expected a vector of index");
    if (isa<TupleType>(type))
      return reporter.violation("", name, " holds a layout of a tuple, ", type,
                                ", expected layouts of tensors only");
    auto tensor = dyn_cast<RankedTensorType>(type);
    int64_t rank = tensor ? tensor.getRank() : 0;
    if (failed(reporter.size("", name, layout.getType().getDimSize(0), rank)))
      return failure();
    SmallVector<int64_t> order(
        llvm::map_range(layout.getValues<APInt>(), [](const APInt &value) { return value.getSExtValue(); }));
    if (failed(reporter.inRange("", name, order, rank)) || failed(reporter.unique("", name, order)))
      return failure();
  }
  return success();
}

LogicalResult verifyAllLayouts(CustomCallOp call) {
  Reporter reporter(call);
  std::optional<ArrayAttr> operands = call.getOperandLayouts(), results = call.getResultLayouts();
  if (operands.has_value() != results.has_value())
    return reporter.violation("", "operand_layouts and result_layouts: got one, expected both or neither");
  if (!operands)
    return success();
  // A tuple that is the only result has a layout for each of its elements.
  auto tuple = call.getNumResults() == 1 ? dyn_cast<TupleType>(call.getResultTypes().front()) : TupleType();
  return failure(
      failed(verifyLayouts(reporter, "operand_layouts", *operands, call.getOperandTypes())) ||
      failed(verifyLayouts(reporter, "result_layouts", *results,
                           tuple ? TypeRange(tuple.getTypes()) : TypeRange(call.getResultTypes()))));
}

/// The part of a value that the indices lead to, tuple by tuple.
FailureOr<Type> tuplePart(const Reporter &reporter, StringRef name, Type type, ArrayRef<int64_t> indices) {
  for (int64_t index : indices) {
    auto tuple = dyn_cast<TupleType>(type);
    if (!tuple || index < 0 || index >= static_cast<int64_t>(tuple.size()))
      return reporter.violation("", name, " of an output_operand_alias: there is no element ", index, " in ",
                                type);
    type = tuple.getType(index);
  }
  return type;
}

/// Several results count as one tuple.
Type outputType(CustomCallOp call) {
  return call.getNumResults() == 1 ? call.getResultTypes().front()
                                   : TupleType::get(call.getContext(), call.getResultTypes());
}

/// The parts of a result and of an operand that share memory have one type.
LogicalResult verifyAlias(CustomCallOp call, OutputOperandAliasAttr alias) {
  Reporter reporter(call);
  if (failed(reporter.inRange("", "operand_index of an output_operand_alias", alias.getOperandIndex(),
                              call.getNumOperands())))
    return failure();
  FailureOr<Type> output =
      tuplePart(reporter, "output_tuple_indices", outputType(call), alias.getOutputTupleIndices());
  FailureOr<Type> operand =
      tuplePart(reporter, "operand_tuple_indices", call.getOperandTypes()[alias.getOperandIndex()],
                alias.getOperandTupleIndices());
  if (failed(output) || failed(operand))
    return failure();
  if (*output != *operand)
    return reporter.violation("", "types of an output_operand_alias differ: the output has ", *output,
                              ", the operand has ", *operand);
  return success();
}

/// The buffers in a value, by the indices that lead to them, tuple by tuple.
void collectBuffers(Type type, SmallVector<int64_t> &path,
                    SmallVectorImpl<std::pair<SmallVector<int64_t>, Type>> &buffers) {
  if (isa<MemRefType>(type))
    buffers.push_back({path, type});
  auto tuple = dyn_cast<TupleType>(type);
  for (auto [index, part] : llvm::enumerate(tuple ? tuple.getTypes() : ArrayRef<Type>())) {
    path.push_back(index);
    collectBuffers(part, path, buffers);
    path.pop_back();
  }
}

/// A buffer result must alias an operand.
LogicalResult verifyBufferResults(CustomCallOp call) {
  SmallVector<int64_t> path;
  SmallVector<std::pair<SmallVector<int64_t>, Type>> buffers;
  collectBuffers(outputType(call), path, buffers);
  for (const auto &[indices, type] : buffers) {
    auto aliases = call.getOutputOperandAliases().getAsRange<OutputOperandAliasAttr>();
    if (!llvm::any_of(aliases, [&](OutputOperandAliasAttr alias) {
          return alias.getOutputTupleIndices() == ArrayRef(indices);
        }))
      return violation(call, "", "output [", ArrayRef(indices), "] is a buffer, ", type,
                       ", expected an output_operand_alias for it");
  }
  return success();
}

/// What the targets that make and end buffers take and return: the number of operands, and of which kind.
struct BufferTarget {
  StringRef name;
  bool takesTensor, takesBuffer, returnsBuffer;
};

constexpr BufferTarget bufferTargets[] = {
    {"CreateBuffer", false, false, true}, // a new one
    {"Pin", true, false, true},           // one that holds a tensor
    {"Unpin", false, true, false},        // the tensor that one holds
};

LogicalResult verifyBufferTarget(CustomCallOp call, const BufferTarget &target) {
  auto fail = [&](const Twine &what, auto got) {
    return violation(call, "", target.name, " ", what, ": got ", got);
  };
  bool hasOperand = target.takesTensor || target.takesBuffer;
  if (call.getNumOperands() != (hasOperand ? 1 : 0))
    return fail(hasOperand ? "takes one operand" : "takes no operands", call.getNumOperands());
  if (call.getNumResults() != 1)
    return fail("has one result", call.getNumResults());
  Type result = call.getResultTypes().front();
  if (target.returnsBuffer ? !isa<MemRefType>(result) : !isa<TensorType>(result))
    return fail(target.returnsBuffer ? "returns a buffer" : "returns a tensor", result);
  if (!hasOperand)
    return success();
  Type operand = call.getOperandTypes().front();
  if (target.takesBuffer ? !isa<MemRefType>(operand) : !isa<TensorType>(operand))
    return fail(target.takesBuffer ? "takes a buffer" : "takes a tensor", operand);
  auto from = cast<ShapedType>(operand), to = cast<ShapedType>(result);
  if (from.getElementType() != to.getElementType() || failed(verifyCompatibleShape(from, to)))
    return violation(call, "", target.name, " returns another shape or element type: got ", to, " for ",
                     from);
  return success();
}

LogicalResult verifyBuffers(CustomCallOp call) {
  for (const BufferTarget &target : bufferTargets)
    if (call.getCallTargetName() == target.name)
      return verifyBufferTarget(call, target);
  return verifyBufferResults(call);
}

/// A dictionary for the typed convention, a string for the others.
LogicalResult verifyBackendConfig(CustomCallOp call) {
  std::optional<Attribute> config = call.getBackendConfig();
  bool takesDictionary = call.getApiVersion() == CustomCallApiVersion::API_VERSION_TYPED_FFI;
  if (!config || isa<DictionaryAttr>(*config) == takesDictionary)
    return success();
  return violation(call, "", "backend_config of api_version ", stringifyEnum(call.getApiVersion()), ": got ",
                   *config, ", expected a ", takesDictionary ? "dictionary" : "string");
}

} // namespace

LogicalResult CustomCallOp::verify() {
  if (failed(verifyAllLayouts(*this)) || failed(verifyBackendConfig(*this)) || failed(verifyBuffers(*this)))
    return failure();
  for (auto alias : getOutputOperandAliases().getAsRange<OutputOperandAliasAttr>())
    if (failed(verifyAlias(*this, alias)))
      return failure();
  return success();
}

} // namespace torchere::stablehlo

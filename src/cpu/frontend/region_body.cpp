// Implements the reading of regions.
#include "cpu/frontend/region_body.h"

#include "cpu/frontend/elementwise.h"
#include "evaluation/constants.h"
#include "stablehlo/dialect.h"

#include <cstring>

using namespace mlir;

namespace torchere::cpu {

namespace {

/// Reads the ops of a region that its results are computed by.
class RegionReader {
public:
  explicit RegionReader(Block &block) : block(block) {}
  std::optional<RegionProgram> read(ArrayRef<mlir::Value> results);

private:
  std::optional<VectorBuilder::Value> valueOf(mlir::Value value);
  bool readOp(Operation *op);

  Block &block;
  VectorBuilder builder;
  llvm::DenseMap<mlir::Value, VectorBuilder::Value> values;
  std::vector<mlir::Value> captures;
};

bool isScalar(mlir::Value value) {
  return elementCount(shapeOf(value)) == 1 && shapeOf(value).empty() && hasVectorType(value);
}

/// The constant's bits, as vectors hold them.
std::optional<VectorBuilder::Value> constantOf(VectorBuilder &builder, stablehlo::ConstantOp op) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  std::optional<evaluation::Element> element = dense ? evaluation::splatOf(dense) : std::nullopt;
  if (!element)
    return std::nullopt;
  DType type = *dtypeOf(op->getResult(0));
  if (isFloat(element->type()))
    return builder.constant(type, element->asDouble());
  return builder.constantBits(type, element->asUnsigned());
}

std::optional<VectorBuilder::Value> RegionReader::valueOf(mlir::Value value) {
  if (auto found = values.find(value); found != values.end())
    return found->second;
  if (!isScalar(value))
    return std::nullopt;
  if (auto constant = value.getDefiningOp<stablehlo::ConstantOp>())
    if (std::optional<VectorBuilder::Value> made = constantOf(builder, constant))
      return values[value] = *made;
  if (value.getParentBlock() == &block) {
    Operation *op = value.getDefiningOp();
    return op && readOp(op) ? std::optional(values.lookup(value)) : std::nullopt;
  }
  captures.push_back(value);
  return values[value] = builder.input(*dtypeOf(value));
}

bool RegionReader::readOp(Operation *op) {
  if (!isElementwise(op) || isa<stablehlo::IotaOp>(op) || !isScalar(op->getResult(0)))
    return false;
  SmallVector<VectorBuilder::Value> operands;
  for (mlir::Value operand : op->getOperands()) {
    std::optional<VectorBuilder::Value> value = valueOf(operand);
    if (!value)
      return false;
    operands.push_back(*value);
  }
  std::optional<VectorBuilder::Value> made = applyElementwise(builder, op, operands);
  if (made)
    values[op->getResult(0)] = *made;
  return made.has_value();
}

std::optional<RegionProgram> RegionReader::read(ArrayRef<mlir::Value> results) {
  for (BlockArgument argument : block.getArguments()) {
    if (!isScalar(argument))
      return std::nullopt;
    values[argument] = builder.input(*dtypeOf(argument));
  }
  for (mlir::Value result : results) {
    std::optional<VectorBuilder::Value> value = valueOf(result);
    if (!value)
      return std::nullopt;
    builder.output(*value, *dtypeOf(result));
  }
  Result<VectorProgram> program = builder.finish();
  if (!program)
    return std::nullopt;
  return RegionProgram{*std::move(program), std::move(captures)};
}

} // namespace

llvm::StringRef joinOf(Region &region) {
  Block &block = region.front();
  Operation *end = block.getTerminator();
  if (block.getNumArguments() != 2 || end->getNumOperands() != 1)
    return "";
  mlir::Value first = block.getArgument(0), second = block.getArgument(1);
  if (first.getType() != second.getType())
    return "";
  if (end->getOperand(0) == second)
    return "replaces";
  Operation &op = block.front();
  if (!llvm::hasNItems(block, 2) || op.getNumOperands() != 2 || op.getNumResults() != 1 ||
      end->getOperand(0) != op.getResult(0) || first.getType() != op.getResult(0).getType())
    return "";
  bool takesBoth = (op.getOperand(0) == first && op.getOperand(1) == second) ||
                   (op.getOperand(0) == second && op.getOperand(1) == first);
  return takesBoth ? op.getName().getStringRef() : "";
}

std::optional<RegionProgram> programOf(Region &region) {
  Block &block = region.front();
  return RegionReader(block).read(SmallVector<mlir::Value>(block.getTerminator()->getOperands()));
}

std::optional<VectorProgram> programOf(Region &region, mlir::Value value) {
  std::optional<RegionProgram> made = RegionReader(region.front()).read(value);
  if (!made || !made->captures.empty())
    return std::nullopt;
  return std::move(made->program);
}

} // namespace torchere::cpu

// Implements cutLoopRows.
#include "cpu/frontend/loop_rows.h"

#include "base/log.h"
#include "cpu/frontend/fusion/counted_loop.h"
#include "cpu/frontend/loop_program_builder.h"
#include "cpu/frontend/parallel_loops.h"
#include "cpu/frontend/row_dimensions.h"
#include "passes/simplify/dead_code.h"

#include "mlir/IR/IRMapping.h"

#include <bit>

using namespace mlir;

namespace torchere::cpu {

namespace {

/// Multiply-adds: of a turn that is cut, and of a part if there are more than two.
constexpr int64_t leastWork = 200000, workOfPart = 260000;
constexpr int64_t mostParts = 4;
/// Each part reads all weights in each turn. They come from the L2 cache; larger ones take longer than few
/// rows.
constexpr int64_t mostWeightBytes = int64_t(512) << 10, fewWeightBytes = int64_t(256) << 10;
constexpr int64_t leastRows = 4, leastRowsOfFewWeights = 2;

RankedTensorType cutType(mlir::Value value, int64_t dimension, int64_t rows) {
  auto type = cast<RankedTensorType>(value.getType());
  Sizes shape(type.getShape());
  shape[static_cast<size_t>(dimension)] = rows;
  return type.clone(shape);
}

/// A product of f32 in the body with a matrix from outside of it.
stablehlo::DotGeneralOp recurrentProduct(Block &body) {
  for (auto dot : body.getOps<stablehlo::DotGeneralOp>()) {
    mlir::Value left = dot.getLhs(), right = dot.getRhs();
    bool isFromInside = left.getParentBlock() == &body && right.getParentBlock() != &body;
    bool isOfMatrices = shapeOf(left).size() == 2 && shapeOf(right).size() == 2 &&
                        dot.getDotDimensionNumbers().getLhsContractingDimensions().size() == 1;
    if (isFromInside && isOfMatrices && dtypeOf(dot->getResult(0)) == DType::F32 &&
        dtypeOf(left) == DType::F32)
      return dot;
  }
  return {};
}

class RowCut {
public:
  explicit RowCut(stablehlo::WhileOp loop) : loop(loop), dimensions(loop.getBody().front()) {}

  bool match() {
    if (!countedLoop(loop) || fitsLoopProgram(loop))
      return false;
    stablehlo::DotGeneralOp product = recurrentProduct(loop.getBody().front());
    if (!product)
      return false;
    int64_t dimension = 1 - product.getDotDimensionNumbers().getLhsContractingDimensions()[0];
    rows = shapeOf(product.getLhs())[static_cast<size_t>(dimension)];
    return dimensions.spread(product.getLhs(), dimension) && canBeWritten() && chooseParts();
  }

  void replace() {
    TORCHERE_LOG_LINE(Debug, "cpu", "a loop over {} rows, cut into {}", rows, firstRows.size() - 1);
    OpBuilder builder(loop);
    SmallVector<Operation *> made;
    for (size_t part = 0; part + 1 < firstRows.size(); ++part)
      made.push_back(clonePart(builder, part));
    for (auto [index, value] : llvm::enumerate(loop->getResults())) {
      mlir::Value joined = made[0]->getResult(static_cast<unsigned>(index));
      if (std::optional<int64_t> dimension = ofCarried(index)) {
        SmallVector<mlir::Value> parts;
        for (Operation *each : made)
          parts.push_back(each->getResult(static_cast<unsigned>(index)));
        joined = stablehlo::ConcatenateOp::create(builder, loop.getLoc(), value.getType(), parts,
                                                  builder.getI64IntegerAttr(*dimension));
      }
      value.replaceAllUsesWith(joined);
    }
    loop->erase();
  }

private:
  bool isOutside(mlir::Value value) { return !loop.getBody().isAncestor(value.getParentRegion()); }
  std::optional<int64_t> ofCarried(size_t index) {
    return dimensions.of(loop.getBody().getArgument(static_cast<unsigned>(index)));
  }
  int64_t rowsOf(size_t part) const { return firstRows[part + 1] - firstRows[part]; }

  /// Constants in the body are all one number, and the condition reads no rows.
  bool canBeWritten() {
    for (auto [value, dimension] : dimensions.all()) {
      auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
      if (constant && !isOutside(value) && !cast<DenseElementsAttr>(constant.getValue()).isSplat())
        return false;
    }
    for (auto [index, argument] : llvm::enumerate(loop.getCond().getArguments()))
      if (ofCarried(index) && !argument.use_empty())
        return false;
    return true;
  }

  bool chooseParts() {
    int64_t work = 0, weights = 0;
    for (auto dot : loop.getBody().getOps<stablehlo::DotGeneralOp>()) {
      if (!dimensions.of(dot->getResult(0)))
        continue;
      work += productsOf(dot);
      weights += bytesOf(dot.getRhs());
    }
    int64_t least = weights <= fewWeightBytes ? leastRowsOfFewWeights : leastRows;
    int64_t wanted = std::min(std::clamp<int64_t>(work / workOfPart, 2, mostParts), rows / least);
    auto parts = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(wanted))); // as many a thread
    if (work < leastWork || weights > mostWeightBytes || parts < 2)
      return false;
    for (int64_t part = 0; part <= parts; ++part)
      firstRows.push_back(rows * part / parts);
    return true;
  }

  /// The part's rows of a value from outside of the loop. Ops that only the loop needs are cut as well.
  mlir::Value partOf(OpBuilder &builder, mlir::Value value, int64_t dimension, size_t part) {
    mlir::Value &made = parts[{value, part}];
    if (!made) {
      mlir::Value cut = cutBefore(builder, value, dimension, part);
      return parts[{value, part}] = cut ? cut : slice(builder, value, dimension, part);
    }
    return made;
  }

  mlir::Value slice(OpBuilder &builder, mlir::Value value, int64_t dimension, size_t part) {
    Sizes shape = shapeOf(value), starts(shape.size()), steps(shape.size(), 1);
    starts[static_cast<size_t>(dimension)] = firstRows[part];
    shape[static_cast<size_t>(dimension)] = firstRows[part + 1];
    return stablehlo::SliceOp::create(builder, value.getLoc(), cutType(value, dimension, rowsOf(part)), value,
                                      starts, shape, steps);
  }

  /// Null if the op that gives the value is needed as it is, or does not keep rows apart.
  mlir::Value cutBefore(OpBuilder &builder, mlir::Value value, int64_t dimension, size_t part) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumResults() != 1)
      return {};
    if (auto join = dyn_cast<stablehlo::ConcatenateOp>(op);
        join && static_cast<int64_t>(join.getDimension()) == dimension)
      return partOfJoin(join, part);
    auto isCut = [&](Operation *user) { return loop->isAncestor(user) || cutOps.contains(user); };
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
      IRMapping none;
      bool isSplat = cast<DenseElementsAttr>(constant.getValue()).isSplat();
      return isSplat ? cloneCut(builder, *op, none, dimension, part)->getResult(0) : mlir::Value();
    }
    auto from = dimensionsBefore(op, dimension);
    if (!from || !llvm::all_of(op->getUsers(), isCut))
      return {};
    cutOps.insert(op);
    IRMapping mapping;
    for (auto [operand, own] : llvm::zip_equal(op->getOperands(), *from))
      if (own)
        mapping.map(operand, partOf(builder, operand, *own, part));
    return cloneCut(builder, *op, mapping, dimension, part)->getResult(0);
  }

  /// Of parts with as many rows.
  mlir::Value partOfJoin(stablehlo::ConcatenateOp join, size_t part) {
    if (join->getNumOperands() + 1 != firstRows.size())
      return {};
    for (auto [index, value] : llvm::enumerate(join->getOperands()))
      if (shapeOf(value)[static_cast<size_t>(join.getDimension())] != rowsOf(index))
        return {};
    return join->getOperand(static_cast<unsigned>(part));
  }

  Operation *cloneCut(OpBuilder &builder, Operation &op, IRMapping &mapping, int64_t dimension, size_t part) {
    Operation *made = builder.clone(op, mapping);
    mlir::Value value = made->getResult(0);
    RankedTensorType type = cutType(value, dimension, rowsOf(part));
    value.setType(type);
    auto at = static_cast<size_t>(dimension);
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(made))
      made->setAttr("value", cast<DenseElementsAttr>(constant.getValue()).resizeSplat(type));
    for (StringRef sizes : {"limit_indices", "slice_sizes"})
      if (made->hasAttr(sizes)) {
        Sizes cut = integersOf(made, sizes);
        cut[at] = rowsOf(part);
        made->setAttr(sizes, builder.getDenseI64ArrayAttr(cut));
      }
    return made;
  }

  Operation *clonePart(OpBuilder &builder, size_t part) {
    IRMapping mapping;
    SmallVector<mlir::Value> carried;
    for (auto [index, value] : llvm::enumerate(loop->getOperands())) {
      std::optional<int64_t> dimension = ofCarried(index);
      carried.push_back(dimension ? partOf(builder, value, *dimension, part) : value);
    }
    Block &body = loop.getBody().front();
    for (Operation &op : body)
      for (mlir::Value value : op.getOperands())
        if (std::optional<int64_t> dimension = dimensions.of(value); dimension && isOutside(value))
          mapping.map(value, partOf(builder, value, *dimension, part));
    OperationState state(loop.getLoc(), loop->getName(), carried, ValueRange(carried).getTypes(),
                         loop->getAttrs());
    for (Region &region : loop->getRegions())
      cloneRegion(region, *state.addRegion(), mapping, part);
    return builder.create(state);
  }

  void cloneRegion(Region &region, Region &made, IRMapping &mapping, size_t part) {
    Block &block = made.emplaceBlock();
    for (BlockArgument argument : region.getArguments()) {
      std::optional<int64_t> dimension = ofCarried(argument.getArgNumber());
      Type type = dimension ? Type(cutType(argument, *dimension, rowsOf(part))) : argument.getType();
      mapping.map(argument, block.addArgument(type, argument.getLoc()));
    }
    OpBuilder inside(loop->getContext());
    inside.setInsertionPointToEnd(&block);
    for (Operation &op : region.front()) {
      std::optional<int64_t> dimension =
          op.getNumResults() == 1 ? dimensions.of(op.getResult(0)) : std::nullopt;
      if (dimension)
        cloneCut(inside, op, mapping, *dimension, part);
      else
        inside.clone(op, mapping);
    }
  }

  stablehlo::WhileOp loop;
  RowDimensions dimensions;
  int64_t rows = 0;
  SmallVector<int64_t> firstRows; ///< by part, and the end
  llvm::DenseMap<std::pair<mlir::Value, size_t>, mlir::Value> parts;
  llvm::DenseSet<Operation *> cutOps;
};

} // namespace

void cutLoopRows(func::FuncOp function) {
  llvm::DenseSet<Operation *> together;
  for (const SmallVector<stablehlo::WhileOp> &loops : loopsThatMayRunTogether(function.front()))
    if (loops.size() > 1)
      together.insert(loops.begin(), loops.end());
  SmallVector<stablehlo::WhileOp> loops(function.front().getOps<stablehlo::WhileOp>());
  bool isCut = false;
  for (stablehlo::WhileOp loop : loops)
    if (RowCut cut(loop); !together.contains(loop) && cut.match()) {
      cut.replace();
      isCut = true;
    }
  if (isCut)
    passes::eraseDeadOps(function); // what the loops were computed from
}

} // namespace torchere::cpu

// Implements replaceMarkedLoops: a mark counts where the loop begins and ends as it says.
#include "cpu/frontend/marked_loops.h"

#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/pattern.h"
#include "passes/simplify/dead_code.h"
#include "stablehlo/dialect.h"
#include "stablehlo/loop_attributes.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// What loops carry in front of their state: a counter, and how often they run.
constexpr unsigned countersOfLoops = 2;

bool hasMatrixType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || tensor.getRank() < 2 || tensor.getNumElements() == 0)
    return false;
  Type element = tensor.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  return element.isF32() || element.isF64();
}

bool isTensorOfInts(Type type, ArrayRef<int64_t> shape) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getShape() == shape && tensor.getElementType().isInteger(32);
}

/// Whether the values are of i32: so many numbers for each batch of the matrices, or one where that is 0.
bool areNumbersOf(Type matrices, ValueRange values, ArrayRef<int64_t> counts) {
  SmallVector<int64_t> batches(cast<RankedTensorType>(matrices).getShape().drop_back(2));
  return values.size() == counts.size() && llvm::all_of(llvm::zip_equal(values, counts), [&](auto pair) {
           SmallVector<int64_t> expected = batches;
           if (std::get<1>(pair) > 0)
             expected.push_back(std::get<1>(pair));
           return isTensorOfInts(std::get<0>(pair).getType(), expected);
         });
}

bool runsFromZeroTo(stablehlo::WhileOp loop, int64_t count) {
  return splatOf(loop->getOperand(0)) == 0.0 && splatOf(loop->getOperand(1)) == static_cast<double>(count);
}

bool areZeros(Value value) {
  return splatOf(value) == 0.0;
}

/// 0, 1, 2 ... along dimension 1. What is made of open sizes is a constant where these are bound.
bool arePlacesOfRows(Value value) {
  if (auto iota = value.getDefiningOp<stablehlo::IotaOp>())
    return iota.getIotaDimension() == 1;
  DenseIntElementsAttr places;
  if (!matchPattern(value, m_Constant(&places)) || places.getType().getRank() != 2)
    return false;
  int64_t rows = places.getType().getShape()[1];
  return llvm::all_of(llvm::enumerate(places.getValues<APInt>()), [&](auto place) {
    return place.value().getSExtValue() == static_cast<int64_t>(place.index()) % rows;
  });
}

int64_t rowsOf(Type matrices) {
  return cast<RankedTensorType>(matrices).getShape().drop_back().back();
}
int64_t stepsOf(Type matrices) {
  return std::min(rowsOf(matrices), cast<RankedTensorType>(matrices).getShape().back());
}

bool computesLu(stablehlo::WhileOp loop) {
  ValueRange state = loop->getOperands().drop_front(countersOfLoops);
  Type matrices = state[0].getType();
  return state.size() == 4 && hasMatrixType(matrices) && runsFromZeroTo(loop, stepsOf(matrices)) &&
         areNumbersOf(matrices, state.drop_front(), {stepsOf(matrices), rowsOf(matrices), 0}) &&
         areZeros(state[1]) && arePlacesOfRows(state[2]) && areZeros(state[3]);
}

/// Zeros stand above the diagonal, as a kernel leaves them.
bool computesCholesky(stablehlo::WhileOp loop) {
  ValueRange state = loop->getOperands().drop_front(countersOfLoops);
  Type matrices = state[0].getType();
  return state.size() == 2 && hasMatrixType(matrices) && runsFromZeroTo(loop, rowsOf(matrices)) &&
         rowsOf(matrices) == cast<RankedTensorType>(matrices).getShape().back() &&
         areNumbersOf(matrices, state.drop_front(), {0}) && areZeros(state[1]);
}

bool computesQr(stablehlo::WhileOp loop) {
  ValueRange state = loop->getOperands().drop_front(countersOfLoops);
  Type matrices = state[0].getType();
  if (state.size() != 2 || !hasMatrixType(matrices) || !runsFromZeroTo(loop, stepsOf(matrices)))
    return false;
  SmallVector<int64_t> factors(cast<RankedTensorType>(matrices).getShape().drop_back(2));
  factors.push_back(stepsOf(matrices));
  return state[1].getType() == cast<RankedTensorType>(matrices).clone(factors);
}

bool appliesReflectors(stablehlo::WhileOp loop) {
  ValueRange state = loop->getOperands().drop_front(countersOfLoops);
  if (state.size() != 4 || !hasMatrixType(state[0].getType()) || !hasMatrixType(state[1].getType()))
    return false;
  auto matrices = cast<RankedTensorType>(state[0].getType());
  auto packed = cast<RankedTensorType>(state[1].getType());
  auto factors = dyn_cast<RankedTensorType>(state[2].getType());
  if (!factors || factors.getRank() + 1 != packed.getRank())
    return false;
  int64_t count = factors.getShape().back();
  SmallVector<int64_t> expected(matrices.getShape().drop_back());
  expected.push_back(packed.getShape().back());
  ArrayRef<int64_t> batches = packed.getShape().drop_back(2);
  return packed == matrices.clone(expected) && factors.getElementType() == packed.getElementType() &&
         factors.getShape().drop_back() == batches && count > 0 && count <= stepsOf(packed) &&
         runsFromZeroTo(loop, count) && splatOf(state[3]) == static_cast<double>(count);
}

/// A vector of so many real numbers for each of the matrices.
bool areValuesOf(Type matrices, Value values, int64_t count) {
  auto type = cast<RankedTensorType>(matrices);
  SmallVector<int64_t> shape(type.getShape().drop_back(2));
  shape.push_back(count);
  Type element = type.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  return values.getType() == RankedTensorType::get(shape, element);
}
/// Matrices like these of so many rows and columns.
bool areMatricesOf(Type matrices, Value value, int64_t rows, int64_t columns) {
  auto type = cast<RankedTensorType>(matrices);
  SmallVector<int64_t> shape(type.getShape().drop_back(2));
  shape.append({rows, columns});
  return value.getType() == type.clone(shape);
}

/// Whether the loop runs once, on so many results and the matrices.
bool decomposes(stablehlo::WhileOp loop, unsigned results) {
  return loop->getNumOperands() == countersOfLoops + results + 1 && runsFromZeroTo(loop, 1) &&
         hasMatrixType(loop->getOperands().back().getType());
}

template <unsigned results> bool computesEigenvalues(stablehlo::WhileOp loop) {
  if (!decomposes(loop, results))
    return false;
  ValueRange state = loop->getOperands().drop_front(countersOfLoops);
  Type matrices = state.back().getType();
  int64_t size = rowsOf(matrices);
  return cast<RankedTensorType>(matrices).getShape().back() == size &&
         areValuesOf(matrices, state[0], size) &&
         (results == 1 || areMatricesOf(matrices, state[1], size, size));
}

bool computesSingularValues(stablehlo::WhileOp loop) {
  return decomposes(loop, 1) &&
         areValuesOf(loop->getOperands().back().getType(), loop->getOperand(countersOfLoops),
                     stepsOf(loop->getOperands().back().getType()));
}

bool computesSingularVectors(stablehlo::WhileOp loop) {
  if (!decomposes(loop, 3))
    return false;
  ValueRange state = loop->getOperands().drop_front(countersOfLoops);
  Type matrices = state.back().getType();
  int64_t rows = rowsOf(matrices), columns = cast<RankedTensorType>(matrices).getShape().back();
  int64_t count = stepsOf(matrices);
  bool areShort =
      areMatricesOf(matrices, state[0], rows, count) && areMatricesOf(matrices, state[2], count, columns);
  bool areSquare =
      areMatricesOf(matrices, state[0], rows, rows) && areMatricesOf(matrices, state[2], columns, columns);
  return areValuesOf(matrices, state[1], count) && (areShort || areSquare);
}

/// Makes the call; what the results of the loop behind its counters are. Null for one that nobody uses.
using CallMaker = SmallVector<Value> (*)(OpBuilder &builder, stablehlo::WhileOp loop);

/// The call's results, and what stays as it is.
SmallVector<Value> withUnchanged(stablehlo::CustomCallOp call, stablehlo::WhileOp loop) {
  SmallVector<Value> values(call->getResults());
  llvm::append_range(values, loop->getOperands().drop_front(countersOfLoops + values.size()));
  return values;
}

SmallVector<Value> callFactorization(OpBuilder &builder, stablehlo::WhileOp loop, StringRef kernel,
                                     ArrayRef<NamedAttribute> attributes = {}) {
  auto results = loop->getResults().drop_front(countersOfLoops);
  return withUnchanged(createKernelCall(builder, loop.getLoc(), kernel, results.getTypes(),
                                        loop->getOperand(countersOfLoops), attributes),
                       loop);
}

SmallVector<Value> callReflectors(OpBuilder &builder, stablehlo::WhileOp loop, bool isAdjoint) {
  NamedAttribute adjoint = builder.getNamedAttr("adjoint", builder.getBoolAttr(isAdjoint));
  return withUnchanged(createKernelCall(builder, loop.getLoc(), "reflectors",
                                        loop->getResult(countersOfLoops).getType(),
                                        loop->getOperands().slice(countersOfLoops, 3), adjoint),
                       loop);
}

/// Of matrices that stand behind the results; of the values, which are result `place`, alone if nobody uses
/// others.
SmallVector<Value> callDecomposition(OpBuilder &builder, stablehlo::WhileOp loop, StringRef kernel,
                                     unsigned place) {
  auto results = loop->getResults().drop_front(countersOfLoops).drop_back();
  bool isAlone = llvm::all_of(results, [&](OpResult result) {
    return result.use_empty() || result.getResultNumber() == countersOfLoops + place;
  });
  Value matrices = loop->getOperands().back();
  auto call = createKernelCall(builder, loop.getLoc(), kernel,
                               isAlone ? results.slice(place, 1).getTypes() : results.getTypes(), matrices);
  if (!isAlone)
    return withUnchanged(call, loop);
  SmallVector<Value> values(results.size() + 1);
  values[place] = call->getResult(0);
  values.back() = matrices;
  return values;
}

struct MarkedKernel {
  StringRef mark;
  bool (*isComputedBy)(stablehlo::WhileOp loop);
  CallMaker call;
};
const MarkedKernel markedKernels[] = {
    {"adjoint_reflectors", appliesReflectors,
     [](OpBuilder &builder, stablehlo::WhileOp loop) { return callReflectors(builder, loop, true); }},
    {"cholesky", computesCholesky,
     [](OpBuilder &builder, stablehlo::WhileOp loop) {
       return callFactorization(builder, loop, "cholesky");
     }},
    {"eigenvalues", computesEigenvalues<1>,
     [](OpBuilder &builder, stablehlo::WhileOp loop) {
       return callDecomposition(builder, loop, "eigenvalues", 0);
     }},
    {"eigenvectors", computesEigenvalues<2>,
     [](OpBuilder &builder, stablehlo::WhileOp loop) {
       return callDecomposition(builder, loop, "eigenvalues", 0);
     }},
    {"lu", computesLu,
     [](OpBuilder &builder, stablehlo::WhileOp loop) {
       return callFactorization(builder, loop, "lu",
                                builder.getNamedAttr("first_row", builder.getI32IntegerAttr(1)));
     }},
    {"qr", computesQr,
     [](OpBuilder &builder, stablehlo::WhileOp loop) { return callFactorization(builder, loop, "qr"); }},
    {"reflectors", appliesReflectors,
     [](OpBuilder &builder, stablehlo::WhileOp loop) { return callReflectors(builder, loop, false); }},
    {"singular_values", computesSingularValues,
     [](OpBuilder &builder, stablehlo::WhileOp loop) {
       return callDecomposition(builder, loop, "singular_values", 0);
     }},
    {"singular_vectors", computesSingularVectors,
     [](OpBuilder &builder, stablehlo::WhileOp loop) {
       return callDecomposition(builder, loop, "singular_values", 1);
     }},
};

void replaceLoop(stablehlo::WhileOp loop) {
  auto mark = loop->getAttrOfType<StringAttr>(stablehlo::computesAttribute);
  if (!mark || loop->getNumOperands() <= countersOfLoops || loop->getNumOperands() != loop->getNumResults())
    return;
  const auto *found = llvm::find_if(markedKernels, [&](const MarkedKernel &kernel) {
    return kernel.mark == mark.getValue() && kernel.isComputedBy(loop);
  });
  if (found == std::end(markedKernels))
    return;
  OpBuilder builder(loop);
  SmallVector<Value> values(countersOfLoops, loop->getOperand(1)); // both are how often it ran
  values.append(found->call(builder, loop));
  for (auto [result, value] : llvm::zip_equal(loop->getResults(), values))
    if (value)
      result.replaceAllUsesWith(value);
  loop->erase();
}

/// Calls of the factors, pivots from 0 and permutations.
void replaceDecomposition(stablehlo::CustomCallOp call) {
  if (call.getCallTargetName() != "LuDecomposition" || call->getNumOperands() != 1 ||
      call->getNumResults() != 3)
    return;
  Type matrices = call->getOperand(0).getType();
  if (!hasMatrixType(matrices) || call->getResult(0).getType() != matrices ||
      !areNumbersOf(matrices, call->getResults().drop_front(), {stepsOf(matrices), rowsOf(matrices)}))
    return;
  OpBuilder builder(call);
  SmallVector<Type> types(call->getResultTypes());
  ArrayRef<int64_t> batches = cast<RankedTensorType>(matrices).getShape().drop_back(2);
  types.push_back(RankedTensorType::get(batches, builder.getI32Type()));
  NamedAttribute firstRow = builder.getNamedAttr("first_row", builder.getI32IntegerAttr(0));
  auto made = createKernelCall(builder, call.getLoc(), "lu", types, call->getOperand(0), firstRow);
  call->getResults().replaceAllUsesWith(made->getResults().drop_back());
  call->erase();
}

} // namespace

void replaceMarkedLoops(func::FuncOp function) {
  passes::eraseDeadOps(function); // so that what is computed of unused vectors does not ask for them
  SmallVector<stablehlo::WhileOp> loops;
  SmallVector<stablehlo::CustomCallOp> calls;
  function.walk([&](Operation *op) {
    if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
      loops.push_back(loop);
    else if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
      calls.push_back(call);
  });
  llvm::for_each(loops, replaceLoop);
  llvm::for_each(calls, replaceDecomposition);
}

} // namespace torchere::cpu

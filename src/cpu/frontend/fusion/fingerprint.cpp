// Implements fingerprints, and those of the error functions.
#include "cpu/frontend/fusion/fingerprint.h"

#include "evaluation/constant_evaluation.h"
#include "passes/chlo/legalization.h"
#include "passes/simplify/patterns.h"
#include "stablehlo/chlo_dialect.h"

#include "llvm/ADT/DenseMap.h"

#include <bit>
#include <mutex>

using namespace mlir;

namespace torchere::cpu {

namespace {

constexpr size_t maxOps = 160;

/// Of StableHLO's own expansions in f32.
constexpr uint64_t publishedErf = 0xb20bf374b4c70d5c;
constexpr uint64_t publishedErfc = 0xa9758798ed70d401;
constexpr uint64_t publishedErfInv = 0xe5bd32e2ecc34ea3;

uint64_t mixed(uint64_t hash, uint64_t next) {
  hash ^= next + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  hash *= 0xff51afd7ed558ccd;
  return hash ^ (hash >> 33);
}

uint64_t hashOf(StringRef text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char letter : text)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  return hash;
}

class Fingerprint {
public:
  Fingerprint(mlir::Value leaf, Subgraph &subgraph) : subgraph(subgraph) { known[leaf] = hashOf("leaf"); }

  std::optional<uint64_t> of(mlir::Value value) {
    if (auto found = known.find(value); found != known.end())
      return found->second;
    std::optional<uint64_t> hash;
    if (std::optional<double> number = splatOf(value))
      hash = mixed(hashOf("constant"), std::bit_cast<uint64_t>(*number));
    else if (Operation *op = value.getDefiningOp(); op && ++count <= maxOps)
      hash = ofOp(op);
    if (hash)
      known[value] = *hash;
    return hash;
  }

private:
  std::optional<uint64_t> ofOp(Operation *op) {
    bool isOfKind =
        isa<stablehlo::AbsOp, stablehlo::AddOp, stablehlo::ClampOp, stablehlo::CompareOp, stablehlo::DivOp,
            stablehlo::ExpOp, stablehlo::Expm1Op, stablehlo::FloorOp, stablehlo::Log1pOp, stablehlo::LogOp,
            stablehlo::MaxOp, stablehlo::MinOp, stablehlo::MulOp, stablehlo::NegOp, stablehlo::SelectOp,
            stablehlo::SqrtOp, stablehlo::SubtractOp>(op);
    if (!isOfKind)
      return std::nullopt;
    SmallVector<uint64_t> operands;
    for (mlir::Value operand : op->getOperands()) {
      std::optional<uint64_t> hash = of(operand);
      if (!hash)
        return std::nullopt;
      operands.push_back(*hash);
    }
    if (isa<stablehlo::AddOp, stablehlo::MulOp, stablehlo::MaxOp, stablehlo::MinOp>(op))
      llvm::sort(operands);
    uint64_t hash = hashOf(op->getName().getStringRef());
    if (auto compare = dyn_cast<stablehlo::CompareOp>(op))
      hash = mixed(hash, hashOf(stringifyEnum(compare.getComparisonDirection())));
    for (uint64_t operand : operands)
      hash = mixed(hash, operand);
    subgraph.add(op);
    return hash;
  }

  Subgraph &subgraph;
  llvm::DenseMap<mlir::Value, uint64_t> known;
  size_t count = 0;
};

/// What an expansion begins with, where it looks like one.
mlir::Value argumentOfErrorFunction(mlir::Value value) {
  if (auto select = value.getDefiningOp<stablehlo::SelectOp>()) {
    auto compare = select.getPred().getDefiningOp<stablehlo::CompareOp>();
    auto magnitude = compare ? compare.getLhs().getDefiningOp<stablehlo::AbsOp>() : stablehlo::AbsOp();
    return magnitude ? magnitude.getOperand() : mlir::Value();
  }
  auto bounded = value.getDefiningOp<stablehlo::ClampOp>();
  auto quotient = bounded ? bounded.getOperand().getDefiningOp<stablehlo::DivOp>() : stablehlo::DivOp();
  auto product = quotient ? quotient.getLhs().getDefiningOp<stablehlo::MulOp>() : stablehlo::MulOp();
  if (product)
    for (mlir::Value factor : product->getOperands())
      if (auto inner = factor.getDefiningOp<stablehlo::ClampOp>())
        return inner.getOperand();
  return {};
}

/// What our expansion of the op comes to.
uint64_t expansionOf(StringRef name, Type element) {
  MLIRContext *context = element.getContext();
  Location location = UnknownLoc::get(context);
  Type type = RankedTensorType::get({2}, element);
  OwningOpRef<ModuleOp> module = ModuleOp::create(location);
  OpBuilder builder(module->getBodyRegion());
  auto function =
      func::FuncOp::create(builder, location, "expansion", builder.getFunctionType({type}, {type}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  OperationState state(location, name);
  state.addTypes(type);
  state.addOperands(function.getArgument(0));
  Operation *op = builder.create(state);
  func::ReturnOp::create(builder, location, op->getResults());
  passes::SimplificationSteps steps;
  steps.folding = evaluation::EvaluationLimits{.elements = 1024, .floats = true};
  if (failed(passes::legalizeChlo(*module)) || failed(passes::simplifyFunction(function, steps)))
    return 0;
  Subgraph ignored;
  return fingerprintOf(function.front().getTerminator()->getOperand(0), function.getArgument(0), ignored)
      .value_or(0);
}

struct Expansions {
  struct Hashes {
    uint64_t own = 0, published = 0;
  };
  std::vector<std::pair<ErrorFunction, Hashes>> forms;
};

const Expansions &expansionsOf(Type element) {
  static std::mutex mutex;
  static Expansions single, precise;
  std::lock_guard guard(mutex);
  Expansions &found = element.isF64() ? precise : single;
  if (found.forms.empty())
    found.forms = {{ErrorFunction::Itself, {expansionOf("chlo.erf", element), publishedErf}},
                   {ErrorFunction::Complement, {expansionOf("chlo.erfc", element), publishedErfc}},
                   {ErrorFunction::Inverse, {expansionOf("chlo.erf_inv", element), publishedErfInv}}};
  return found;
}

} // namespace

std::optional<uint64_t> fingerprintOf(mlir::Value root, mlir::Value leaf, Subgraph &subgraph) {
  return Fingerprint(leaf, subgraph).of(root);
}

std::optional<ErrorFunctionMatch> matchErrorFunction(mlir::Value value, Subgraph &subgraph) {
  Type element = getElementTypeOrSelf(value.getType());
  mlir::Value argument = argumentOfErrorFunction(value);
  if (!argument || argument.getType() != value.getType() || (!element.isF32() && !element.isF64()))
    return std::nullopt;
  Subgraph tried = subgraph;
  std::optional<uint64_t> hash = fingerprintOf(value, argument, tried);
  if (!hash)
    return std::nullopt;
  const Expansions &forms = expansionsOf(element);
  for (const auto &[kind, hashes] : forms.forms) {
    bool isOwn = *hash == hashes.own, isPublished = element.isF32() && *hash == hashes.published;
    if (!isOwn && !isPublished)
      continue;
    subgraph = tried;
    return ErrorFunctionMatch{kind, argument};
  }
  return std::nullopt;
}

} // namespace torchere::cpu

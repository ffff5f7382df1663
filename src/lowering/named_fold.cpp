// The table of the folds that ops name.
#include "lowering/named_fold.h"

#include "lowering/placement.h"

#include "llvm/ADT/StringExtras.h"

namespace torchere::lowering {

namespace {

using Neutral = mlir::Value (*)(Context &, mlir::Type);
constexpr Neutral noSummand = [](Context &cx, mlir::Type element) {
  return cx.constant(int64_t{0}, element);
};
constexpr Neutral noFactor = [](Context &cx, mlir::Type element) { return cx.constant(int64_t{1}, element); };
constexpr Neutral leastNumber = [](Context &cx, mlir::Type element) { return cx.lowest(element); };
constexpr Neutral greatestNumber = [](Context &cx, mlir::Type element) { return cx.highest(element); };

struct FoldRow {
  llvm::StringLiteral name;
  decltype(NamedFold::body) body;
  Neutral neutral;
};

constexpr FoldRow foldRows[] = {
    {"add", combineUpdate<stablehlo::AddOp>, noSummand},
    {"amax", combineUpdate<stablehlo::MaxOp>, leastNumber},
    {"amin", combineUpdate<stablehlo::MinOp>, greatestNumber},
    {"max", combineUpdate<stablehlo::MaxOp>, leastNumber},
    {"mean", combineUpdate<stablehlo::AddOp>, noSummand},
    {"min", combineUpdate<stablehlo::MinOp>, greatestNumber},
    {"multiply", combineUpdate<stablehlo::MulOp>, noFactor},
    {"prod", combineUpdate<stablehlo::MulOp>, noFactor},
    {"sum", combineUpdate<stablehlo::AddOp>, noSummand},
};

} // namespace

Result<NamedFold> namedFold(Context &cx, const Args &args, llvm::ArrayRef<llvm::StringRef> names,
                            mlir::Type element) {
  std::string reduce = args.string("reduce");
  if (!llvm::is_contained(names, reduce))
    return cx.invalid("unknown reduction: got '{}', expected {} or {}", reduce,
                      llvm::join(names.drop_back(), ", "), names.back().str());
  const FoldRow *found = llvm::find_if(foldRows, [&](const FoldRow &row) { return row.name == reduce; });
  return NamedFold{found->body, found->neutral(cx, element)};
}

} // namespace torchere::lowering

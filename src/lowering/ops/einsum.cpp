// einsum: its equation, and the products and sums that it is made of.
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"

#include <algorithm>
#include <map>

namespace torchere::lowering {

namespace {

using Direction = stablehlo::ComparisonDirection;

/// The name of a dimension: a letter, or the place from the end among those of an ellipsis, below 0.
using Label = int;
using Labels = llvm::SmallVector<Label, 8>;

/// A tensor whose dimensions have names, each another one.
struct Term {
  mlir::Value value;
  Labels labels;

  std::optional<int64_t> axis(Label label) const {
    auto found = llvm::find(labels, label);
    return found == labels.end() ? std::nullopt : std::optional<int64_t>(found - labels.begin());
  }
};

Labels ellipsis(int64_t count) {
  Labels labels;
  for (int64_t i = count; i > 0; --i)
    labels.push_back(static_cast<Label>(-i));
  return labels;
}

/// The labels of one operand, or of the result, of which an ellipsis stands for `covered` dimensions.
Labels labelsOf(llvm::StringRef subscripts, int64_t covered) {
  Labels labels;
  for (size_t i = 0; i < subscripts.size(); ++i) {
    if (subscripts[i] == '.') {
      labels.append(ellipsis(covered));
      i += 2;
    } else {
      labels.push_back(subscripts[i]);
    }
  }
  return labels;
}

/// The dimensions that an operand's ellipsis covers.
int64_t coveredBy(llvm::StringRef subscripts, int64_t rank) {
  return subscripts.contains('.') ? rank - static_cast<int64_t>(subscripts.size() - 3) : 0;
}

/// Without an arrow: what the ellipsis covers, then the letters that occur once, in their order.
Labels impliedOutput(llvm::ArrayRef<Term> terms, int64_t covered) {
  std::map<Label, int> uses;
  for (const Term &term : terms)
    for (Label label : term.labels)
      ++uses[label];
  Labels output = ellipsis(covered);
  for (auto [label, count] : uses)
    if (label >= 0 && count == 1)
      output.push_back(label);
  return output;
}

struct Equation {
  llvm::SmallVector<Term, 4> terms; ///< labels may repeat in one
  Labels output;
};

Result<Equation> parse(Context &cx, std::string text, const Values &tensors) {
  std::erase(text, ' ');
  auto [inputs, output] = llvm::StringRef(text).split("->");
  llvm::SmallVector<llvm::StringRef> operands;
  inputs.split(operands, ',');
  if (operands.size() != tensors.size())
    return cx.invalid("wrong number of operands: got {}, expected {} as in '{}'", tensors.size(),
                      operands.size(), text);
  Equation equation;
  int64_t covered = 0;
  for (auto [subscripts, tensor] : llvm::zip(operands, tensors)) {
    int64_t here = coveredBy(subscripts, Context::rank(tensor));
    covered = std::max(covered, here);
    // Sums of integers are of 64 bits: the result says whether there is one.
    equation.terms.push_back({cx.convert(tensor, cx.resultType().dtype), labelsOf(subscripts, here)});
    if (static_cast<int64_t>(equation.terms.back().labels.size()) != Context::rank(tensor))
      return cx.invalid("an operand of {} dimensions: expected as many as in '{}'", Context::rank(tensor),
                        subscripts.str());
  }
  equation.output = text.find("->") == std::string::npos ? impliedOutput(equation.terms, covered)
                                                         : labelsOf(output, covered);
  return equation;
}

void dropAxis(Term &term, int64_t axis) {
  term.labels.erase(term.labels.begin() + axis);
}

/// A label that occurs twice names the diagonal of its two dimensions.
void takeDiagonals(Context &cx, Term &term) {
  for (size_t second = 1; second < term.labels.size();) {
    size_t first = llvm::find(term.labels, term.labels[second]) - term.labels.begin();
    if (first == second) {
      ++second;
      continue;
    }
    Dims shape = cx.shape(term.value);
    mlir::Value steps = cx.iota({shape[first], Dim(1)}, DType::I64, 0);
    auto axes = Integers{static_cast<int64_t>(first), static_cast<int64_t>(second)};
    Placement placement{cx.concatenate({steps, steps}, 1), axes, axes[0]};
    term.value = gatherSlices(cx, term.value, placement);
    dropAxis(term, axes[1]);
  }
}

/// Dimensions of size 1 fit any other.
void dropOnes(Context &cx, Term &term, const Term &other) {
  for (size_t i = term.labels.size(); i-- > 0;) {
    auto axis = static_cast<int64_t>(i);
    std::optional<int64_t> others = other.axis(term.labels[i]);
    if (!others || !cx.size(term.value, axis).is(1) || cx.size(other.value, *others).is(1))
      continue;
    Dims shape = cx.shape(term.value);
    shape.erase(shape.begin() + axis);
    term.value = cx.reshape(term.value, shape);
    dropAxis(term, axis);
  }
}

/// Sums over the dimensions that `isKept` does not hold.
void sumOut(Context &cx, Term &term, llvm::function_ref<bool(Label)> isKept) {
  Integers axes;
  Labels left;
  for (auto [axis, label] : llvm::enumerate(term.labels)) {
    if (isKept(label))
      left.push_back(label);
    else
      axes.push_back(static_cast<int64_t>(axis));
  }
  if (axes.empty())
    return;
  DType dtype = Context::dtype(term.value);
  mlir::Value wide = cx.convert(term.value, computeType(dtype));
  mlir::Value sum =
      cx.reduceWith<stablehlo::AddOp>(wide, cx.constant(int64_t{0}, Context::dtype(wide)), axes);
  term = {cx.convert(sum, dtype), std::move(left)};
}

/// The term with its dimensions in this order, and new ones of size 1 for labels that it lacks.
mlir::Value aligned(Context &cx, const Term &term, llvm::ArrayRef<Label> labels) {
  Integers order;
  Dims shape;
  for (Label label : labels) {
    std::optional<int64_t> axis = term.axis(label);
    if (axis)
      order.push_back(*axis);
    shape.push_back(axis ? cx.size(term.value, *axis) : Dim(1));
  }
  return cx.reshape(cx.transpose(term.value, order), shape);
}

/// Element by element, where nothing is summed up.
Term multiply(Context &cx, const Term &lhs, const Term &rhs, const Labels &labels) {
  Dims shape;
  for (Label label : labels) {
    const Term &owner = lhs.axis(label) ? lhs : rhs;
    shape.push_back(cx.size(owner.value, *owner.axis(label)));
  }
  mlir::Value left = cx.broadcastTo(aligned(cx, lhs, labels), shape);
  return {cx.elementwise<stablehlo::MulOp>({left, cx.broadcastTo(aligned(cx, rhs, labels), shape)}), labels};
}

/// The product of two terms, summed over what only they have.
Term product(Context &cx, Term lhs, Term rhs, llvm::function_ref<bool(Label)> isKept) {
  dropOnes(cx, lhs, rhs);
  dropOnes(cx, rhs, lhs);
  sumOut(cx, lhs, [&](Label label) { return isKept(label) || rhs.axis(label); });
  sumOut(cx, rhs, [&](Label label) { return isKept(label) || lhs.axis(label); });
  Labels batch, left, right;
  Integers leftBatch, rightBatch, leftSummed, rightSummed;
  Dims shape;
  for (auto [axis, label] : llvm::enumerate(lhs.labels)) {
    std::optional<int64_t> other = rhs.axis(label);
    if (!other) {
      left.push_back(label);
      continue;
    }
    (isKept(label) ? leftBatch : leftSummed).push_back(static_cast<int64_t>(axis));
    (isKept(label) ? rightBatch : rightSummed).push_back(*other);
    if (isKept(label))
      batch.push_back(label);
  }
  llvm::copy_if(rhs.labels, std::back_inserter(right), [&](Label label) { return !lhs.axis(label); });
  Labels labels = batch;
  labels.append(left);
  labels.append(right);
  if (leftSummed.empty())
    return multiply(cx, lhs, rhs, labels);
  for (Label label : labels) {
    const Term &owner = lhs.axis(label) ? lhs : rhs;
    shape.push_back(cx.size(owner.value, *owner.axis(label)));
  }
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(cx.builder().getContext(), leftBatch, rightBatch,
                                                         leftSummed, rightSummed);
  mlir::Type type = cx.tensorType(shape, Context::elementType(lhs.value));
  return {cx.withShape(cx.create<stablehlo::DotGeneralOp>(type, {lhs.value, rhs.value},
                                                          {cx.attribute("dot_dimension_numbers", numbers)}),
                       shape),
          labels};
}

Result<mlir::Value> einsum(Context &cx, const Args &args) {
  Values tensors = args.tensors("tensors");
  TORCHERE_ASSIGN(Equation equation, parse(cx, args.string("equation"), tensors));
  for (Term &term : equation.terms)
    takeDiagonals(cx, term);
  Term result = equation.terms.front();
  for (size_t i = 1; i < equation.terms.size(); ++i) {
    auto isKept = [&](Label label) {
      auto has = [&](const Term &term) { return term.axis(label).has_value(); };
      return llvm::is_contained(equation.output, label) ||
             llvm::any_of(llvm::ArrayRef(equation.terms).drop_front(i + 1), has);
    };
    result = product(cx, result, equation.terms[i], isKept);
  }
  sumOut(cx, result, [&](Label label) { return llvm::is_contained(equation.output, label); });
  return cx.reshape(aligned(cx, result, equation.output), cx.resultType().shape);
}

} // namespace

void addEinsum(OpTable &table) {
  table.add("aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor", einsum);
}

} // namespace torchere::lowering

// Makes calls of the kernel "attention" of what attention_match.h finds.
#include "cpu/frontend/fusion/attention_match.h"
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/grouped_heads.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/narrow_values.h"
#include "cpu/frontend/fusion/pattern.h"

#include <cmath>
#include <limits>
#include <utility>

using namespace mlir;

namespace torchere::cpu {

namespace {

/// A factor's dimensions by what they are.
struct Parts {
  mlir::Value value;
  SmallVector<int64_t> batch, own, summed;
};
Parts partsOf(stablehlo::DotGeneralOp dot, bool isLeft) {
  auto numbers = dot.getDotDimensionNumbers();
  Parts parts{isLeft ? dot.getLhs() : dot.getRhs(), {}, {}, {}};
  llvm::append_range(parts.batch,
                     isLeft ? numbers.getLhsBatchingDimensions() : numbers.getRhsBatchingDimensions());
  llvm::append_range(parts.summed,
                     isLeft ? numbers.getLhsContractingDimensions() : numbers.getRhsContractingDimensions());
  for (int64_t i = 0; i < static_cast<int64_t>(dimensionsOf(parts.value).size()); ++i)
    if (!llvm::is_contained(parts.batch, i) && !llvm::is_contained(parts.summed, i))
      parts.own.push_back(i);
  return parts;
}

int64_t productOfSizes(mlir::Value value, ArrayRef<int64_t> dimensions) {
  int64_t product = 1;
  for (int64_t dimension : dimensions)
    product *= dimensionsOf(value)[static_cast<size_t>(dimension)];
  return product;
}

/// The sizes of the kernel's call.
struct Heads {
  int64_t batch = 1, heads = 1, queries = 1, keys = 1, size = 1, valueSize = 1;
};

class Rewrite {
public:
  Rewrite(const AttentionMatch &match)
      : match(match), builder(match.second), location(match.second->getLoc()),
        query(partsOf(match.first, match.keysAreRight)), key(partsOf(match.first, !match.keysAreRight)),
        value(partsOf(match.second, !match.weightsAreLeft)),
        weights(partsOf(match.second, match.weightsAreLeft)) {}

  bool apply() {
    if (!checkLabels() || !checkTypes() || !checkFactor())
      return false;
    measure();
    strip(query, /*isScaled=*/true);
    strip(key, /*isScaled=*/true);
    strip(value, /*isScaled=*/false);
    if (match.factor)
      multiplyByFactor();
    int64_t keyHeads = group ? sizes.heads / groupSize() : stripRepetition();
    SmallVector<int64_t> queryHeads(query.batch), positions(query.own);
    if (group) {
      queryHeads.push_back(*group);
      llvm::erase(positions, *group);
    }
    SmallVector<mlir::Value> operands{
        factor(query.value, queryHeads, positions, query.summed,
               {sizes.batch, sizes.heads, sizes.queries, sizes.size}),
        factor(key.value, key.batch, key.own, key.summed, {sizes.batch, keyHeads, sizes.keys, sizes.size}),
        factor(value.value, valueBatch(), value.summed, value.own,
               {sizes.batch, keyHeads, sizes.keys, sizes.valueSize})};
    bool isBoolean = match.isBoolean && match.masked == -INFINITY;
    if (!match.masks.empty())
      operands.push_back(sumOfMasks(isBoolean));
    NamedAttribute attributes[] = {
        builder.getNamedAttr("scale", builder.getF64FloatAttr(scale)),
        builder.getNamedAttr("bound", builder.getF64FloatAttr(match.bound)),
        builder.getNamedAttr("zero_when_masked", kernelAttribute(match.softmax, "zero_when_masked"))};
    mlir::Value last = match.second->getResult(0);
    std::optional<Narrowing> narrowing = Narrowing::of(last);
    Type element = narrowing ? narrowing->type() : getElementTypeOrSelf(last.getType());
    auto type = RankedTensorType::get({sizes.batch, sizes.queries, sizes.heads, sizes.valueSize}, element);
    mlir::Value result =
        resultOf(createKernelCall(builder, location, "attention", type, operands, attributes)->getResult(0));
    if (narrowing)
      narrowing->replaceBy(result);
    else
      last.replaceAllUsesWith(result);
    return true;
  }

private:
  /// The label of a dimension of the first product's result.
  int64_t labelOf(size_t dimension) const {
    return dimensionsOf(match.first->getResult(0))[dimension] == 1 ? -1 : static_cast<int64_t>(dimension);
  }
  /// The labels of its batch, without sizes of 1.
  Labels batchLabels() const {
    Labels labels;
    for (size_t i = 0; i < query.batch.size(); ++i)
      if (labelOf(i) >= 0)
        labels.push_back(labelOf(i));
    return labels;
  }
  Labels labelsOfOwn(const Parts &parts, bool isLeft) const {
    Labels labels;
    size_t begin = query.batch.size() + (isLeft ? 0 : (match.keysAreRight ? query : key).own.size());
    for (size_t i = 0; i < parts.own.size(); ++i)
      if (labelOf(begin + i) >= 0)
        labels.push_back(labelOf(begin + i));
    return labels;
  }

  /// The dimensions of query heads: the batch, and the heads that share keys.
  Labels headLabels() const {
    Labels labels = batchLabels();
    if (group)
      labels.push_back(groupLabel);
    return labels;
  }

  /// Of two dimensions of a query, JAX's grouped heads, the one behind that of key heads is one of heads.
  void takeGroup() {
    if (queryLabels.size() != 2)
      return;
    size_t begin = query.batch.size() + (match.keysAreRight ? 0 : key.own.size());
    for (auto [i, dimension] : llvm::enumerate(query.own)) {
      bool isBehind = !query.batch.empty() && dimension == query.batch.back() + 1;
      if (int64_t label = labelOf(begin + i); label >= 0 && (!group || isBehind)) {
        group = dimension;
        groupLabel = label;
      }
    }
    llvm::erase(queryLabels, groupLabel);
  }
  int64_t groupSize() const { return dimensionsOf(query.value)[static_cast<size_t>(*group)]; }

  /// The second product sums over the keys, and its batch is the first one's.
  bool checkLabels() {
    queryLabels = labelsOfOwn(query, match.keysAreRight);
    Labels own = queryLabels;
    takeGroup();
    keyLabels = labelsOfOwn(key, !match.keysAreRight);
    auto labelsOf = [&](ArrayRef<int64_t> dimensions) {
      Labels labels;
      for (int64_t dimension : dimensions)
        if (int64_t label = match.weightLabels[static_cast<size_t>(dimension)]; label >= 0)
          labels.push_back(label);
      return labels;
    };
    Labels batch = labelsOf(weights.batch), expected = batchLabels();
    llvm::sort(batch);
    Labels ownWeights = labelsOf(weights.own);
    llvm::sort(ownWeights);
    // Dimensions of one label have one size, so that only what the value repeats could differ.
    return queryLabels.size() <= 1 && keyLabels.size() == 1 && labelsOf(weights.summed) == keyLabels &&
           ownWeights == own && batch == expected;
  }

  /// All of one narrow type, maybe widened, or all of f32.
  bool checkTypes() {
    mlir::Value factors[] = {query.value, key.value, value.value};
    auto typeOf = [](mlir::Value factor) {
      Operation *scaled = scaleOf(factor);
      return WidenedValue(scaled ? scaled->getOperand(0) : factor).narrowType();
    };
    Type narrow = typeOf(query.value);
    isNarrowed = narrow && llvm::all_of(factors, [&](mlir::Value each) { return typeOf(each) == narrow; });
    Type result = match.second->getResult(0).getType();
    return (isNarrow(result) || getElementTypeOrSelf(result).isF32()) &&
           (isNarrowed ||
            llvm::all_of(factors, [](mlir::Value each) { return getElementTypeOrSelf(each).isF32(); }));
  }

  /// The label of each dimension of what is broadcast to the scores; -1 for a size of 1.
  Labels factorLabels() const {
    auto spread = match.factor->value.getDefiningOp<stablehlo::BroadcastInDimOp>();
    Labels labels;
    for (auto [size, to] :
         llvm::zip_equal(dimensionsOf(spread.getOperand()), spread.getBroadcastDimensions()))
      labels.push_back(size == 1 ? -1 : match.factor->labels[static_cast<size_t>(to)]);
    return labels;
  }
  bool isFactorOfKeys() const { return llvm::is_contained(factorLabels(), keyLabels.front()); }
  /// Of f32, and not of queries and keys at once.
  bool checkFactor() const {
    if (!match.factor)
      return true;
    Labels labels = factorLabels();
    auto isOfQueries = [&](int64_t label) {
      return llvm::is_contained(queryLabels, label) || label == groupLabel;
    };
    bool isOfBoth = isFactorOfKeys() &&
                    llvm::any_of(labels, [&](int64_t label) { return label >= 0 && isOfQueries(label); });
    return !isNarrowed && !isOfBoth && getElementTypeOrSelf(match.factor->value.getType()).isF32();
  }
  void multiplyByFactor() {
    Parts &scaled = isFactorOfKeys() ? key : query;
    Labels names(dimensionsOf(scaled.value).size(), -1);
    bool isLeft = (&scaled == &query) == match.keysAreRight;
    size_t own = query.batch.size() + (isLeft ? 0 : (match.keysAreRight ? query : key).own.size());
    for (auto [i, dimension] : llvm::enumerate(scaled.batch))
      names[static_cast<size_t>(dimension)] = labelOf(i);
    for (auto [i, dimension] : llvm::enumerate(scaled.own))
      names[static_cast<size_t>(dimension)] = labelOf(own + i);
    auto spread = match.factor->value.getDefiningOp<stablehlo::BroadcastInDimOp>();
    SmallVector<int64_t> order, shape, places; // of the dimensions that are more than 1
    for (auto [place, name] : llvm::enumerate(names))
      for (auto [i, label] : llvm::enumerate(factorLabels()))
        if (label >= 0 && label == name) {
          order.push_back(static_cast<int64_t>(i));
          places.push_back(static_cast<int64_t>(place));
        }
    for (int64_t dimension : order)
      shape.push_back(dimensionsOf(spread.getOperand())[static_cast<size_t>(dimension)]);
    for (auto [i, label] : llvm::enumerate(factorLabels()))
      if (label < 0)
        order.push_back(static_cast<int64_t>(i));
    mlir::Value factor = reshaped(transposed(spread.getOperand(), order), shape);
    factor = stablehlo::BroadcastInDimOp::create(builder, location, scaled.value.getType(), factor,
                                                 builder.getDenseI64ArrayAttr(places));
    scaled.value = stablehlo::MulOp::create(builder, location, scaled.value, factor);
  }

  void measure() {
    for (auto [i, dimension] : llvm::enumerate(query.batch)) {
      int64_t size = dimensionsOf(query.value)[static_cast<size_t>(dimension)];
      (i + 1 == query.batch.size() ? sizes.heads : sizes.batch) *= size;
    }
    sizes.queries = productOfSizes(query.value, query.own);
    if (group) {
      sizes.heads *= groupSize();
      sizes.queries /= groupSize();
    }
    sizes.keys = productOfSizes(key.value, key.own);
    sizes.size = productOfSizes(key.value, key.summed);
    sizes.valueSize = productOfSizes(value.value, value.own);
    scale = match.scale;
  }

  /// What scales a factor alone.
  static Operation *scaleOf(mlir::Value factor) {
    Operation *op = factor.getDefiningOp();
    bool isScale = isa_and_present<stablehlo::MulOp, stablehlo::DivOp>(op) && op->hasOneUse();
    return isScale && splatOf(op->getOperand(1)) ? op : nullptr;
  }
  void stripScale(Parts &parts) {
    Operation *op = scaleOf(parts.value);
    if (!op)
      return;
    double number = *splatOf(op->getOperand(1));
    scale *= isa<stablehlo::MulOp>(op) ? number : 1 / number;
    parts.value = op->getOperand(0);
  }
  /// Scales, in front of a conversion to f32 and behind it, and that conversion.
  void strip(Parts &parts, bool isScaled) {
    if (isScaled)
      stripScale(parts);
    if (!isNarrowed)
      return;
    parts.value = WidenedValue(parts.value).narrowed(builder);
    if (isScaled)
      stripScale(parts);
  }

  /// [batch][head][position][element], each head of which is repeated for as many query heads in a row:
  /// without the repetition.
  mlir::Value unrepeated(const Parts &parts) const {
    auto joined = parts.value.getDefiningOp<stablehlo::ReshapeOp>();
    auto spread = joined ? joined.getOperand().getDefiningOp<stablehlo::BroadcastInDimOp>()
                         : stablehlo::BroadcastInDimOp();
    if (!spread || parts.batch != SmallVector<int64_t>{0, 1} ||
        spread.getBroadcastDimensions() != ArrayRef<int64_t>{0, 1, 3, 4})
      return {};
    ArrayRef<int64_t> whole = dimensionsOf(parts.value), from = dimensionsOf(spread.getOperand()),
                      middle = dimensionsOf(spread->getResult(0));
    bool isHeads = whole.size() == 4 && middle.size() == 5 && from[0] == whole[0] && from[1] == middle[1] &&
                   from[1] * middle[2] == whole[1] && from.drop_front(2) == whole.drop_front(2);
    return isHeads ? spread.getOperand() : mlir::Value();
  }

  /// How many heads the keys have.
  int64_t stripRepetition() {
    mlir::Value fewKeys = unrepeated(key), fewValues = unrepeated(value);
    if (!fewKeys || !fewValues || dimensionsOf(fewKeys)[1] != dimensionsOf(fewValues)[1] ||
        query.batch.size() != 2 || valueBatch() != SmallVector<int64_t>{0, 1})
      return sizes.heads;
    key.value = fewKeys;
    value.value = fewValues;
    return dimensionsOf(fewKeys)[1];
  }

  mlir::Value transposed(mlir::Value from, ArrayRef<int64_t> order) {
    SmallVector<int64_t> shape;
    for (int64_t dimension : order)
      shape.push_back(dimensionsOf(from)[static_cast<size_t>(dimension)]);
    auto type = RankedTensorType::get(shape, getElementTypeOrSelf(from.getType()));
    return stablehlo::TransposeOp::create(builder, location, type, from, builder.getDenseI64ArrayAttr(order));
  }
  mlir::Value reshaped(mlir::Value from, ArrayRef<int64_t> shape) {
    auto type = RankedTensorType::get(shape, getElementTypeOrSelf(from.getType()));
    return stablehlo::ReshapeOp::create(builder, location, type, from);
  }

  /// The value's batch, in the order of the first product's.
  SmallVector<int64_t> valueBatch() const {
    SmallVector<int64_t> order;
    auto take = [&](int64_t label) {
      for (auto [dimension, of] : llvm::zip_equal(value.batch, weights.batch))
        if (match.weightLabels[static_cast<size_t>(of)] == label)
          order.push_back(dimension);
    };
    take(-1);
    for (int64_t label : batchLabels())
      take(label);
    return order;
  }

  /// [batch][head][position][element]
  mlir::Value factor(mlir::Value from, ArrayRef<int64_t> batch, ArrayRef<int64_t> positions,
                     ArrayRef<int64_t> elements, ArrayRef<int64_t> shape) {
    SmallVector<int64_t> order(batch);
    llvm::append_range(order, positions);
    llvm::append_range(order, elements);
    return reshaped(transposed(from, order), shape);
  }

  /// Of the labels, in the order of batch, query, key; sizes of 1 left out.
  SmallVector<int64_t> kernelOrder(const Labels &labels) const {
    Labels wanted = headLabels();
    llvm::append_range(wanted, queryLabels);
    llvm::append_range(wanted, keyLabels);
    SmallVector<int64_t> order;
    for (int64_t label : wanted)
      for (auto [i, each] : llvm::enumerate(labels))
        if (each == label)
          order.push_back(static_cast<int64_t>(i));
    return order;
  }

  /// Elementwise ops on what a broadcast repeats come in front of it.
  mlir::Value beneathBroadcast(mlir::Value from, llvm::function_ref<mlir::Value(mlir::Value)> change) {
    auto spread = from.getDefiningOp<stablehlo::BroadcastInDimOp>();
    if (!spread)
      return change(from);
    mlir::Value changed = change(spread.getOperand());
    auto type = RankedTensorType::get(dimensionsOf(from), getElementTypeOrSelf(changed.getType()));
    return stablehlo::BroadcastInDimOp::create(builder, location, type, changed,
                                               spread.getBroadcastDimensionsAttr());
  }

  /// [batch][head][query][key], repeated by strides where it can be. What a finite score stands for is added:
  /// the sum is that score, as it is so large.
  mlir::Value inKernelOrder(const AttentionMask &mask, bool isBoolean) {
    mlir::Value from = mask.value;
    if (match.isBoolean && isBoolean && match.isInverted)
      from = beneathBroadcast(from, [&](mlir::Value each) {
        return mlir::Value(stablehlo::NotOp::create(builder, location, each));
      });
    if (match.isBoolean && !isBoolean)
      from = beneathBroadcast(from, [&](mlir::Value each) {
        auto type = RankedTensorType::get(dimensionsOf(each), builder.getF32Type());
        auto constant = [&](double number) {
          auto elements =
              DenseElementsAttr::get(type, builder.getF32FloatAttr(static_cast<float>(number)).getValue());
          return stablehlo::ConstantOp::create(builder, location, elements);
        };
        mlir::Value seen = constant(0), hidden = constant(match.masked);
        return mlir::Value(stablehlo::SelectOp::create(builder, location, type, each,
                                                       match.isInverted ? hidden : seen,
                                                       match.isInverted ? seen : hidden));
      });
    if (WidenedValue widened(from); match.masks.size() == 1 && widened.source)
      from = widened.narrowed(builder);
    if (match.masks.size() > 1 && isNarrow(from.getType())) // the sum is one of f32
      from = beneathBroadcast(from, [&](mlir::Value each) {
        auto type = RankedTensorType::get(dimensionsOf(each), builder.getF32Type());
        return mlir::Value(stablehlo::ConvertOp::create(builder, location, type, each));
      });
    SmallVector<int64_t> shape;
    Labels named;
    for (auto [label, size] : llvm::zip_equal(mask.labels, dimensionsOf(from)))
      if (size != 1) {
        shape.push_back(size);
        named.push_back(label);
      }
    from = transposed(reshaped(from, shape), kernelOrder(named));
    return reshaped(from, {sizes.batch, sizes.heads, sizes.queries, sizes.keys});
  }

  mlir::Value sumOfMasks(bool isBoolean) {
    mlir::Value sum;
    for (const AttentionMask &mask : match.masks) {
      mlir::Value next = inKernelOrder(mask, isBoolean);
      sum = sum ? mlir::Value(stablehlo::AddOp::create(builder, location, sum, next)) : next;
    }
    return sum;
  }

  /// From [batch][query][head][element] to the second product's result.
  mlir::Value resultOf(mlir::Value result) {
    result = transposed(result, {0, 2, 1, 3});
    // Dimensions by label, those of the value's elements as one.
    constexpr int64_t elementLabel = 1000;
    SmallVector<int64_t> shape;
    Labels labels = headLabels();
    llvm::append_range(labels, queryLabels);
    for (int64_t label : labels)
      shape.push_back(dimensionsOf(match.first->getResult(0))[static_cast<size_t>(label)]);
    labels.push_back(elementLabel);
    shape.push_back(sizes.valueSize);
    result = reshaped(result, shape);
    Labels wanted;
    for (int64_t dimension : weights.batch)
      wanted.push_back(match.weightLabels[static_cast<size_t>(dimension)]);
    if (!match.weightsAreLeft)
      wanted.push_back(elementLabel);
    for (int64_t dimension : weights.own)
      wanted.push_back(match.weightLabels[static_cast<size_t>(dimension)]);
    if (match.weightsAreLeft)
      wanted.push_back(elementLabel);
    SmallVector<int64_t> order;
    for (int64_t label : wanted)
      if (label >= 0)
        order.push_back(llvm::find(labels, label) - labels.begin());
    return reshaped(transposed(result, order), dimensionsOf(match.second->getResult(0)));
  }

  const AttentionMatch &match;
  OpBuilder builder;
  Location location;
  Parts query, key, value, weights;
  Labels queryLabels, keyLabels;
  std::optional<int64_t> group; ///< the query's dimension of heads that share keys
  int64_t groupLabel = -1;
  bool isNarrowed = false; ///< factors of bf16 or f16
  Heads sizes;
  double scale = 1;
};

bool fuseAttention(Operation *softmax) {
  std::optional<AttentionMatch> match = matchAttention(softmax);
  return match && Rewrite(*match).apply();
}

} // namespace

int64_t fuseAttentions(func::FuncOp function) {
  SmallVector<Operation *> found;
  function.walk([&](Operation *op) {
    if (isKernelCall(op, "softmax"))
      found.push_back(op);
  });
  return llvm::count_if(found, [](Operation *softmax) {
    std::optional<GroupedHeads> grouped = GroupedHeads::spread(softmax);
    if (fuseAttention(softmax))
      return true;
    if (grouped)
      grouped->undo();
    return false;
  });
}

} // namespace torchere::cpu

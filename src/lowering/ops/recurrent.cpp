// Recurrent layers: LSTM, GRU and plain RNN. Each direction of a layer is one loop over the steps, so the
// program's size does not depend on the number of steps.
#include "lowering/elements.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"
#include "lowering/placement.h"
#include "lowering/random.h"
#include "lowering/region.h"

namespace torchere::lowering {

namespace {

/// One direction of one layer. Weights contain the gates' rows, one gate after the other.
struct OneDirection {
  mlir::Value inputWeight;  ///< [gates * H, I]
  mlir::Value hiddenWeight; ///< [gates * H, H], or [gates * H, P] with a projection
  mlir::Value inputBias;    ///< [gates * H]; null without biases
  mlir::Value hiddenBias;   ///< as inputBias
  mlir::Value projection;   ///< [P, H]; null without one
  bool isReversed = false;
};

/// The next state, from the step's input [N, gates * H], the state (whose first tensor is the output) and the
/// weights that are used in every step.
using Cell = llvm::function_ref<Values(mlir::Value input, const Values &state, const Values &weights)>;

mlir::Value timesTransposed(Context &cx, mlir::Value value, mlir::Value weight) {
  return cx.dotGeneral(value, weight, /*batch=*/0, Context::rank(value) - 1, 1);
}

mlir::Value addBias(Context &cx, mlir::Value value, mlir::Value bias) {
  if (!bias)
    return value;
  return cx.elementwise<stablehlo::AddOp>({value, cx.broadcastTo(bias, cx.shape(value))});
}

/// Part `index` of the last axis, split into parts of `width`.
Elements gate(Context &cx, mlir::Value gates, int64_t index, Dim width) {
  Dim start = cx.multiply(width, index);
  return {cx, cx.sliceAxis(gates, 1, start, cx.add(start, width))};
}

/// State: hidden, cell. Weights: hidden, and the projection if there is one.
Values lstmCell(Context &cx, mlir::Value input, const Values &state, const Values &weights) {
  Dim width = cx.size(state[1], 1);
  mlir::Value gates = cx.elementwise<stablehlo::AddOp>({input, timesTransposed(cx, state[0], weights[0])});
  Elements in = sigmoid(gate(cx, gates, 0, width));
  Elements forget = sigmoid(gate(cx, gates, 1, width));
  Elements candidate = tanh(gate(cx, gates, 2, width));
  Elements out = sigmoid(gate(cx, gates, 3, width));
  Elements cell = forget * Elements(cx, state[1]) + in * candidate;
  mlir::Value hidden = out * tanh(cell);
  if (weights.size() > 1)
    hidden = timesTransposed(cx, hidden, weights[1]);
  return {hidden, cell};
}

/// Weights: hidden, and its bias if there is one, which the reset gate scales.
Values gruCell(Context &cx, mlir::Value input, const Values &state, const Values &weights) {
  Dim width = cx.size(state[0], 1);
  mlir::Value own =
      addBias(cx, timesTransposed(cx, state[0], weights[0]), weights.size() > 1 ? weights[1] : mlir::Value());
  Elements reset = sigmoid(gate(cx, input, 0, width) + gate(cx, own, 0, width));
  Elements update = sigmoid(gate(cx, input, 1, width) + gate(cx, own, 1, width));
  Elements candidate = tanh(gate(cx, input, 2, width) + reset * gate(cx, own, 2, width));
  return {candidate + update * (Elements(cx, state[0]) - candidate)};
}

Values tanhCell(Context &cx, mlir::Value input, const Values &state, const Values &weights) {
  return {tanh(Elements(cx, input) + Elements(cx, timesTransposed(cx, state[0], weights[0])))};
}

Values reluCell(Context &cx, mlir::Value input, const Values &state, const Values &weights) {
  return {maximum(Elements(cx, input) + Elements(cx, timesTransposed(cx, state[0], weights[0])), 0.0)};
}

/// value[index], for a 0-d index computed at run time.
mlir::Value rowAt(Context &cx, mlir::Value value, mlir::Value index) {
  Dims shape = cx.shape(value);
  Integers sizes = {1};
  for (const Dim &dim : llvm::drop_begin(shape)) {
    if (!dim.isConstant()) // dynamic_slice takes its sizes as an attribute
      return gatherSlices(cx, value, slicesAlong(cx, index, 0));
    sizes.push_back(dim.constant());
  }
  Values operands = {value, index};
  operands.append(shape.size() - 1, cx.constant(int64_t{0}, DType::I64));
  Dims row(shape.begin() + 1, shape.end());
  mlir::Type type = mlir::RankedTensorType::get(sizes, Context::elementType(value));
  return cx.reshape(
      cx.create<stablehlo::DynamicSliceOp>(type, operands, {cx.integersAttribute("slice_sizes", sizes)}),
      row);
}

/// `value` with its row `index` replaced.
mlir::Value withRowAt(Context &cx, mlir::Value value, mlir::Value row, mlir::Value index) {
  Dims shape = cx.shape(row);
  shape.insert(shape.begin(), Dim(1));
  Values operands = {value, cx.reshape(row, shape), index};
  operands.append(shape.size() - 1, cx.constant(int64_t{0}, DType::I64));
  return cx.create<stablehlo::DynamicUpdateSliceOp>(value.getType(), operands);
}

/// Runs the cell over the steps of `inputs`, [T, N, gates * H]. Returns the outputs, [T, N, H or P], followed
/// by the last state.
Values sweep(Context &cx, mlir::Value inputs, const Values &state, const Values &weights, bool isReversed,
             Cell cell) {
  Dims shape = cx.shape(state[0]);
  shape.insert(shape.begin(), cx.size(inputs, 0));
  Values carried = {cx.constant(int64_t{0}, DType::I64), inputs,
                    cx.full(0.0, Context::dtype(state[0]), shape)};
  carried.append(state);
  carried.append(weights);
  const size_t stateStart = 3;
  auto length = [&](mlir::ValueRange values) { return cx.sizeTensor(cx.size(values[1], 0)); };
  auto condition = [&](mlir::ValueRange values) {
    return Values{cx.compare(stablehlo::ComparisonDirection::LT, values[0], length(values))};
  };
  auto body = [&](mlir::ValueRange values) {
    Values results(values.begin(), values.end());
    mlir::Value one = cx.constant(int64_t{1}, DType::I64);
    mlir::Value next = cx.elementwise<stablehlo::AddOp>({values[0], one});
    mlir::Value place =
        isReversed ? cx.elementwise<stablehlo::SubtractOp>({length(values), next}) : values[0];
    auto firstState = results.begin() + stateStart;
    auto firstWeight = firstState + state.size();
    Values after = cell(rowAt(cx, values[1], place), Values(firstState, firstWeight),
                        Values(firstWeight, results.end()));
    results[0] = next;
    results[2] = withRowAt(cx, values[2], after[0], place);
    llvm::copy(after, results.begin() + stateStart);
    return results;
  };
  Values done = repeatWhile(cx, carried, condition, body);
  return Values(done.begin() + 2, done.begin() + stateStart + state.size());
}

/// The layers as described by the op's arguments.
struct Stack {
  int64_t layers = 0;
  int64_t directions = 1;
  bool batchFirst = false;
  double dropout = 0.0;            ///< of the outputs of all layers but the last, in training
  std::vector<OneDirection> parts; ///< layer by layer, each forwards and then backwards
};

Result<Stack> stackOf(Context &cx, const Args &args, bool hasProjection) {
  Stack stack;
  stack.layers = args.integer("num_layers");
  stack.directions = args.boolean("bidirectional") ? 2 : 1;
  stack.batchFirst = args.boolean("batch_first");
  stack.dropout = args.boolean("train") ? args.floating("dropout") : 0.0;
  Values params = args.tensors("params");
  bool hasBiases = args.boolean("has_biases");
  size_t each = 2 + (hasBiases ? 2 : 0) + (hasProjection ? 1 : 0);
  if (params.size() != each * stack.layers * stack.directions)
    return cx.invalid("wrong number of weights: got {}, expected {} for each of {} layers and {} directions",
                      params.size(), each, stack.layers, stack.directions);
  for (size_t i = 0; i < params.size(); i += each) {
    OneDirection part;
    part.inputWeight = params[i];
    part.hiddenWeight = params[i + 1];
    if (hasBiases) {
      part.inputBias = params[i + 2];
      part.hiddenBias = params[i + 3];
    }
    if (hasProjection)
      part.projection = params[i + each - 1];
    part.isReversed = (i / each) % stack.directions == 1;
    stack.parts.push_back(part);
  }
  return stack;
}

/// Runs one direction of one layer on its input, [T, N, I], and state; returns the outputs, then the state.
using Layer = llvm::function_ref<Values(const OneDirection &, mlir::Value input, const Values &state)>;

/// Runs the layers one after the other. `states` are tensors [layers * directions, N, width]; the results are
/// the outputs of the last layer and the last states.
Result<Values> runStack(Context &cx, mlir::Value input, const Values &states, const Stack &stack,
                        Layer layer) {
  if (stack.batchFirst)
    input = cx.transpose(input, {1, 0, 2});
  std::vector<Values> last(states.size());
  for (int64_t index = 0; index < stack.layers; ++index) {
    Values outputs;
    for (int64_t direction = 0; direction < stack.directions; ++direction) {
      int64_t part = index * stack.directions + direction;
      Values state;
      for (mlir::Value all : states) {
        Dims shape = cx.shape(all);
        state.push_back(cx.reshape(cx.sliceAxis(all, 0, part, part + 1), {shape[1], shape[2]}));
      }
      Values results = layer(stack.parts[part], input, state);
      outputs.push_back(results[0]);
      for (size_t i = 0; i < states.size(); ++i) {
        Dims shape = cx.shape(results[1 + i]);
        shape.insert(shape.begin(), Dim(1));
        last[i].push_back(cx.reshape(results[1 + i], shape));
      }
    }
    input = cx.concatenate(outputs, 2);
    if (stack.dropout != 0.0 && index + 1 < stack.layers) {
      TORCHERE_ASSIGN(Dropout dropped, dropOut(cx, input, stack.dropout));
      input = dropped.value;
    }
  }
  Values results = {stack.batchFirst ? cx.transpose(input, {1, 0, 2}) : input};
  for (const Values &state : last)
    results.push_back(cx.concatenate(state, 0));
  return results;
}

Result<Values> lstm(Context &cx, const Args &args) {
  Values states = args.tensors("hx");
  if (states.size() != 2)
    return cx.invalid("wrong number of states: got {}, expected 2 (hidden and cell)", states.size());
  bool hasProjection = !(cx.size(states[0], 2) == cx.size(states[1], 2));
  TORCHERE_ASSIGN(Stack stack, stackOf(cx, args, hasProjection));
  return runStack(cx, args.tensor("input"), states, stack,
                  [&](const OneDirection &part, mlir::Value input, const Values &state) {
                    mlir::Value inputs = timesTransposed(cx, input, part.inputWeight);
                    inputs = addBias(cx, addBias(cx, inputs, part.inputBias), part.hiddenBias);
                    Values weights = {part.hiddenWeight};
                    if (part.projection)
                      weights.push_back(part.projection);
                    return sweep(cx, inputs, state, weights, part.isReversed,
                                 [&](mlir::Value row, const Values &before, const Values &inLoop) {
                                   return lstmCell(cx, row, before, inLoop);
                                 });
                  });
}

Result<Values> gru(Context &cx, const Args &args) {
  TORCHERE_ASSIGN(Stack stack, stackOf(cx, args, /*hasProjection=*/false));
  return runStack(cx, args.tensor("input"), {args.tensor("hx")}, stack,
                  [&](const OneDirection &part, mlir::Value input, const Values &state) {
                    mlir::Value inputs =
                        addBias(cx, timesTransposed(cx, input, part.inputWeight), part.inputBias);
                    Values weights = {part.hiddenWeight};
                    if (part.hiddenBias)
                      weights.push_back(part.hiddenBias);
                    return sweep(cx, inputs, state, weights, part.isReversed,
                                 [&](mlir::Value row, const Values &before, const Values &inLoop) {
                                   return gruCell(cx, row, before, inLoop);
                                 });
                  });
}

/// A plain layer: the state is a function of the sum of input and hidden products.
template <auto cell> Result<Values> plain(Context &cx, const Args &args) {
  TORCHERE_ASSIGN(Stack stack, stackOf(cx, args, /*hasProjection=*/false));
  return runStack(cx, args.tensor("input"), {args.tensor("hx")}, stack,
                  [&](const OneDirection &part, mlir::Value input, const Values &state) {
                    mlir::Value inputs = timesTransposed(cx, input, part.inputWeight);
                    inputs = addBias(cx, addBias(cx, inputs, part.inputBias), part.hiddenBias);
                    return sweep(cx, inputs, state, {part.hiddenWeight}, part.isReversed,
                                 [&](mlir::Value row, const Values &before, const Values &inLoop) {
                                   return cell(cx, row, before, inLoop);
                                 });
                  });
}

} // namespace

#define TORCHERE_LAYER_OPTIONS                                                                               \
  "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, "        \
  "bool batch_first"

void addRecurrent(OpTable &table) {
  table.add("aten::lstm.input(Tensor input, Tensor[] hx, " TORCHERE_LAYER_OPTIONS
            ") -> (Tensor, Tensor, Tensor)",
            lstm);
  table.add("aten::gru.input(Tensor input, Tensor hx, " TORCHERE_LAYER_OPTIONS ") -> (Tensor, Tensor)", gru);
  table.add("aten::rnn_tanh.input(Tensor input, Tensor hx, " TORCHERE_LAYER_OPTIONS ") -> (Tensor, Tensor)",
            plain<tanhCell>);
  table.add("aten::rnn_relu.input(Tensor input, Tensor hx, " TORCHERE_LAYER_OPTIONS ") -> (Tensor, Tensor)",
            plain<reluCell>);
}

#undef TORCHERE_LAYER_OPTIONS

} // namespace torchere::lowering

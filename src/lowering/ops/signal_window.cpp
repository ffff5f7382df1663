// Windows of signals: Bartlett, Hann, Hamming and Blackman.
#include "lowering/elements.h"
#include "lowering/elementwise.h"
#include "lowering/op_table.h"

#include <algorithm>
#include <numbers>

namespace torchere::lowering {

namespace {

/// A weight for each place between 0 and 1. A periodic window has its last place one step before 1.
template <class Weight> mlir::Value window(Context &cx, const Args &args, Weight weight) {
  const TensorType &type = cx.resultType();
  DType compute = computeType(type.dtype);
  int64_t length = args.integer("window_length");
  if (length == 1)
    return cx.full(1.0, type.dtype, type.shape);
  bool isPeriodic = !args.has("periodic") || args.boolean("periodic");
  auto steps = static_cast<double>(std::max<int64_t>(isPeriodic ? length : length - 1, 1));
  return cx.convert(weight(Elements(cx, cx.iota(type.shape, compute, 0)), steps), type.dtype);
}

/// The cosine that runs through `waves` periods.
Elements wave(const Elements &index, double steps, double waves) {
  return cosine(index * (2.0 * std::numbers::pi * waves / steps));
}

mlir::Value bartlett(Context &cx, const Args &args) {
  return window(cx, args, [](const Elements &index, double steps) {
    Elements rising = index * (2.0 / steps);
    return minimum(rising, 2.0 - rising);
  });
}

mlir::Value raisedCosine(Context &cx, const Args &args, double alpha, double beta) {
  return window(cx, args,
                [&](const Elements &index, double steps) { return alpha - wave(index, steps, 1.0) * beta; });
}

mlir::Value hann(Context &cx, const Args &args) {
  return raisedCosine(cx, args, 0.5, 0.5);
}

mlir::Value hamming(Context &cx, const Args &args) {
  return raisedCosine(cx, args, args.has("alpha") ? args.floating("alpha") : 0.54,
                      args.has("beta") ? args.floating("beta") : 0.46);
}

mlir::Value blackman(Context &cx, const Args &args) {
  return window(cx, args, [](const Elements &index, double steps) {
    return 0.42 - wave(index, steps, 1.0) * 0.5 + wave(index, steps, 2.0) * 0.08;
  });
}

/// The overloads of a window: with a default for `periodic`, and without.
template <class Function> void addWindow(OpTable &table, const std::string &name, Function function) {
  const std::string options = ", *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
                              "pin_memory=None) -> Tensor";
  table.add("aten::" + name + "(int window_length" + options, function);
  table.add("aten::" + name + ".periodic(int window_length, bool periodic" + options, function);
  if (name != "hamming_window")
    return;
  table.add("aten::" + name + ".periodic_alpha(int window_length, bool periodic, float alpha" + options,
            function);
  table.add("aten::" + name +
                ".periodic_alpha_beta(int window_length, bool periodic, float alpha, float beta" + options,
            function);
}

} // namespace

void addSignalWindow(OpTable &table) {
  addWindow(table, "bartlett_window", bartlett);
  addWindow(table, "hann_window", hann);
  addWindow(table, "hamming_window", hamming);
  addWindow(table, "blackman_window", blackman);
}

} // namespace torchere::lowering

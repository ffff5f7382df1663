// Extreme elements of windows, and their places, against plain loops.
#include "cpu/kernels/window_extremum.h"
#include "test_values.h"

#include <cmath>
#include <limits>

namespace torchere::cpu {
namespace {

class WindowExtrema : public EveryIsa {
protected:
  /// What the window at (i, j, k) of a plane selects, or -1.
  template <class T>
  int64_t selected(const WindowExtremumArgs &args, const T *plane, const int64_t (&at)[3]) {
    int64_t best = -1;
    for (int64_t a = 0; a < args.windowDims[0]; ++a)
      for (int64_t b = 0; b < args.windowDims[1]; ++b)
        for (int64_t c = 0; c < args.windowDims[2]; ++c) {
          int64_t taps[3] = {a, b, c}, place = 0;
          bool isInside = true;
          for (int d = 0; d < 3; ++d) {
            int64_t element = at[d] * args.strides[d] - args.padding[d] + taps[d] * args.dilations[d];
            isInside &= element >= 0 && element < args.dims[d];
            place = place * args.dims[d] + element;
          }
          if (isInside && (best < 0 || wins(args, plane[place], plane[best])))
            best = place;
        }
    return best;
  }
  template <class T> bool wins(const WindowExtremumArgs &args, T next, T best) {
    if (args.rule == WindowRule::FirstOrNan)
      return next != next || (args.isLargest ? next > best : next < best);
    return !(args.isLargest ? best >= next : best <= next);
  }

  template <class T, class Place> void check(WindowExtremumArgs args, const std::vector<T> &input) {
    int64_t windows = args.planeRows() * args.outputDims[2];
    std::vector<T> values(args.planes * windows);
    std::vector<Place> places(args.planes * windows);
    args.input = input.data();
    args.emptyPlace = 77;
    findWindowExtrema(context, args, values.data(), places.data());
    for (int64_t i = 0; i < args.planes * windows; ++i) {
      int64_t rest = i % windows, at[3] = {};
      for (int d = 2; d >= 0; rest /= args.outputDims[d--])
        at[d] = rest % args.outputDims[d];
      const T *plane = input.data() + i / windows * args.planeElements();
      int64_t place = selected(args, plane, at);
      ASSERT_EQ(places[i], Place(place < 0 ? 77 : place)) << i;
      if (place < 0) // the weakest of all
        ASSERT_FALSE(args.isLargest ? values[i] > std::numeric_limits<T>::lowest()
                                    : values[i] < std::numeric_limits<T>::max());
      else
        ASSERT_TRUE(values[i] == plane[place] || (values[i] != values[i] && plane[place] != plane[place]));
    }
  }

  /// Of few values, so that many are equal.
  template <class T> std::vector<T> fewValues(const WindowExtremumArgs &args) {
    std::vector<T> made;
    for (float each : randomFloats(args.planes * args.planeElements()))
      made.push_back(T(std::lround(each * 3)));
    return made;
  }

  WindowExtremumArgs argsOf(bool isLargest, WindowRule rule, int64_t window, int64_t stride, int64_t dilation,
                            int64_t padding) {
    WindowExtremumArgs args;
    args.isLargest = isLargest;
    args.rule = rule;
    args.planes = 3;
    for (int d = 0; d < 3; ++d) {
      args.dims[d] = 5 + 7 * d;
      args.windowDims[d] = d == 0 ? 2 : window;
      args.strides[d] = stride;
      args.dilations[d] = dilation;
      args.padding[d] = padding;
      int64_t room = args.dims[d] + 2 * padding - (args.windowDims[d] - 1) * dilation - 1;
      args.outputDims[d] = room < 0 ? 0 : room / stride + 1;
    }
    return args;
  }
  template <class Fn> void everyForm(const Fn &fn) {
    for (bool isLargest : {true, false})
      for (WindowRule rule : {WindowRule::FirstOrNan, WindowRule::FirstToRemain})
        for (int64_t stride : {1, 2, 3})
          fn(argsOf(isLargest, rule, 3, stride, stride == 1 ? 2 : 1, 1));
  }
};

TEST_P(WindowExtrema, EveryType) {
  everyForm([&](WindowExtremumArgs args) {
    check<float, int64_t>(args, fewValues<float>(args));
    args.placeType = DType::I32;
    args.type = DType::F64;
    check<double, int32_t>(args, fewValues<double>(args));
    args.type = DType::I32;
    check<int32_t, int32_t>(args, fewValues<int32_t>(args));
    args.type = DType::I64;
    args.placeType = DType::I64;
    check<int64_t, int64_t>(args, fewValues<int64_t>(args));
  });
}

TEST_P(WindowExtrema, NotANumberAndInfinities) {
  everyForm([&](const WindowExtremumArgs &args) {
    std::vector<float> input = fewValues<float>(args);
    for (size_t i = 0; i < input.size(); ++i)
      if (i % 7 < 3)
        input[i] = i % 7 == 0 ? NAN : i % 7 == 1 ? INFINITY : -INFINITY;
    check<float, int64_t>(args, input);
    std::fill(input.begin(), input.end(), args.isLargest ? -INFINITY : INFINITY);
    check<float, int64_t>(args, input);
  });
}

/// Windows that lie in the padding alone, as wide as it is and wider.
TEST_P(WindowExtrema, MuchPadding) {
  for (int64_t padding : {3, 30})
    for (int64_t window : {1, 2, 40}) {
      WindowExtremumArgs args = argsOf(true, WindowRule::FirstOrNan, window, 2, 1, padding);
      check<float, int64_t>(args, fewValues<float>(args));
    }
}

/// Negative padding leaves elements out.
TEST_P(WindowExtrema, ElementsLeftOut) {
  WindowExtremumArgs args = argsOf(true, WindowRule::FirstOrNan, 2, 1, 1, -2);
  check<float, int64_t>(args, fewValues<float>(args));
}

TORCHERE_EVERY_ISA(WindowExtrema);

} // namespace
} // namespace torchere::cpu

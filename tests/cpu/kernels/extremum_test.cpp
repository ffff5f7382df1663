// Extreme elements and their places against plain loops.
#include "cpu/kernels/extremum.h"
#include "test_values.h"

#include <cmath>
#include <limits>

namespace torchere::cpu {
namespace {

class Extrema : public EveryIsa {
protected:
  template <class T, class Place> void check(ExtremumArgs args, const std::vector<T> &input) {
    int64_t lines = args.outer * args.inner;
    std::vector<T> values(lines);
    std::vector<Place> places(lines);
    args.input = input.data();
    args.values = values.data();
    args.places = places.data();
    findExtrema(context, args);
    for (int64_t line = 0; line < lines; ++line) {
      const T *x = input.data() + line / args.inner * args.length * args.inner + line % args.inner;
      int64_t best = 0;
      for (int64_t i = 1; i < args.length; ++i) {
        T a = x[best * args.inner], b = x[i * args.inner];
        if (a == a && (b != b || (args.isLargest ? b > a : b < a)))
          best = i;
      }
      ASSERT_EQ(places[line], Place(best)) << line;
      T expected = x[best * args.inner];
      ASSERT_TRUE(values[line] == expected || (values[line] != values[line] && expected != expected));
    }
  }

  template <class T> std::vector<T> fewValues(int64_t count) {
    std::vector<T> made;
    for (float each : randomFloats(count))
      made.push_back(T(std::lround(each * 20)));
    return made;
  }
};

/// Of few values, so that many are equal.
TEST_P(Extrema, AnyDimensions) {
  for (int64_t length : {1, 2, 128, 129, 300})
    for (int64_t outer : {1, 3})
      for (int64_t inner : {1, 5, 9, 260})
        for (bool isLargest : {true, false}) {
          int64_t count = outer * length * inner;
          check<float, int64_t>({DType::F32, isLargest, DType::I64, outer, length, inner},
                                fewValues<float>(count));
          check<double, int32_t>({DType::F64, isLargest, DType::I32, outer, length, inner},
                                 fewValues<double>(count));
          check<int32_t, int32_t>({DType::I32, isLargest, DType::I32, outer, length, inner},
                                  fewValues<int32_t>(count));
          check<int64_t, int64_t>({DType::I64, isLargest, DType::I64, outer, length, inner},
                                  fewValues<int64_t>(count));
        }
}

TEST_P(Extrema, TheFirstNotANumberWins) {
  for (int64_t inner : {1, 4, 16})
    for (bool isLargest : {true, false})
      for (int64_t at : {0, 3, 200, 299}) {
        std::vector<float> input = fewValues<float>(2 * 300 * inner);
        for (int64_t later : {at, std::min<int64_t>(at + 150, 299)})
          input[(300 + later) * inner + inner / 2] = NAN;
        check<float, int64_t>({DType::F32, isLargest, DType::I64, 2, 300, inner}, input);
      }
}

TEST_P(Extrema, InfinitiesAndLimits) {
  float infinity = std::numeric_limits<float>::infinity();
  for (bool isLargest : {true, false}) {
    check<float, int64_t>({DType::F32, isLargest, DType::I64, 3, 2, 1},
                          {-infinity, -infinity, infinity, infinity, -infinity, infinity});
    check<int32_t, int32_t>({DType::I32, isLargest, DType::I32, 2, 2, 1},
                            {INT32_MIN, INT32_MIN, INT32_MAX, INT32_MIN});
  }
}

TORCHERE_EVERY_ISA(Extrema);

} // namespace
} // namespace torchere::cpu

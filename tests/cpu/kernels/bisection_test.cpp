// Bisections against a plain loop.
#include "cpu/kernels/bisection.h"
#include "test_values.h"

#include <cmath>
#include <limits>

namespace torchere::cpu {
namespace {

class Bisections : public EveryIsa {
protected:
  /// `number` gives what elements are compared by.
  template <class T, class Place, class Number>
  void check(DType type, DType placeType, const std::vector<T> &table, const std::vector<T> &values,
             const Number &number) {
    BisectionArgs args;
    args.type = type;
    args.placeType = placeType;
    args.length = static_cast<int64_t>(table.size());
    args.count = static_cast<int64_t>(values.size());
    args.table = table.data();
    args.values = values.data();
    for (int64_t turns : {0, 3, 11})
      for (int64_t low : {int64_t(0), args.length / 2})
        for (bool isStrict : {false, true})
          for (bool isLow : {false, true}) {
            args.turns = turns;
            args.low = low;
            args.high = args.length;
            args.isStrict = isStrict;
            args.isLow = isLow;
            std::vector<Place> places(values.size() + 1, 77);
            args.places = places.data();
            bisect(context, args);
            for (size_t i = 0; i < values.size(); ++i)
              ASSERT_EQ(places[i], Place(expected(args, table, values[i], number))) << i;
            ASSERT_EQ(places.back(), 77);
          }
  }

  template <class T, class Number>
  static int64_t expected(const BisectionArgs &args, const std::vector<T> &table, T value,
                          const Number &number) {
    int64_t low = args.low, high = args.high;
    for (int64_t turn = 0; turn < args.turns; ++turn) {
      int64_t middle = low + (high - low) / 2;
      auto x = number(value), element = number(table[std::min(middle, args.length - 1)]);
      bool isEqual = x == element || (x != x && element != element);
      bool isLess = x < element || (x == x && element != element);
      (args.isStrict ? isLess : isLess || isEqual) ? high = middle : low = middle;
    }
    return args.isLow ? low : high;
  }

  /// Not in order: then too the turns are those of the loop.
  template <class T, class Convert> static std::vector<T> some(int64_t count, const Convert &convert) {
    std::vector<T> made;
    for (float each : randomFloats(count, static_cast<uint32_t>(count)))
      made.push_back(convert(std::round(each * 60)));
    return made;
  }

  template <class T> void checkIntegers(DType type) {
    auto number = [](T x) { return x; };
    auto convert = [](float x) {
      return static_cast<T>(static_cast<uint64_t>(static_cast<int64_t>(x)) * 0x123456789abcdef1u);
    };
    for (int64_t length : {1, 2, 700})
      for (int64_t count : {0, 1, 33, 3000})
        check<T, int32_t>(type, DType::I32, some<T>(length, convert), some<T>(count, convert), number);
    check<T, uint64_t>(type, DType::U64, some<T>(90, convert), some<T>(70, convert), number);
  }

  template <class T, class Convert, class Number>
  void checkFloats(DType type, const Convert &convert, const Number &number) {
    const float inf = std::numeric_limits<float>::infinity();
    std::vector<T> special;
    for (float each : {-inf, -1.0f, -0.0f, 0.0f, 1.0f, inf, NAN, -NAN})
      special.push_back(convert(each));
    check<T, uint32_t>(type, DType::U32, special, special, number);
    for (int64_t length : {1, 2, 700})
      for (int64_t count : {0, 1, 33, 3000})
        check<T, int64_t>(type, DType::I64, some<T>(length, convert), some<T>(count, convert), number);
  }
};

TEST_P(Bisections, OfIntegers) {
  checkIntegers<int8_t>(DType::I8);
  checkIntegers<int16_t>(DType::I16);
  checkIntegers<int32_t>(DType::I32);
  checkIntegers<int64_t>(DType::I64);
  checkIntegers<uint8_t>(DType::U8);
  checkIntegers<uint16_t>(DType::U16);
  checkIntegers<uint32_t>(DType::U32);
  checkIntegers<uint64_t>(DType::U64);
}

TEST_P(Bisections, OfFloatsWithZerosAndNaN) {
  checkFloats<float>(DType::F32, [](float x) { return x; }, [](float x) { return x; });
  checkFloats<double>(DType::F64, [](float x) { return double(x); }, [](double x) { return x; });
  checkFloats<uint16_t>(DType::BF16, [](float x) { return bf16OfFloat(x); }, floatOfBF16);
  checkFloats<uint16_t>(DType::F16, f16OfFloat, floatOfF16);
}

TEST_P(Bisections, HasNoKernelForOthers) {
  EXPECT_TRUE(hasBisection(DType::Bool));
  EXPECT_FALSE(hasBisection(DType::C64));
  EXPECT_FALSE(hasBisection(DType::F8E4M3FN));
}

TORCHERE_EVERY_ISA(Bisections);

} // namespace
} // namespace torchere::cpu

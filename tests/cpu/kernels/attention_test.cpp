// Attention against the whole matrix of scores in f64.
#include "cpu/kernels/attention.h"
#include "test_values.h"

#include <algorithm>

namespace torchere::cpu {
namespace {

struct AttentionCase {
  int64_t batch, queryHeads, keyHeads, queries, keys, headSize, valueSize;
  bool causal = false;
  MaskKind mask = MaskKind::None;
  DType type = DType::F32;
  DType outputType = DType::F32;
  DType maskType = DType::F32;
  float bound = 0;
};

uint16_t bitsOf(DType type, float x) {
  return type == DType::BF16 ? bf16OfFloat(x) : f16OfFloat(x);
}
float floatOf(DType type, uint16_t bits) {
  return type == DType::BF16 ? floatOfBF16(bits) : floatOfF16(bits);
}

/// The values in a type of 16 bits, to which they are rounded; nothing for f32.
std::vector<uint16_t> narrowed(DType type, std::vector<float> &values) {
  std::vector<uint16_t> bits(type == DType::F32 ? 0 : values.size());
  for (size_t i = 0; i < bits.size(); ++i)
    values[i] = floatOf(type, bits[i] = bitsOf(type, values[i]));
  return bits;
}
const void *dataOf(const std::vector<uint16_t> &bits, const std::vector<float> &values) {
  return bits.empty() ? static_cast<const void *>(values.data()) : bits.data();
}

class Attention : public EveryIsa {
protected:
  void check(const AttentionCase &c);
};

/// One query's result; `visible(key)` and `added(key)` are the mask.
template <class Visible, class Added>
std::vector<double> attended(const AttentionCase &c, const float *q, const float *k, const float *v,
                             double scale, Visible visible, Added added) {
  std::vector<double> scores(c.keys, -INFINITY), result(c.valueSize);
  double most = -INFINITY, total = 0;
  for (int64_t key = 0; key < c.keys; ++key) {
    if (!visible(key))
      continue;
    double dot = 0;
    for (int64_t i = 0; i < c.headSize; ++i)
      dot += double(q[i]) * k[key * c.headSize + i];
    scores[key] = (c.bound != 0 ? c.bound * std::tanh(dot * scale) : dot * scale) + added(key);
    most = std::max(most, scores[key]);
  }
  for (int64_t key = 0; key < c.keys; ++key)
    total += scores[key] == -INFINITY ? 0 : std::exp(scores[key] - most);
  for (int64_t key = 0; key < c.keys; ++key)
    for (int64_t i = 0; i < c.valueSize; ++i)
      if (scores[key] != -INFINITY)
        result[i] += std::exp(scores[key] - most) / total * v[key * c.valueSize + i];
  return result;
}

void Attention::check(const AttentionCase &c) {
  auto q = randomFloats(c.batch * c.queryHeads * c.queries * c.headSize, 1, 2);
  auto k = randomFloats(c.batch * c.keyHeads * c.keys * c.headSize, 2, 2);
  auto v = randomFloats(c.batch * c.keyHeads * c.keys * c.valueSize, 3, 2);
  auto added = randomFloats(c.queryHeads * c.queries * c.keys, 4, 3);
  std::vector<uint8_t> seen(c.queryHeads * c.queries * c.keys);
  for (size_t i = 0; i < seen.size(); ++i)
    seen[i] = added[i] > 0 || i % c.keys == 0;
  std::vector<uint16_t> q16 = narrowed(c.type, q), k16 = narrowed(c.type, k), v16 = narrowed(c.type, v),
                        added16 = narrowed(c.maskType, added);
  // Queries and results are [batch][position][head][element], keys and values
  // [batch][head][position][element].
  std::vector<float> moved(q.size()), output(c.batch * c.queryHeads * c.queries * c.valueSize);
  std::vector<uint16_t> moved16(q16.size()), out16(c.outputType == DType::F32 ? 0 : output.size());
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t h = 0; h < c.queryHeads; ++h)
      for (int64_t s = 0; s < c.queries; ++s)
        for (int64_t i = 0; i < c.headSize; ++i) {
          int64_t from = ((b * c.queryHeads + h) * c.queries + s) * c.headSize + i;
          int64_t to = ((b * c.queries + s) * c.queryHeads + h) * c.headSize + i;
          moved[to] = q[from];
          if (!q16.empty())
            moved16[to] = q16[from];
        }
  AttentionArgs args;
  args.type = c.type;
  args.outputType = c.outputType;
  args.maskType = c.maskType;
  args.batch = c.batch;
  args.queryHeads = c.queryHeads;
  args.keyHeads = c.keyHeads;
  args.queries = c.queries;
  args.keys = c.keys;
  args.headSize = c.headSize;
  args.valueSize = c.valueSize;
  args.q = {dataOf(moved16, moved),
            {c.queries * c.queryHeads * c.headSize, c.headSize, c.queryHeads * c.headSize}};
  args.k = {dataOf(k16, k), {c.keyHeads * c.keys * c.headSize, c.keys * c.headSize, c.headSize}};
  args.v = {dataOf(v16, v), {c.keyHeads * c.keys * c.valueSize, c.keys * c.valueSize, c.valueSize}};
  args.output = out16.empty() ? static_cast<void *>(output.data()) : out16.data();
  args.outputStrides[0] = c.queries * c.queryHeads * c.valueSize;
  args.outputStrides[1] = c.valueSize;
  args.outputStrides[2] = c.queryHeads * c.valueSize;
  args.scale = 1.2f / std::sqrt(static_cast<float>(c.headSize));
  args.bound = c.bound;
  args.causal = c.causal;
  args.causalOffset = c.keys - c.queries;
  args.mask = c.mask;
  args.maskData = c.mask == MaskKind::Additive ? dataOf(added16, added) : seen.data();
  const int64_t strides[] = {0, c.queries * c.keys, c.keys, 1};
  std::copy(strides, strides + 4, args.maskStrides);
  attention(context, args);
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t h = 0; h < c.queryHeads; ++h)
      for (int64_t s = 0; s < c.queries; ++s) {
        int64_t keyHead = b * c.keyHeads + h / (c.queryHeads / c.keyHeads),
                row = (h * c.queries + s) * c.keys;
        auto expected = attended(
            c, &q[((b * c.queryHeads + h) * c.queries + s) * c.headSize], &k[keyHead * c.keys * c.headSize],
            &v[keyHead * c.keys * c.valueSize], args.scale,
            [&](int64_t key) {
              return (!c.causal || key <= s + c.keys - c.queries) &&
                     (c.mask != MaskKind::Boolean || seen[row + key]);
            },
            [&](int64_t key) { return c.mask == MaskKind::Additive ? added[row + key] : 0; });
        for (int64_t i = 0; i < c.valueSize; ++i) {
          int64_t at = ((b * c.queries + s) * c.queryHeads + h) * c.valueSize + i;
          float got = out16.empty() ? output[at] : floatOf(c.outputType, out16[at]);
          double ulp = c.outputType == DType::BF16 ? 1.0 / 128 : 1.0 / 1024; // rounded once
          double bound = out16.empty() ? 3e-6 : 3e-6 + std::abs(expected[i]) * 0.51 * ulp + 3e-8;
          ASSERT_NEAR(got, expected[i], bound) << "head " << h << ", query " << s << ", element " << i;
        }
      }
}

TEST_P(Attention, SizesAndTails) {
  for (int64_t queries : {1, 2, 5, 29, 70})
    for (int64_t keys : {1, 7, 64, 65, 150, 256, 523})
      check({1, 2, 2, queries, keys, 16, 16});
  check({2, 3, 3, 9, 20, 5, 7});
  check({1, 1, 1, 33, 40, 64, 24});
  check({1, 1, 1, 4, 10, 1, 1});
  for (int64_t size : {8, 32, 40, 80, 160})
    check({1, 2, 2, 37, 77, size, size});
}

TEST_P(Attention, HeadsThatAreNotPackedTogether) {
  check({2, 36, 18, 5, 1024, 8, 120}); // 20 MB
}

TEST_P(Attention, CausalAndMasks) {
  for (MaskKind mask : {MaskKind::None, MaskKind::Additive, MaskKind::Boolean})
    for (bool causal : {false, true}) {
      check({2, 2, 2, 40, 40, 8, 8, causal, mask});
      check({1, 2, 2, 10, 90, 8, 8, causal, mask});
      check({1, 2, 1, 170, 300, 16, 72, causal, mask}); // parts end within a run, values in several panels
      check({1, 1, 1, 100, 601, 8, 8, causal, mask});
    }
}

TEST_P(Attention, WhatCausalQueriesDoNotSeeIsNotReadFromOlderMemory) {
  const int64_t size = 150 * 16;
  std::vector<float> q(size, NAN), k(size, 1), v(size, 1), output(size);
  AttentionArgs args;
  args.queries = args.keys = 150;
  args.headSize = args.valueSize = 16;
  args.q = {q.data(), {size, size, 16}};
  args.k = {k.data(), {size, size, 16}};
  args.v = {v.data(), {size, size, 16}};
  args.output = output.data();
  args.outputStrides[2] = 16;
  attention(context, args); // leaves scores that are no numbers
  ASSERT_TRUE(std::isnan(output[0]));
  check({1, 1, 1, 150, 150, 16, 16, true});
}

TEST_P(Attention, SharedKeyHeadsAndCaches) {
  check({1, 8, 2, 1, 130, 32, 32, true});
  check({1, 8, 2, 1, 530, 32, 32, true});
  check({2, 6, 1, 1, 17, 16, 16, true, MaskKind::Boolean});
  check({1, 40, 1, 1, 300, 16, 16, false, MaskKind::Additive});
  check({1, 4, 2, 30, 70, 16, 16, true});
}

TEST_P(Attention, HalfPrecision) {
  for (DType type : {DType::BF16, DType::F16}) {
    check({1, 2, 1, 20, 70, 16, 20, true, MaskKind::None, type, type});
    check({1, 2, 2, 2, 140, 19, 20, true, MaskKind::None, type, type});
    check({1, 2, 1, 170, 300, 16, 72, true, MaskKind::None, type, type});
    for (int64_t heads : {2, 3, 4, 5, 7, 8}) // of a key's: as many rows of one part
      check({2, 2 * heads, 2, 1, 300, 33, 32, false, MaskKind::Boolean, type, type});
  }
}

TEST_P(Attention, TypesOfMasksAndOutputs) {
  const DType types[] = {DType::F32, DType::BF16, DType::F16};
  for (DType type : types)
    for (DType output : types)
      for (DType mask : types) {
        check({1, 2, 1, 9, 150, 16, 16, false, MaskKind::Additive, type, output, mask});
        check({1, 6, 2, 1, 150, 16, 16, true, MaskKind::Additive, type, output, mask});
      }
}

TEST_P(Attention, BoundedScores) {
  for (MaskKind mask : {MaskKind::None, MaskKind::Additive, MaskKind::Boolean}) {
    AttentionCase c{1, 4, 2, 70, 150, 16, 16, true, mask};
    c.bound = 2.5f;
    check(c);
    c.queries = 1;
    check(c);
  }
}

TEST_P(Attention, QueriesThatSeeNothing) {
  std::vector<float> q(2 * 4, 1), k(3 * 4, 1), v = randomFloats(3 * 4), output(2 * 4);
  std::vector<uint8_t> seen = {0, 0, 0, 1, 0, 0};
  AttentionArgs args;
  args.queries = 2;
  args.keys = 3;
  args.headSize = args.valueSize = 4;
  args.q = {q.data(), {8, 8, 4}};
  args.k = {k.data(), {12, 12, 4}};
  args.v = {v.data(), {12, 12, 4}};
  args.output = output.data();
  args.outputStrides[2] = 4;
  args.mask = MaskKind::Boolean;
  args.maskData = seen.data();
  args.maskStrides[2] = 3;
  args.maskStrides[3] = 1;
  attention(context, args);
  EXPECT_TRUE(std::isnan(output[0]));
  EXPECT_FLOAT_EQ(output[5], v[1]);
  args.zeroWhenMasked = true;
  attention(context, args);
  EXPECT_EQ(output[0], 0);
  args.keys = 0;
  attention(context, args);
  EXPECT_EQ(output[5], 0);
}

TEST_P(Attention, RunsOfKeysThatNoQuerySees) {
  AttentionCase c{1, 1, 1, 150, 600, 16, 16}; // in three runs
  auto q = randomFloats(c.queries * 16, 1, 2), k = randomFloats(c.keys * 16, 2, 2),
       v = randomFloats(c.keys * 16, 3, 2);
  std::vector<float> output(c.queries * 16), added(c.queries * c.keys);
  std::vector<uint8_t> seen(c.queries * c.keys);
  AttentionArgs args;
  args.queries = c.queries;
  args.keys = c.keys;
  args.headSize = args.valueSize = 16;
  args.q = {q.data(), {0, 0, 16}};
  args.k = {k.data(), {0, 0, 16}};
  args.v = {v.data(), {0, 0, 16}};
  args.output = output.data();
  args.outputStrides[2] = 16;
  args.maskStrides[2] = c.keys;
  args.maskStrides[3] = 1;
  auto isCausal = [](int64_t query, int64_t key) { return key <= 4 * query && (key < 256 || key >= 512); };
  auto isPadded = [](int64_t query, int64_t key) { return key >= 300 && key - 300 <= 2 * query; };
  auto checkWith = [&](auto sees, MaskKind kind, float hidden) {
    for (int64_t i = 0; i < c.queries; ++i)
      for (int64_t key = 0; key < c.keys; ++key) {
        seen[i * c.keys + key] = sees(i, key);
        added[i * c.keys + key] = sees(i, key) ? 0.25f : hidden;
      }
    args.mask = kind;
    args.maskData = kind == MaskKind::Boolean ? static_cast<const void *>(seen.data())
                                              : static_cast<const void *>(added.data());
    attention(context, args);
    for (int64_t i = 0; i < c.queries; ++i) {
      auto expected = attended(
          c, &q[i * 16], k.data(), v.data(), 1, [&](int64_t key) { return sees(i, key); },
          [](int64_t) { return 0.0; });
      for (int64_t e = 0; e < 16; ++e)
        ASSERT_NEAR(output[i * 16 + e], expected[e], 3e-6) << "query " << i << ", element " << e;
    }
  };
  for (auto [kind, hidden] : {std::pair(MaskKind::Boolean, 0.0f), std::pair(MaskKind::Additive, -INFINITY),
                              std::pair(MaskKind::Additive, -3e38f)}) {
    checkWith(isCausal, kind, hidden);
    checkWith(isPadded, kind, hidden);
  }
}

TEST_P(Attention, NotANumberStaysInItsRow) {
  auto q = randomFloats(3 * 4), k = randomFloats(70 * 4), v = randomFloats(70 * 4);
  std::vector<float> output(12);
  q[5] = NAN;
  AttentionArgs args;
  args.queries = 3;
  args.keys = 70;
  args.headSize = args.valueSize = 4;
  args.q = {q.data(), {12, 12, 4}};
  args.k = {k.data(), {280, 280, 4}};
  args.v = {v.data(), {280, 280, 4}};
  args.output = output.data();
  args.outputStrides[2] = 4;
  attention(context, args);
  EXPECT_FALSE(std::isnan(output[0]) || std::isnan(output[8]));
  EXPECT_TRUE(std::isnan(output[4]) && std::isnan(output[7]));
}

/// A mask that is broadcast along the keys, or whose keys do not lie side by side.
TEST_P(Attention, StridesOfMasks) {
  const int64_t queries = 9, keys = 300, size = 8;
  auto q = randomFloats(queries * size, 1, 2), k = randomFloats(keys * size, 2, 2),
       v = randomFloats(keys * size, 3, 2), added = randomFloats(queries * keys, 4, 3);
  std::vector<uint8_t> seen(queries * keys);
  for (size_t i = 0; i < seen.size(); ++i)
    seen[i] = i % 3 != 0 || i < queries;
  std::vector<float> output(queries * size);
  AttentionCase c{1, 1, 1, queries, keys, size, size};
  AttentionArgs args;
  args.queries = queries;
  args.keys = keys;
  args.headSize = args.valueSize = size;
  args.q = {q.data(), {0, 0, size}};
  args.k = {k.data(), {0, 0, size}};
  args.v = {v.data(), {0, 0, size}};
  args.output = output.data();
  args.outputStrides[2] = size;
  for (MaskKind kind : {MaskKind::Additive, MaskKind::Boolean})
    for (auto [row, column] : {std::pair<int64_t, int64_t>(1, queries), {keys, 1}, {0, 1}, {1, 0}}) {
      args.mask = kind;
      args.maskData = kind == MaskKind::Additive ? static_cast<const void *>(added.data()) : seen.data();
      args.maskStrides[2] = row;
      args.maskStrides[3] = column;
      args.zeroWhenMasked = true;
      attention(context, args);
      for (int64_t i = 0; i < queries; ++i) {
        auto at = [&](int64_t key) { return i * row + key * column; };
        auto expected = attended(
            c, &q[i * size], k.data(), v.data(), 1,
            [&](int64_t key) { return kind == MaskKind::Additive || seen[at(key)]; },
            [&](int64_t key) { return kind == MaskKind::Additive ? double(added[at(key)]) : 0.0; });
        for (int64_t e = 0; e < size; ++e)
          ASSERT_NEAR(output[i * size + e], expected[e], 3e-6) << "query " << i << ", element " << e;
      }
    }
}

/// Each row of a group has its own largest score: of one with NaN, with an infinity, with none.
TEST_P(Attention, RowsOfOneGroup) {
  const int64_t queries = 16, keys = 270;
  std::vector<float> q(queries, 1), k(keys, 0.5f), v(keys, 2), output(queries), added(queries * keys);
  added[0 * keys + 3] = NAN;
  added[1 * keys + 265] = NAN;
  added[2 * keys + 7] = INFINITY;
  std::fill_n(&added[3 * keys], keys, -INFINITY);
  std::fill_n(&added[4 * keys], 260, -INFINITY); // sees a few keys of the second run
  std::fill_n(&added[5 * keys], keys, -3.4028235e38f);
  added[6 * keys + 1] = 80;
  added[7 * keys + 269] = 80;
  AttentionArgs args;
  args.queries = queries;
  args.keys = keys;
  args.headSize = args.valueSize = 1;
  args.q = {q.data(), {0, 0, 1}};
  args.k = {k.data(), {0, 0, 1}};
  args.v = {v.data(), {0, 0, 1}};
  args.output = output.data();
  args.outputStrides[2] = 1;
  args.mask = MaskKind::Additive;
  args.maskData = added.data();
  args.maskStrides[2] = keys;
  args.maskStrides[3] = 1;
  attention(context, args);
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_TRUE(std::isnan(output[i])) << "query " << i;
  for (int64_t i = 4; i < queries; ++i)
    EXPECT_NEAR(output[i], 2, 1e-6) << "query " << i;
}

TORCHERE_EVERY_ISA(Attention);

} // namespace
} // namespace torchere::cpu

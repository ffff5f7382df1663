// The joins of each type.
#include "cpu/kernels/scatter_joins.h"

#include "cpu/kernels/isa_dispatch.h"

#include <cstring>
#include <type_traits>

namespace torchere::cpu {
namespace {

struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};

float widened(Brain x) {
  uint32_t bits = static_cast<uint32_t>(x.bits) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
float widened(Half x) {
  uint32_t sign = (x.bits & 0x8000u) << 16, rest = x.bits & 0x7fffu, bits = 0;
  if (rest >= 0x7c00u) {
    bits = sign | 0x7f800000u | (rest << 13);
  } else {
    uint32_t raised = rest << 13;
    float magnitude;
    std::memcpy(&magnitude, &raised, sizeof magnitude);
    magnitude *= 0x1p112f;
    std::memcpy(&bits, &magnitude, sizeof bits);
    bits |= sign;
  }
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

void narrow(const Context &context, float value, Half *to) {
  kernelsOf(context.isa).finish[kF16]({&value, 0, to, 0, 1, 1, nullptr, nullptr, 0, Activation::None});
}
void narrow(const Context &context, float value, Brain *to) {
  kernelsOf(context.isa).finish[kBF16]({&value, 0, to, 0, 1, 1, nullptr, nullptr, 0, Activation::None});
}

constexpr auto kSum = [](auto a, auto b) { return a + b; };
constexpr auto kProduct = [](auto a, auto b) { return a * b; };
constexpr auto kMax = [](auto a, auto b) { return a != a ? a : b != b ? b : a > b ? a : b; };
constexpr auto kMin = [](auto a, auto b) { return a != a ? a : b != b ? b : a < b ? a : b; };
constexpr auto kAnd = [](auto a, auto b) { return a & b; };
constexpr auto kOr = [](auto a, auto b) { return a | b; };

template <class T, class Fn> void joinRun(const UpdateRun &run) {
  Fn fn{};
  T *x = reinterpret_cast<T *>(run.tensor);
  const T *u = reinterpret_cast<const T *>(run.updates);
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Brain>) {
    for (int64_t i = 0; i < run.n; ++i) {
      T &to = x[run.offsets ? run.offsets[i] : i * run.tensorStride];
      narrow(run.context, fn(widened(to), widened(u[i * run.updateStride])), &to);
    }
  } else if (run.offsets) {
    for (int64_t i = 0; i < run.n; ++i)
      x[run.offsets[i]] = static_cast<T>(fn(x[run.offsets[i]], u[i * run.updateStride]));
  } else if (run.tensorStride == 1 && run.updateStride == 1) {
    for (int64_t i = 0; i < run.n; ++i)
      x[i] = static_cast<T>(fn(x[i], u[i]));
  } else {
    for (int64_t i = 0; i < run.n; ++i)
      x[i * run.tensorStride] = static_cast<T>(fn(x[i * run.tensorStride], u[i * run.updateStride]));
  }
}

/// `W` is T unsigned, whose sums wrap.
template <class T, class W> JoinRun integerJoin(ScatterJoin join) {
  switch (join) {
  case ScatterJoin::Replace:
    return nullptr;
  case ScatterJoin::Sum:
    return joinRun<W, decltype(kSum)>;
  case ScatterJoin::Product:
    return joinRun<W, decltype(kProduct)>;
  case ScatterJoin::Max:
    return joinRun<T, decltype(kMax)>;
  case ScatterJoin::Min:
    return joinRun<T, decltype(kMin)>;
  case ScatterJoin::And:
    return joinRun<W, decltype(kAnd)>;
  case ScatterJoin::Or:
    return joinRun<W, decltype(kOr)>;
  }
  return nullptr;
}

template <class T> JoinRun floatJoin(ScatterJoin join) {
  return join == ScatterJoin::Sum       ? joinRun<T, decltype(kSum)>
         : join == ScatterJoin::Product ? joinRun<T, decltype(kProduct)>
         : join == ScatterJoin::Max     ? joinRun<T, decltype(kMax)>
         : join == ScatterJoin::Min     ? joinRun<T, decltype(kMin)>
                                        : nullptr;
}

} // namespace

JoinRun joinRunOf(DType type, ScatterJoin join) {
  switch (type) {
  case DType::Bool:
    return join == ScatterJoin::Sum || join == ScatterJoin::Max       ? joinRun<uint8_t, decltype(kOr)>
           : join == ScatterJoin::Product || join == ScatterJoin::Min ? joinRun<uint8_t, decltype(kAnd)>
                                                                      : integerJoin<uint8_t, uint8_t>(join);
  case DType::I8:
    return integerJoin<int8_t, uint8_t>(join);
  case DType::I16:
    return integerJoin<int16_t, uint16_t>(join);
  case DType::I32:
    return integerJoin<int32_t, uint32_t>(join);
  case DType::I64:
    return integerJoin<int64_t, uint64_t>(join);
  case DType::U8:
    return integerJoin<uint8_t, uint8_t>(join);
  case DType::U16:
    return integerJoin<uint16_t, uint16_t>(join);
  case DType::U32:
    return integerJoin<uint32_t, uint32_t>(join);
  case DType::U64:
    return integerJoin<uint64_t, uint64_t>(join);
  case DType::F16:
    return floatJoin<Half>(join);
  case DType::BF16:
    return floatJoin<Brain>(join);
  case DType::F32:
    return floatJoin<float>(join);
  case DType::F64:
    return floatJoin<double>(join);
  case DType::C32:
  case DType::C64:
  case DType::C128:
  case DType::F8E4M3FN:
  case DType::F8E4M3FNUZ:
  case DType::F8E5M2:
  case DType::F8E5M2FNUZ:
  case DType::F8E8M0FNU:
    break;
  }
  return nullptr;
}

} // namespace torchere::cpu

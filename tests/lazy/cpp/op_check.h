// Checks of an op: the CPU's values on the device, the counter of its kernel, and nothing computed on the
// CPU.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Operators.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torchere/lazy.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

/// Makes the operands of a call: the same values each time, on the CPU or on the device.
class Operands {
public:
  Operands(at::Device device, at::ScalarType dtype) : device(device), dtype(dtype) {}

  /// Of the sample's own dtype: between -2 and 2, and integers beyond.
  at::Tensor any(at::IntArrayRef sizes = {2, 3}) {
    if (dtype == at::kBool)
      return (wave(sizes) > 0).to(device);
    return (at::isIntegralType(dtype, false) ? (wave(sizes) * 3).round() + 3 : wave(sizes))
        .to(dtype)
        .to(device);
  }
  at::Tensor real(at::IntArrayRef sizes = {2, 3}) { return wave(sizes).to(device); }
  /// Between 0.1 and 0.9.
  at::Tensor probability(at::IntArrayRef sizes = {2, 3}) { return (wave(sizes) / 5 + 0.5).to(device); }
  at::Tensor integer(at::IntArrayRef sizes = {2, 3}) {
    return (wave(sizes) * 3).round().to(at::kLong).to(device);
  }

  /// The gradient of the sum of a function's result.
  at::Tensor gradient(const std::function<at::Tensor(const at::Tensor &)> &function, const at::Tensor &at) {
    at::Tensor leaf = at.detach().requires_grad_(true);
    at::Tensor result = function(leaf);
    return torch::autograd::grad({result.mul(result.detach() + 1).sum()}, {leaf}).front();
  }

  const at::Device device;
  const at::ScalarType dtype;

private:
  at::Tensor wave(at::IntArrayRef sizes) {
    int64_t count = c10::multiply_integers(sizes);
    return (at::arange(count, at::kFloat) * 0.731 + 0.37 * ++made).sin().mul(2).reshape(sizes);
  }
  int made = 0;
};

using Call = std::function<std::vector<at::Tensor>(Operands &)>;

inline std::vector<at::Tensor> listOf(at::Tensor tensor) {
  return {std::move(tensor)};
}
inline std::vector<at::Tensor> listOf(std::vector<at::Tensor> tensors) {
  return tensors;
}
template <class... Tensors> std::vector<at::Tensor> listOf(const std::tuple<Tensors...> &tensors) {
  return std::apply([](const auto &...each) { return std::vector<at::Tensor>{each...}; }, tensors);
}

/// The CPU's results, in the first dtype that it takes.
inline std::optional<at::ScalarType> dtypeOf(const Call &call, std::vector<at::Tensor> &results) {
  for (at::ScalarType dtype : {at::kFloat, at::kLong, at::kBool, at::kComplexFloat})
    try {
      Operands operands(at::kCPU, dtype);
      results = call(operands);
      return dtype;
    } catch (const c10::Error &) {
      continue;
    }
  return std::nullopt;
}

/// `op` is the name in the counters: "add".
inline void expectEqual(const std::string &op, const Call &call) {
  std::vector<at::Tensor> expected;
  std::optional<at::ScalarType> dtype = dtypeOf(call, expected);
  ASSERT_TRUE(dtype) << op << ": the CPU takes no sample";
  torchere::lazy::resetCounters();
  Operands operands(at::Device("xla:0"), *dtype);
  std::vector<at::Tensor> got = call(operands);
  std::map<std::string, int64_t> counters = torchere::lazy::counters();
  EXPECT_GE(counters["xla::" + op], 1) << op;
  for (const auto &[name, count] : counters)
    EXPECT_FALSE(name.starts_with("aten::")) << name << " was computed on the CPU";
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].defined(), expected[i].defined()) << op << ", result " << i;
    if (!got[i].defined())
      continue;
    EXPECT_TRUE(got[i].device().is_xla());
    EXPECT_EQ(got[i].scalar_type(), expected[i].scalar_type()) << op << ", result " << i;
    EXPECT_EQ(got[i].sizes(), expected[i].sizes()) << op << ", result " << i;
    at::Tensor values = got[i].cpu();
    EXPECT_TRUE(at::allclose(values, expected[i], 1e-5, 1e-6, /*equal_nan=*/true))
        << op << ", result " << i << ":\n"
        << values << "\nexpected:\n"
        << expected[i];
  }
}

// CallSignature: what a call may pass, and the texts of the errors.
#include "session/call_signature.h"

#include <gtest/gtest.h>

#include <deque>
#include <limits>

namespace torchere::session {
namespace {

using program::Constant;
using program::SymInt;

/// A program f(x: f32[<x>], y: f32[<y>], flag), with sizes given as text: "4", "s0", "2*s0 + 1".
class CallSignatureTest : public testing::Test {
protected:
  CallSignatureTest() { entryPoint.name = "forward"; }

  void addInput(const std::string &name, std::initializer_list<const char *> shape,
                DType dtype = DType::F32) {
    program::EntryInput input;
    input.name = name;
    input.position = entryPoint.userInputCount++;
    input.type.dtype = dtype;
    for (const char *size : shape)
      input.type.shape.push_back(*entryPoint.expressions.parse(size));
    entryPoint.inputs.push_back(std::move(input));
  }
  void addInteger(const std::string &name, const char *symbol) {
    addInput(name, {}, DType::I64);
    entryPoint.inputs.back().isSymInt = true;
    entryPoint.inputs.back().value = *entryPoint.expressions.parse(symbol);
  }
  void addConstant(const std::string &name, Constant value) {
    entryPoint.constantInputs.push_back({name, entryPoint.userInputCount++, std::move(value)});
  }
  void addRange(const char *expression, int64_t min, int64_t max = std::numeric_limits<int64_t>::max()) {
    entryPoint.rangeConstraints.push_back({*entryPoint.expressions.parse(expression), {min, max}});
  }
  Input tensor(std::initializer_list<int64_t> shape, DType dtype = DType::F32,
               std::string_view device = "cpu") {
    shapes.emplace_back(shape);
    return TensorView{nullptr, dtype, shapes.back(), {}, device, nullptr};
  }
  /// The error's text; empty when the inputs are accepted.
  std::string error(std::vector<Input> inputs) {
    CallSignature signature(entryPoint);
    Status status = signature.check(inputs, sizes);
    if (status && signature.isDynamic())
      status = signature.checkSizes(sizes);
    if (status)
      return "";
    EXPECT_EQ(status.error().code, ErrorCode::InvalidArgument);
    return status.error().message;
  }

  program::EntryPoint entryPoint;
  std::deque<std::vector<int64_t>> shapes;
  Sizes sizes;
};

TEST_F(CallSignatureTest, ChecksTheCount) {
  addInput("x", {"4"});
  addConstant("flag", Constant{true});
  EXPECT_EQ(error({tensor({4})}), "[forward] wrong number of inputs: got 1, expected 2 (x, flag)");
  EXPECT_EQ(error({tensor({4}), Constant{true}}), "");
}

TEST_F(CallSignatureTest, AProgramWithoutInputsSaysSo) {
  EXPECT_EQ(error({Constant{}}), "[forward] wrong number of inputs: got 1, expected 0 (none)");
}

TEST_F(CallSignatureTest, ChecksTensors) {
  addInput("x", {"4", "3"});
  EXPECT_EQ(error({tensor({4, 3})}), "");
  EXPECT_EQ(error({tensor({4, 3}, DType::F64)}), "[x] wrong dtype: got float64, expected float32");
  EXPECT_EQ(error({tensor({4, 3}, DType::F32, "cuda:0")}), "[x] wrong device: got cuda:0, expected cpu");
  EXPECT_EQ(error({tensor({4})}), "[x] wrong number of dimensions: got 1, expected 2");
  EXPECT_EQ(error({tensor({4, 5})}), "[x] wrong size of dimension 1: got 5, expected 3");
  EXPECT_EQ(error({Constant{}}), "[x] wrong kind of input: got None, expected a tensor");
}

TEST_F(CallSignatureTest, ChecksTensorsThatTheProgramDoesNotRead) {
  addInput("x", {"4"});
  entryPoint.unusedInputs.push_back(entryPoint.inputs.front());
  entryPoint.inputs.clear();
  EXPECT_EQ(error({tensor({5})}), "[x] wrong size of dimension 0: got 5, expected 4");
}

TEST_F(CallSignatureTest, ChecksConstants) {
  addConstant("mode", Constant{std::string("mean")});
  addConstant("none", Constant{});
  addConstant("sizes", Constant{Constant::List{Constant{int64_t{2}}, Constant{0.5}}});
  Constant sizesGiven{Constant::List{Constant{int64_t{2}}, Constant{0.5}}};
  Input mode = Constant{std::string("mean")};
  EXPECT_EQ(error({mode, Constant{}, sizesGiven}), "");
  EXPECT_EQ(error({Constant{std::string("sum")}, Constant{}, sizesGiven}),
            "[mode] wrong constant: got 'sum', expected 'mean', with which the program was captured");
  EXPECT_EQ(error({mode, Constant{false}, sizesGiven}),
            "[none] wrong constant: got False, expected None, with which the program was captured");
  EXPECT_EQ(error({mode, tensor({1}), sizesGiven}),
            "[none] wrong kind of input: got a tensor, expected None");
  EXPECT_EQ(error({mode, Constant{}, Constant{Constant::List{Constant{int64_t{2}}, Constant{0.25}}}}),
            "[sizes] wrong constant: got [2, 0.25], expected [2, 0.5], with which the program was captured");
}

TEST_F(CallSignatureTest, ConstantsOfEveryKindAreCompared) {
  double nan = std::numeric_limits<double>::quiet_NaN();
  const std::pair<Constant, Constant> cases[] = {
      {Constant{int64_t{2}}, Constant{int64_t{3}}},
      {Constant{true}, Constant{false}},
      {Constant{nan}, Constant{1.0}},
      {Constant{std::complex<double>(1, 2)}, Constant{std::complex<double>(1, -2)}},
      {Constant{DType::F32}, Constant{DType::F64}},
      {Constant{program::Device{"cpu"}}, Constant{program::Device{"cuda"}}},
      {Constant{program::Layout{"strided"}}, Constant{program::Layout{"sparse"}}},
      {Constant{program::MemoryFormat{"contiguous_format"}},
       Constant{program::MemoryFormat{"channels_last"}}},
  };
  const char *texts[] = {"got 3, expected 2",
                         "got False, expected True",
                         "got 1.0, expected nan",
                         "got (1-2j), expected (1+2j)",
                         "got torch.float64, expected torch.float32",
                         "got device 'cuda', expected device 'cpu'",
                         "got torch.sparse, expected torch.strided",
                         "got torch.channels_last, expected torch.contiguous_format"};
  for (size_t i = 0; i < std::size(cases); ++i) {
    entryPoint = {};
    addConstant("c", cases[i].first);
    EXPECT_EQ(error({cases[i].first}), "");
    EXPECT_EQ(error({cases[i].second}),
              fmt::format("[c] wrong constant: {}, with which the program was captured", texts[i]));
  }
}

TEST_F(CallSignatureTest, ChecksIntegers) {
  addInput("n", {}, DType::I64);
  entryPoint.inputs.front().isSymInt = true;
  EXPECT_EQ(error({Constant{int64_t{5}}}), "");
  EXPECT_EQ(error({Constant{5.0}}), "[n] wrong kind of input: got 5.0, expected an int");
  EXPECT_EQ(error({tensor({})}), "[n] wrong kind of input: got a tensor, expected an int");
}

TEST_F(CallSignatureTest, ChecksTheRangesOfIntegers) {
  addInteger("n", "s0");
  addRange("s0", -2, 8);
  EXPECT_EQ(error({Constant{int64_t{-2}}}), "");
  EXPECT_TRUE(sizes.empty());
  EXPECT_EQ(error({Constant{int64_t{9}}}), "[n] value (s0) out of range: got 9, expected -2 to 8");
  EXPECT_EQ(error({Constant{int64_t{-3}}}), "[n] value (s0) out of range: got -3, expected -2 to 8");
}

TEST_F(CallSignatureTest, IntegersInShapesAreSizes) {
  addInput("x", {"s1"});
  addInteger("n", "s0");
  entryPoint.inputs.back().isInShapes = true;
  addRange("s0", 2, 8);
  EXPECT_EQ(error({tensor({7}), Constant{int64_t{3}}}), "");
  EXPECT_EQ(sizes, (Sizes{7, 3}));
  EXPECT_EQ(error({tensor({7}), Constant{int64_t{9}}}),
            "[n] value (s0) out of range: got 9, expected 2 to 8");
}

TEST_F(CallSignatureTest, ChecksIntegersThatOtherSizesDependOn) {
  addInput("x", {"s0"});
  addInteger("n", "s0");
  addInteger("m", "s1");
  addRange("s0 - s1", 1);
  EXPECT_EQ(error({tensor({3}), Constant{int64_t{3}}, Constant{int64_t{2}}}), "");
  EXPECT_EQ(error({tensor({3}), Constant{int64_t{4}}, Constant{int64_t{2}}}),
            "[n] wrong value (s0): got 4, expected 3, as in dimension 0 of x");
  EXPECT_EQ(error({tensor({3}), Constant{int64_t{3}}, Constant{int64_t{5}}}),
            "[forward] s0 - s1 out of range: got -2, expected at least 1, for s0 = 3 (dimension 0 of x), "
            "s1 = 5 (m)");
}

TEST_F(CallSignatureTest, IntegersThatTheCaptureTookForOthersAreCompared) {
  addInteger("n", "s0");
  addInteger("m", "s0");
  EXPECT_EQ(error({Constant{int64_t{4}}, Constant{int64_t{4}}}), "");
  EXPECT_EQ(error({Constant{int64_t{4}}, Constant{int64_t{5}}}),
            "[m] wrong value (s0): got 5, expected 4, as in n");
  addInteger("k", "2*s0 + 1");
  EXPECT_EQ(error({Constant{int64_t{4}}, Constant{int64_t{4}}, Constant{int64_t{9}}}), "");
  EXPECT_EQ(error({Constant{int64_t{4}}, Constant{int64_t{4}}, Constant{int64_t{8}}}),
            "[k] wrong value (2*s0 + 1): got 8, expected 9 for s0 = 4");
}

TEST_F(CallSignatureTest, IntegersThatTheCaptureTookForSizesAreCompared) {
  addInput("x", {"x0"});
  addInteger("n", "x0 + 1");
  addInteger("m", "3*m0");
  EXPECT_EQ(error({tensor({4}), Constant{int64_t{5}}, Constant{int64_t{6}}}), "");
  EXPECT_EQ(error({tensor({4}), Constant{int64_t{4}}, Constant{int64_t{6}}}),
            "[n] wrong value (x0 + 1): got 4, expected 5 for x0 = 4");
  EXPECT_EQ(error({tensor({4}), Constant{int64_t{5}}, Constant{int64_t{7}}}),
            "[m] wrong value: got 7, expected a value of 3*m0 for an integer m0");
}

TEST_F(CallSignatureTest, NumbersOfOtherKindsMayBeEqual) {
  addConstant("c", Constant{1.0});
  EXPECT_EQ(error({Constant{int64_t{1}}}), "");
  EXPECT_EQ(error({Constant{true}}), "");
  entryPoint.constantInputs.clear();
  entryPoint.userInputCount = 0;
  addConstant("flag", Constant{true});
  EXPECT_EQ(error({Constant{int64_t{1}}}), "");
  EXPECT_EQ(error({Constant{1.0}}), "");
  EXPECT_EQ(error({Constant{1.5}}), "[flag] wrong constant: got 1.5 (a float), expected True (a bool), with "
                                    "which the program was captured");
  EXPECT_EQ(error({Constant{std::string("1")}}),
            "[flag] wrong constant: got '1', expected True, with which the program was captured");
}

TEST_F(CallSignatureTest, NumbersOfOtherKindsSayTheirs) {
  addConstant("c", Constant{3.0});
  EXPECT_EQ(error({Constant{int64_t{4}}}), "[c] wrong constant: got 4 (an int), expected 3.0 (a float), with "
                                           "which the program was captured");
  EXPECT_EQ(error({Constant{true}}), "[c] wrong constant: got True (a bool), expected 3.0 (a float), with "
                                     "which the program was captured");
  EXPECT_EQ(error({Constant{}}),
            "[c] wrong constant: got None, expected 3.0, with which the program was captured");
}

TEST_F(CallSignatureTest, GivesTheSizesOfDynamicDimensions) {
  addInput("x", {"s0", "4"});
  addInput("y", {"3", "s0"});
  EXPECT_EQ(error({tensor({7, 4}), tensor({3, 7})}), "");
  EXPECT_EQ(sizes, (Sizes{7, 7}));
  EXPECT_EQ(error({tensor({7, 4}), tensor({3, 6})}),
            "[y] wrong size of dimension 1 (s0): got 6, expected 7, as in dimension 0 of x");
  EXPECT_EQ(error({tensor({7, 5}), tensor({3, 7})}), "[x] wrong size of dimension 1: got 5, expected 4");
}

TEST_F(CallSignatureTest, ChecksRanges) {
  addInput("x", {"batch", "4"});
  addRange("batch", 1, 8);
  EXPECT_EQ(error({tensor({8, 4})}), "");
  EXPECT_EQ(error({tensor({9, 4})}), "[x] size of dimension 0 (batch) out of range: got 9, expected 1 to 8");
  EXPECT_EQ(error({tensor({0, 4})}), "[x] size of dimension 0 (batch) out of range: got 0, expected 1 to 8");
  entryPoint.rangeConstraints.clear();
  addRange("batch", 2);
  EXPECT_EQ(error({tensor({1, 4})}),
            "[x] size of dimension 0 (batch) out of range: got 1, expected at least 2");
  entryPoint.rangeConstraints.clear();
  addRange("batch", std::numeric_limits<int64_t>::min(), 6);
  EXPECT_EQ(error({tensor({7, 4})}),
            "[x] size of dimension 0 (batch) out of range: got 7, expected at most 6");
}

TEST_F(CallSignatureTest, SolvesLinearExpressions) {
  addInput("x", {"2*s0 + 1"});
  addInput("y", {"s0 + s1"});
  addInput("z", {"s0*s1"});
  addRange("s0", 1, 8);
  EXPECT_EQ(error({tensor({7}), tensor({5}), tensor({6})}), ""); // s0 = 3, s1 = 2
  EXPECT_EQ(error({tensor({8}), tensor({5}), tensor({6})}),
            "[x] wrong size of dimension 0: got 8, expected a value of 2*s0 + 1 for an integer s0");
  EXPECT_EQ(error({tensor({7}), tensor({5}), tensor({7})}),
            "[z] wrong size of dimension 0 (s0*s1): got 7, expected 6 for s0 = 3, s1 = 2");
  EXPECT_EQ(error({tensor({19}), tensor({10}), tensor({9})}),
            "[forward] s0 out of range: got 9, expected 1 to 8, from dimension 0 of x");
}

TEST_F(CallSignatureTest, ChecksRangesOfExpressions) {
  addInput("x", {"s0"});
  addRange("3*s0", 6, 30);
  EXPECT_EQ(error({tensor({10})}), "");
  EXPECT_EQ(error({tensor({11})}),
            "[forward] 3*s0 out of range: got 33, expected 6 to 30, for s0 = 11 (dimension 0 of x)");
}

TEST_F(CallSignatureTest, ChecksWhatSizesMustBeToEachOther) {
  addInput("x", {"s0", "s1"});
  addRange("s0 - s1", 0, 0);
  EXPECT_EQ(error({tensor({3, 3})}), "");
  EXPECT_EQ(error({tensor({3, 4})}), "[forward] s0 - s1 out of range: got -1, expected 0, for "
                                     "s0 = 3 (dimension 0 of x), s1 = 4 (dimension 1 of x)");
}

TEST_F(CallSignatureTest, WhatCannotBeSolvedIsNotChecked) {
  addInput("x", {"Max(1, s0)"});
  addInput("y", {"s1//2"});
  addRange("s0", 5, 8);
  EXPECT_EQ(error({tensor({3}), tensor({3})}), "");
}

TEST_F(CallSignatureTest, DivisionsAreCheckedOnceTheSymbolIsKnown) {
  addInput("x", {"s0//2"});
  addInput("y", {"s0"});
  EXPECT_EQ(error({tensor({3}), tensor({7})}), "");
  EXPECT_EQ(error({tensor({4}), tensor({7})}),
            "[x] wrong size of dimension 0 ((s0//2)): got 4, expected 3 for s0 = 7");
}

} // namespace
} // namespace torchere::session

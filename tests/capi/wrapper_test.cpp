// The C++ wrapper, as its users have it: this file includes nothing else of the project.
#include <torchere/torchere.hpp>

#include "saved_programs.h"

#include <array>
#include <bit>
#include <future>
#include <gtest/gtest.h>

namespace {

using torchere::capi::relayPlugin;
using torchere::capi::SavedPrograms;

const SavedPrograms &programs() {
  static SavedPrograms saved;
  return saved;
}

torchere::Client openClient() {
  return torchere::Client({.plugin = relayPlugin(), .cache = {.use = torchere::Cache::Use::Off}});
}

torchere::Program open(const std::string &name) {
  torchere::Client client = openClient();
  return torchere::Program::load(programs().path(name), {.client = &client});
}

TEST(WrapperTest, CallsByPlaceByNameAndByMap) {
  torchere::Program program = open("dynamic");
  std::vector<float> x = {1, 2, 3, 4};
  torchere::Result result = program({torchere::TensorView(x, {2, 2}), 7});
  EXPECT_EQ(result.size(), 3u);
  EXPECT_EQ(result[0].copy<float>(), (std::vector<float>{3, 10, 9, 20}));
  EXPECT_EQ(result["doubled"].shape(), (torchere::Shape{4, 2}));
  torchere::View<const float> view = result["y"].view<float>();
  EXPECT_EQ(view(1, 0), 9);
  EXPECT_EQ(view.extent(1), 2);
  EXPECT_EQ(std::get<std::string>(result["mode"].constant()), "mean");

  torchere::TensorView tensor(x, {2, 2});
  EXPECT_EQ(program({{"n", 7}, {"x", tensor}})[0].copy<float>(), result[0].copy<float>());
  EXPECT_EQ(program({{"mode", "mean"}, {"n", 7}, {"x", tensor}})[0].copy<float>()[3], 20);
  std::map<std::string, torchere::Input> named = {{"x", tensor}, {"n", 7}};
  EXPECT_EQ(program(named)[0].copy<float>()[3], 20);
  EXPECT_EQ(program("forward")({{"x", tensor}, {"n", 7}})[0].copy<float>()[3], 20);
  EXPECT_EQ(program.async(named)[0].copy<float>()[3], 20);
}

TEST(WrapperTest, Describes) {
  torchere::Program program = open("dynamic");
  std::vector<torchere::ValueInfo> inputs = program.inputs();
  ASSERT_EQ(inputs.size(), 3u);
  EXPECT_EQ(inputs[0].name, "x");
  EXPECT_EQ(inputs[0].dtype, torchere::DType::Float32);
  EXPECT_TRUE(inputs[0].dimensions[0].isDynamic());
  EXPECT_EQ(inputs[0].dimensions[0].name, "batch");
  EXPECT_EQ(inputs[0].dimensions[0].maximum, 8);
  EXPECT_EQ(inputs[1].kind, torchere::Kind::Int);
  EXPECT_EQ(std::get<std::string>(inputs[2].constant), "mean");
  EXPECT_EQ(program.outputs()[1].dimensions[0].name, "2*batch");
  EXPECT_EQ(program.functions().front().name(), "forward");
  EXPECT_EQ(program.functions().front().counts().calls, 0);
  EXPECT_EQ(program.client().platform(), "interpreter");
  EXPECT_EQ(program.client().devices().front().id, program.device().id);
  EXPECT_EQ(torchere::nameOf(torchere::DType::BFloat16), "bfloat16");
}

TEST(WrapperTest, ErrorsAreExceptions) {
  torchere::Program program = open("dynamic");
  std::vector<double> x = {1, 2};
  try {
    program({torchere::TensorView(x, {1, 2}), 7});
    FAIL() << "a wrong dtype was taken";
  } catch (const torchere::Error &error) {
    EXPECT_EQ(error.code(), torchere::ErrorCode::InvalidArgument);
    EXPECT_STREQ(error.codeName(), "INVALID_ARGUMENT");
    EXPECT_STREQ(error.what(), "[x] wrong dtype: got float64, expected float32");
  }
  std::vector<float> good = {1, 2};
  torchere::Result result = program({torchere::TensorView(good, {1, 2}), 7});
  EXPECT_THROW(result[0].data<double>(), torchere::Error);
  EXPECT_THROW(result[0].item<float>(), torchere::Error);
  EXPECT_THROW(result[9], torchere::Error);
  EXPECT_THROW(result["z"], torchere::Error);
  EXPECT_THROW(torchere::Program::load("/none"), torchere::Error);
  EXPECT_THROW(program("encode"), torchere::Error);
}

TEST(WrapperTest, FuturesGoOnAndFeedOtherCalls) {
  torchere::Program program = open("mutating");
  std::array<float, 2> x = {1, 2};
  torchere::Future future = program.async({x});
  for (int round = 0; round < 3; ++round)
    future = program.async({future[0]});
  std::promise<bool> failed;
  future.then([&](const torchere::Error *error) { failed.set_value(error != nullptr); });
  EXPECT_FALSE(failed.get_future().get());
  EXPECT_EQ(future.result()[0].copy<float>(), (std::vector<float>{5, 6}));
  EXPECT_TRUE(future.isReady());
  torchere::Array array = program.toDevice(torchere::TensorView(x));
  EXPECT_EQ(program({array})["x"].copy<float>(), (std::vector<float>{2, 4}));
  EXPECT_EQ(array.view<float>()(1), 2);
}

TEST(WrapperTest, WritesIntoTheCallersMemory) {
  torchere::Program program = open("identity");
  std::array<float, 2> x = {1, 2}, y = {};
  program.into({y}, {x});
  EXPECT_EQ(y, x);
  std::array<float, 1> little = {};
  EXPECT_THROW(program.into({{"output", little}}, {x}), torchere::Error);
  std::array<std::byte, 8> bytes = {};
  program.into({bytes}, {x});
  EXPECT_EQ((std::bit_cast<std::array<float, 2>>(bytes)), x);
}

TEST(WrapperTest, RefusesMemoryOfAnotherDType) {
  torchere::Program program = open("identity");
  std::array<float, 2> x = {1, 2};
  std::array<double, 2> y = {-1, -1};
  for (torchere::Destination destination : {torchere::Destination(y), torchere::Destination("output", y)})
    try {
      program.into({destination}, {x});
      FAIL() << "elements of f32 were written as such of f64";
    } catch (const torchere::Error &error) {
      EXPECT_STREQ(error.what(), "[output] wrong dtype: got float64, expected float32");
      EXPECT_EQ(y[0], -1);
    }
}

TEST(WrapperTest, StateIsKeptAndGoneBackTo) {
  torchere::Program program = open("counter");
  std::array<float, 2> x = {1, 2};
  program({x});
  torchere::Snapshot snapshot = program.snapshot();
  torchere::Program clone = program.clone();
  program({x});
  EXPECT_EQ(program.read<float>("count"), (std::vector<float>{12, 24}));
  program.restore(snapshot);
  EXPECT_EQ(program.read<float>("count"), (std::vector<float>{11, 22}));
  program.write({{"count", torchere::TensorView(x)}});
  EXPECT_EQ(program("peek")()[0].copy<float>(), (std::vector<float>{-1, -2}));
  EXPECT_EQ(clone.read<float>("count"), (std::vector<float>{11, 22}));
  program.reset();
  EXPECT_EQ(program.read<float>("count"), (std::vector<float>{10, 20}));
  EXPECT_EQ(program.states().front().name, "count");
  EXPECT_THROW(program.read<double>("count"), torchere::Error);
}

TEST(WrapperTest, WeightsAreGivenAtLoad) {
  torchere::Client client = openClient();
  std::array<float, 2> w = {1, 1}, x = {6, 7};
  torchere::Program program = torchere::Program::load(
      programs().path("dynamic"), {.client = &client, .weights = {{"w", torchere::TensorView(w)}}});
  EXPECT_EQ(program({torchere::TensorView(x, {1, 2}), 0})["y"].copy<float>(), (std::vector<float>{6, 7}));
}

} // namespace

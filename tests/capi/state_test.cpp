// State through the C ABI: read, written, kept in snapshots, cloned; weights given at load.
#include "capi_fixture.h"

namespace torchere::capi {
namespace {

class StateTest : public CapiTest {
protected:
  void add(torchere_program program, float value) {
    torchere_result result = call(program, 0, {input({value, value}, {2})});
    EXPECT_EQ(torchere_result_destroy(result), TORCHERE_OK);
  }
  static std::vector<float> count(torchere_program program) {
    std::vector<float> values(2);
    EXPECT_EQ(torchere_program_read(program, "count", values.data(), 8), TORCHERE_OK)
        << torchere_error_message();
    return values;
  }
};

TEST_F(StateTest, IsCarriedFromCallToCall) {
  torchere_program program = load("counter");
  size_t states = 0, function = 0;
  ASSERT_EQ(torchere_program_state_count(program, &states), TORCHERE_OK);
  ASSERT_EQ(states, 1u);
  auto info = sized<torchere_value_info>();
  ASSERT_EQ(torchere_program_get_state(program, 0, &info), TORCHERE_OK);
  EXPECT_STREQ(info.name, "count");
  EXPECT_EQ(info.dims[0], 2);
  add(program, 1);
  add(program, 2);
  EXPECT_EQ(count(program), (std::vector<float>{13, 23}));
  ASSERT_EQ(torchere_program_find_function(program, "peek", &function), TORCHERE_OK);
  torchere_result result = call(program, function, {});
  EXPECT_EQ(floats(result), (std::vector<float>{-13, -23}));
  EXPECT_EQ(torchere_result_destroy(result), TORCHERE_OK);
  ASSERT_EQ(torchere_program_reset(program), TORCHERE_OK);
  EXPECT_EQ(count(program), (std::vector<float>{10, 20}));
  EXPECT_EQ(torchere_program_manual_seed(program, 7), TORCHERE_OK); // draws no random numbers
  EXPECT_EQ(torchere_program_destroy(program), TORCHERE_OK);
}

TEST_F(StateTest, SnapshotsAreGoneBackTo) {
  torchere_program program = load("counter");
  add(program, 1);
  torchere_snapshot snapshot = nullptr;
  ASSERT_EQ(torchere_program_snapshot(program, &snapshot), TORCHERE_OK) << torchere_error_message();
  add(program, 5);
  EXPECT_EQ(count(program), (std::vector<float>{16, 26}));
  ASSERT_EQ(torchere_program_restore(program, snapshot), TORCHERE_OK);
  EXPECT_EQ(count(program), (std::vector<float>{11, 21}));
  add(program, 1);
  torchere_program other = load("counter");
  ASSERT_EQ(torchere_program_restore(other, snapshot), TORCHERE_OK);
  EXPECT_EQ(count(other), (std::vector<float>{11, 21}));
  torchere_program without = load("identity");
  expectError(torchere_program_restore(without, snapshot), TORCHERE_NOT_FOUND,
              "[count] no such state in the program: expected one of ");
  EXPECT_EQ(torchere_snapshot_destroy(snapshot), TORCHERE_OK);
  expectError(torchere_program_restore(program, snapshot), TORCHERE_INVALID_ARGUMENT,
              "[snapshot] no such handle: it was destroyed, or never made");
  for (torchere_program each : {program, other, without})
    EXPECT_EQ(torchere_program_destroy(each), TORCHERE_OK);
}

TEST_F(StateTest, ClonesGoTheirOwnWay) {
  torchere_program program = load("counter");
  add(program, 1);
  torchere_program clone = nullptr;
  ASSERT_EQ(torchere_program_clone(program, &clone), TORCHERE_OK) << torchere_error_message();
  add(program, 1);
  EXPECT_EQ(torchere_program_destroy(program), TORCHERE_OK);
  add(clone, 3);
  EXPECT_EQ(count(clone), (std::vector<float>{14, 24}));
  EXPECT_EQ(torchere_program_destroy(clone), TORCHERE_OK);
}

TEST_F(StateTest, IsWrittenAllOrNone) {
  torchere_program program = load("counter");
  torchere_tensor state = tensor({1, 2}, {2});
  state.name = "count";
  ASSERT_EQ(torchere_program_write(program, &state, 1), TORCHERE_OK) << torchere_error_message();
  EXPECT_EQ(count(program), (std::vector<float>{1, 2}));
  torchere_tensor both[] = {tensor({5, 6}, {2}), tensor({7}, {1})};
  both[0].name = "count";
  both[1].name = "other";
  expectError(torchere_program_write(program, both, 2), TORCHERE_NOT_FOUND,
              "[other] no such state in the program: expected one of count");
  both[1].name = nullptr;
  expectError(torchere_program_write(program, both, 2), TORCHERE_INVALID_ARGUMENT,
              "[name] null pointer: expected an address");
  EXPECT_EQ(count(program), (std::vector<float>{1, 2}));
  float value = 0;
  expectError(torchere_program_read(program, "count", &value, sizeof value), TORCHERE_OUT_OF_RANGE,
              "[count] memory too short: got 4 bytes, expected at least 8");
  expectError(torchere_program_read(program, "other", &value, sizeof value), TORCHERE_NOT_FOUND,
              "[other] no such weight in the program");
  EXPECT_EQ(torchere_program_destroy(program), TORCHERE_OK);
}

TEST_F(StateTest, ThePrecisionIsGivenAtLoad) {
  auto options = sized<torchere_load_options>();
  options.client = client;
  options.precision = "highest";
  torchere_program program = nullptr;
  std::string path = savedPrograms().path("dynamic");
  ASSERT_EQ(torchere_program_load(path.c_str(), &options, &program), TORCHERE_OK) << torchere_error_message();
  torchere_result result = call(program, 0, {input({1, 2}, {1, 2}), input(1)});
  EXPECT_EQ(torchere_result_destroy(result), TORCHERE_OK);
  EXPECT_EQ(torchere_program_destroy(program), TORCHERE_OK);
  options.precision = "best";
  EXPECT_EQ(torchere_program_load(path.c_str(), &options, &program), TORCHERE_INVALID_ARGUMENT);
  EXPECT_STREQ(torchere_error_message(),
               "[precision] of products: got \"best\", expected \"default\", \"high\" or \"highest\"");
}

TEST_F(StateTest, WeightsAreGivenAtLoad) {
  torchere_tensor w = tensor({100, 1000}, {2});
  w.name = "w";
  auto options = sized<torchere_load_options>();
  options.client = client;
  options.weights = &w;
  options.weight_count = 1;
  torchere_program program = nullptr;
  std::string path = savedPrograms().path("dynamic");
  ASSERT_EQ(torchere_program_load(path.c_str(), &options, &program), TORCHERE_OK) << torchere_error_message();
  memory.back() = {0, 0}; // it is a copy
  torchere_result result = call(program, 0, {input({1, 2}, {1, 2}), input(1)});
  EXPECT_EQ(floats(result), (std::vector<float>{100, 2000}));
  EXPECT_EQ(torchere_result_destroy(result), TORCHERE_OK);
  EXPECT_EQ(torchere_program_destroy(program), TORCHERE_OK);
  w.name = "v";
  expectError(torchere_program_load(path.c_str(), &options, &program), TORCHERE_NOT_FOUND,
              "[v] no such weight in the program: expected one of w");
}

} // namespace
} // namespace torchere::capi

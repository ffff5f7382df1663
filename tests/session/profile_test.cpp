// CallProfile: the plugin's report, its table, its trace, and reports that are none.
#include "session/profile.h"

#include <gtest/gtest.h>

namespace torchere::session {
namespace {

constexpr const char *report = R"({"program": "main", "isa": "avx2", "threads": 2, "peak_flops": 1e11,
  "peak_bandwidth": 1e10, "seconds": 0.004, "rows": [
    {"kernel": "copy", "op": "", "source": "", "runs": 2, "seconds": 0.001, "flops": 0, "bytes": 5000000},
    {"kernel": "matmul", "op": "stablehlo.dot_general", "source": "model.py:31", "runs": 1, "seconds": 0.003,
     "flops": 1.5e8, "bytes": 3000000}],
  "events": [[0, 0.0, 0.0005], [1, 0.0005, 0.003], [0, 0.0035, 0.0005]]})";

TEST(CallProfile, HasARateForEachKernel) {
  auto profile = CallProfile::parse(report, "plugin");
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->rows.size(), 2u);
  EXPECT_EQ(profile->rateOf(profile->rows[0]).text, "5.0 GB/s");
  EXPECT_DOUBLE_EQ(profile->rateOf(profile->rows[0]).share, 0.5);
  EXPECT_EQ(profile->rateOf(profile->rows[1]).text, "50.0 GFLOP/s"); // half of one peak, a tenth of the other
  EXPECT_DOUBLE_EQ(profile->rateOf(profile->rows[1]).share, 0.5);
  ProfileRow slow = profile->rows[1];
  slow.flops = 1e6;
  EXPECT_EQ(profile->rateOf(slow).text, "1.0 GB/s");
  slow.bytes = slow.flops = 0;
  EXPECT_EQ(profile->rateOf(slow).text, "");
  std::string table = profile->table();
  EXPECT_LT(table.find("matmul"), table.find("  copy  ")) << table; // the longest first
  EXPECT_NE(table.find("75.0%"), std::string::npos) << table;
}

TEST(CallProfile, IsATrace) {
  auto profile = CallProfile::parse(report, "plugin");
  ASSERT_TRUE(profile);
  auto trace = parseJson(profile->chromeTrace(), "trace");
  ASSERT_TRUE(trace) << trace.error().text();
  ASSERT_EQ((*trace)["traceEvents"].size(), 3u);
  const Json &event = (*trace)["traceEvents"][1];
  EXPECT_EQ(event["name"], "stablehlo.dot_general");
  EXPECT_EQ(event["ph"], "X");
  EXPECT_DOUBLE_EQ(event["ts"].get<double>(), 500);
  EXPECT_DOUBLE_EQ(event["dur"].get<double>(), 3000);
  EXPECT_EQ((*trace)["traceEvents"][0]["name"], "copy");
}

TEST(CallProfile, RefusesWhatIsNoReport) {
  auto errorOf = [](std::string text, const std::string &from, const std::string &to) {
    text.replace(text.find(from), from.size(), to);
    auto profile = CallProfile::parse(text, "plugin");
    return profile ? "none" : profile.error().message;
  };
  EXPECT_EQ(errorOf(report, "[1, 0.0005, 0.003]", "[2, 0.0005, 0.003]"),
            "[plugin] events[1]: no such row: got 2, expected less than 2");
  EXPECT_NE(errorOf(report, "[1, 0.0005, 0.003]", "[1]"), "none");
  EXPECT_NE(errorOf(report, "\"runs\": 2", "\"runs\": \"2\""), "none");
  EXPECT_NE(errorOf(report, "{", ""), "none");
}

} // namespace
} // namespace torchere::session

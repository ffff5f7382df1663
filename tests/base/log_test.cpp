// Log: which lines are shown, what they look like, and that hidden ones cost no formatting.
#include "base/log.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace torchere {
namespace {

/// Every test starts as a new process would.
class Log : public testing::Test {
protected:
  void SetUp() override { logThreshold = -1; }
  void TearDown() override {
    ::unsetenv("TORCHERE_LOG");
    logThreshold = -1;
  }
  std::string shown(const char *level) {
    level ? ::setenv("TORCHERE_LOG", level, 1) : ::unsetenv("TORCHERE_LOG");
    testing::internal::CaptureStderr();
    TORCHERE_LOG_LINE(Error, "plugin", "cannot be loaded");
    TORCHERE_LOG_LINE(Warning, "save", "{} files are left", 2);
    TORCHERE_LOG_LINE(Info, "compile", "took {} ms", 7);
    TORCHERE_LOG_LINE(Debug, "compile", "key {}", "k");
    return testing::internal::GetCapturedStderr();
  }
};

const std::string errorLine = "torchere error [plugin] cannot be loaded\n";
const std::string warningLine = "torchere warning [save] 2 files are left\n";

TEST_F(Log, ShowsWarningsWhenNotAsked) {
  EXPECT_EQ(shown(nullptr), errorLine + warningLine);
}

TEST_F(Log, Off) {
  EXPECT_EQ(shown("off"), "");
}

TEST_F(Log, Error) {
  EXPECT_EQ(shown("error"), errorLine);
}

TEST_F(Log, Debug) {
  EXPECT_EQ(shown("debug"), errorLine + warningLine + "torchere info [compile] took 7 ms\n" +
                                "torchere debug [compile] key k\n");
}

TEST_F(Log, AnUnknownLevelIsReportedOnce) {
  EXPECT_EQ(shown("verbose"),
            "torchere warning [TORCHERE_LOG] is no level: got \"verbose\", expected off, error, "
            "warning, info or debug\n" +
                errorLine + warningLine);
  EXPECT_EQ(shown("verbose"), errorLine + warningLine);
}

TEST_F(Log, HiddenLinesEvaluateNothing) {
  setLogLevel(LogLevel::Error);
  int evaluated = 0;
  TORCHERE_LOG_LINE(Info, "test", "{}", ++evaluated);
  EXPECT_EQ(evaluated, 0);
}

} // namespace
} // namespace torchere

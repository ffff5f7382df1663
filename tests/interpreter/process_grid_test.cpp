// ProcessGrid: tasks that cannot be started, or that throw.
#include "interpreter/process_grid.h"

#include "../few_threads.h"

#include <new>
#include <stdexcept>

namespace torchere::interpreter {
namespace {

Values number(uint64_t value) {
  return {Tensor::scalar(Element::integer(ElementType::I64, value))};
}

TEST(ProcessGrid, ReturnsTheResultsOfAllTasks) {
  ProcessGrid grid(2, 1);
  auto sum = [&]() -> Result<Values> {
    grid.send("one", number(1));
    return grid.receive("two");
  };
  auto other = [&]() -> Result<Values> {
    grid.send("two", number(2));
    return grid.receive("one");
  };
  auto results = grid.runAll({sum, other});
  ASSERT_TRUE(results) << results.error().text();
  ASSERT_EQ(results->size(), 2u);
  EXPECT_EQ((*results)[0].tensor().integers(), Index{2});
  EXPECT_EQ((*results)[1].tensor().integers(), Index{1});
}

/// Those that have one wait for the rest in vain, and end.
TEST(ProcessGrid, TellsThatThereIsNoThread) {
  ProcessGrid grid(4, 1);
  std::vector<ProcessGrid::Program> programs(4, [&] { return grid.receive("nothing"); });
  FewThreads few(2);
  auto results = grid.runAll(std::move(programs));
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().code, ErrorCode::ResourceExhausted);
  EXPECT_EQ(results.error().message, "no thread for task 3 of the program: Resource temporarily unavailable");
}

TEST(ProcessGrid, ATaskWithoutAThreadHasEnded) {
  ProcessGrid grid(1, 1);
  FewThreads few(0);
  ProcessGrid::Task &task = grid.start([] { return Result<Values>(number(1)); });
  auto result = grid.finish(task);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::ResourceExhausted);
}

TEST(ProcessGrid, ExceptionsAreErrors) {
  auto errorOf = [](const ProcessGrid::Program &program) {
    ProcessGrid grid(2, 1);
    auto results = grid.runAll({[&] { return grid.receive("nothing"); }, program});
    return results ? Error() : results.error();
  };
  Error noMemory = errorOf([]() -> Result<Values> { throw std::bad_alloc(); });
  EXPECT_EQ(noMemory.code, ErrorCode::ResourceExhausted);
  EXPECT_EQ(noMemory.message, "no memory");
  Error other = errorOf([]() -> Result<Values> { throw std::runtime_error("too long"); });
  EXPECT_EQ(other.code, ErrorCode::Internal);
  EXPECT_EQ(other.message, "too long");
}

} // namespace
} // namespace torchere::interpreter

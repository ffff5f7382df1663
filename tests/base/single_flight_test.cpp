// SingleFlight: one thread makes a value, the others get it, its error or its exception.
#include "base/single_flight.h"

#include <gtest/gtest.h>

#include <functional>
#include <latch>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace torchere {
namespace {

using Value = std::shared_ptr<int>;

/// Four threads that ask for the value of key 1. It is made when all of them have seen that it is not there.
class Flight {
public:
  static constexpr int threadCount = 4;
  Value kept;
  int made = 0;

  std::vector<std::string> askedBy4(const std::function<Result<Value>()> &make) {
    std::latch asked(threadCount);
    std::vector<std::string> answers(threadCount);
    std::vector<std::thread> threads;
    for (std::string &answer : answers)
      threads.emplace_back([&] {
        answer = ask(
            [&] {
              asked.count_down();
              return kept;
            },
            [&] {
              asked.wait();
              ++made;
              return make();
            });
      });
    for (std::thread &thread : threads)
      thread.join();
    return answers;
  }
  std::string ask(const std::function<Value()> &find, const std::function<Result<Value>()> &make) {
    try {
      auto value = flights.get(1, find, make, [&](const Value &value) { kept = value; });
      return value ? std::to_string(**value) : value.error().message;
    } catch (const std::bad_alloc &) {
      return "no memory";
    }
  }
  std::string askAlone() {
    return ask([&] { return kept; }, [&] { return std::make_shared<int>(++made); });
  }

private:
  SingleFlight<int, Value> flights;
};

std::vector<std::string> fourTimes(const std::string &answer) {
  return std::vector<std::string>(4, answer);
}

TEST(SingleFlight, OneThreadMakesTheValueForAll) {
  Flight flight;
  EXPECT_EQ(flight.askedBy4([] { return std::make_shared<int>(7); }), fourTimes("7"));
  EXPECT_EQ(flight.made, 1);
  EXPECT_EQ(flight.askAlone(), "7"); // kept
}

TEST(SingleFlight, AnErrorIsForAllAndIsNotKept) {
  Flight flight;
  EXPECT_EQ(flight.askedBy4([] { return invalidArgument("[x] wrong: got 1, expected 2"); }),
            fourTimes("[x] wrong: got 1, expected 2"));
  EXPECT_EQ(flight.made, 1);
  EXPECT_EQ(flight.kept, nullptr);
  EXPECT_EQ(flight.askAlone(), "2");
}

TEST(SingleFlight, AnExceptionIsForAllAndIsNotKept) {
  Flight flight;
  EXPECT_EQ(flight.askedBy4([]() -> Result<Value> { throw std::bad_alloc(); }), fourTimes("no memory"));
  EXPECT_EQ(flight.made, 1);
  EXPECT_EQ(flight.askAlone(), "2");
}

TEST(SingleFlight, OtherKeysAreMadeMeanwhile) {
  SingleFlight<int, Value> flights;
  auto none = [] { return Value(); };
  auto drop = [](const Value &) {};
  std::latch bothMade(2);
  auto make = [&](int value) -> Result<Value> {
    bothMade.arrive_and_wait();
    return std::make_shared<int>(value);
  };
  std::thread other([&] { EXPECT_EQ(**flights.get(2, none, [&] { return make(2); }, drop), 2); });
  EXPECT_EQ(**flights.get(1, none, [&] { return make(1); }, drop), 1);
  other.join();
}

} // namespace
} // namespace torchere

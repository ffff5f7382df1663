// Meetings of processes: what members read, rounds, groups side by side, and members that never come.
#include "cpu/execute/rendezvous.h"

#include <gtest/gtest.h>

#include <thread>

namespace torchere::cpu {
namespace {

using Bytes = std::vector<std::byte>;

/// Runs a process in each of `count` threads; by process, how it ended.
template <class Work> std::vector<Status> runAll(size_t count, const Work &work) {
  Rendezvous rendezvous(count);
  std::vector<Status> statuses(count);
  std::vector<std::thread> threads;
  for (size_t process = 0; process < count; ++process)
    threads.emplace_back([&, process] {
      statuses[process] = work(rendezvous, static_cast<int64_t>(process));
      rendezvous.leave();
    });
  for (std::thread &thread : threads)
    thread.join();
  return statuses;
}

/// The sum of what the members give, as each of them reads it.
Status sumOf(Rendezvous &rendezvous, int64_t number, std::span<const int64_t> members, int64_t self,
             int given, int &sum) {
  std::byte own{static_cast<uint8_t>(given)};
  sum = 0;
  return rendezvous.meet(number, members, self, {&own, 1}, [&](Rendezvous::Given all) {
    for (const std::byte *each : all)
      sum += static_cast<int>(*each);
  });
}

TEST(Rendezvous, MembersReadWhatAllHaveGivenInEachRound) {
  const int64_t members[] = {2, 0, 1};
  auto statuses = runAll(3, [&](Rendezvous &rendezvous, int64_t self) -> Status {
    for (int round = 0; round < 50; ++round) {
      int sum = 0;
      TORCHERE_TRY(sumOf(rendezvous, 7, members, self, static_cast<int>(self) + round, sum));
      EXPECT_EQ(sum, 3 + 3 * round);
    }
    return {};
  });
  for (const Status &status : statuses)
    EXPECT_TRUE(status);
}

TEST(Rendezvous, GroupsMeetSideBySide) {
  const int64_t groups[2][2] = {{0, 2}, {3, 1}};
  auto statuses = runAll(4, [&](Rendezvous &rendezvous, int64_t self) -> Status {
    int sum = 0;
    TORCHERE_TRY(sumOf(rendezvous, 1, groups[self % 2], self, 1 << self, sum));
    EXPECT_EQ(sum, self % 2 ? 10 : 5);
    return {};
  });
  for (const Status &status : statuses)
    EXPECT_TRUE(status);
}

TEST(Rendezvous, PlacesAreThoseOfTheGroup) {
  const int64_t members[] = {1, 0};
  runAll(2, [&](Rendezvous &rendezvous, int64_t self) {
    std::byte own{static_cast<uint8_t>(self)};
    return rendezvous.meet(1, members, self, {&own, 1}, [](Rendezvous::Given all) {
      EXPECT_EQ(*all[0], std::byte{1});
      EXPECT_EQ(*all[1], std::byte{0});
    });
  });
}

TEST(Rendezvous, WhoWaitsForAProcessThatHasLeftIsTold) {
  const int64_t members[] = {0, 1, 2};
  auto statuses = runAll(3, [&](Rendezvous &rendezvous, int64_t self) -> Status {
    int sum = 0;
    return self == 1 ? Status() : sumOf(rendezvous, 1, members, self, 1, sum);
  });
  EXPECT_TRUE(statuses[1]);
  for (size_t process : {0, 2}) {
    ASSERT_FALSE(statuses[process]);
    EXPECT_EQ(statuses[process].error().message, "a process waits for others that do not come");
  }
}

TEST(Rendezvous, ProcessesThatWaitForEachOtherAreTold) {
  const int64_t members[] = {0, 1};
  auto statuses = runAll(2, [&](Rendezvous &rendezvous, int64_t self) {
    int sum = 0;
    return sumOf(rendezvous, self, members, self, 1, sum); // at two meetings
  });
  EXPECT_FALSE(statuses[0]);
  EXPECT_FALSE(statuses[1]);
}

/// As plans from a damaged file may.
TEST(Rendezvous, MembersThatDoNotAgreeAreTold) {
  const int64_t two[] = {0, 1}, three[] = {0, 1, 2};
  std::byte given[2] = {};
  auto take = [](Rendezvous::Given) { FAIL() << "nobody may read what another gives"; };
  auto bothFail = [&](auto &&meet) {
    auto statuses = runAll(2, meet);
    std::string messages;
    for (const Status &status : statuses)
      messages += status ? "none" : status.error().message + "\n";
    EXPECT_NE(messages.find("meets others who exchange something else\n"), std::string::npos) << messages;
    EXPECT_NE(messages.find("a process waits for others that do not come\n"), std::string::npos) << messages;
  };
  bothFail([&](Rendezvous &rendezvous, int64_t self) { // other sizes
    return rendezvous.meet(1, two, self, {given, 1 + self}, take);
  });
  bothFail([&](Rendezvous &rendezvous, int64_t self) { // other members
    std::span<const int64_t> members = three;
    return rendezvous.meet(1, members.first(static_cast<size_t>(2 + self)), self, {given, 1}, take);
  });
  bothFail([&](Rendezvous &rendezvous, int64_t) { // the same member twice
    return rendezvous.meet(1, two, 0, {given, 1}, take);
  });
}

} // namespace
} // namespace torchere::cpu

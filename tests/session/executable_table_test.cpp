// ExecutableTable: what is found, what goes, and threads that look while another replaces.
#include "session/executable_table.h"

#include "session/session.h"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace torchere::session {
namespace {

/// One that tells its sizes, without an executable.
std::shared_ptr<const Specialization> make(const Sizes &sizes) {
  return std::make_shared<const Specialization>(
      Specialization{nullptr, {runtime::makeArrayType(DType::F32, sizes)}});
}

TEST(ExecutableTable, FindsBySizes) {
  ExecutableTable table;
  EXPECT_EQ(table.find({1, 2}), nullptr);
  auto first = make({1, 2}), second = make({2, 1});
  EXPECT_EQ(table.put({1, 2}, first), nullptr);
  EXPECT_EQ(table.put({2, 1}, second), nullptr);
  EXPECT_EQ(table.find({1, 2}), first);
  EXPECT_EQ(table.find({2, 1}), second);
  EXPECT_EQ(table.find({1, 2, 0}), nullptr);
  EXPECT_EQ(table.find({0, 0}), nullptr);
}

TEST(ExecutableTable, OneWithoutSizesStays) {
  ExecutableTable table;
  EXPECT_EQ(table.find({}), nullptr);
  auto only = make({});
  EXPECT_EQ(table.put({}, only), nullptr);
  EXPECT_EQ(table.find({}), only);
  EXPECT_EQ(only.use_count(), 2); // found without being counted
}

TEST(ExecutableTable, ListsWhatItHas) {
  ExecutableTable table;
  EXPECT_TRUE(table.all().empty());
  std::vector<std::shared_ptr<const Specialization>> put = {make({}), make({2}), make({3})};
  for (const auto &specialization : put)
    table.put(specialization->argumentTypes[0]->shape, specialization);
  auto all = table.all();
  EXPECT_TRUE(std::is_permutation(all.begin(), all.end(), put.begin(), put.end()));
}

TEST(ExecutableTable, TheOneNotUsedForLongestGoes) {
  ExecutableTable table;
  const auto limit = static_cast<int64_t>(executableLimit);
  for (int64_t size = 0; size < limit; ++size)
    EXPECT_EQ(table.put({size}, make({size})), nullptr);
  ASSERT_NE(table.find({0}), nullptr);
  auto gone = table.put({limit}, make({limit}));
  ASSERT_NE(gone, nullptr);
  EXPECT_EQ(gone->argumentTypes[0]->shape, Sizes{1});
  EXPECT_EQ(gone.use_count(), 1);
  EXPECT_EQ(table.find({1}), nullptr);
  for (int64_t size = 2; size <= limit; ++size)
    EXPECT_NE(table.find({size}), nullptr) << size;
}

TEST(ExecutableTable, ThreadsFindWhileOneReplaces) {
  ExecutableTable table;
  const auto sizes = static_cast<int64_t>(executableLimit) + 8;
  std::atomic<bool> isDone = false;
  std::atomic<int64_t> found = 0, wrong = 0;
  std::vector<std::thread> readers;
  for (int64_t t = 0; t < 3; ++t)
    readers.emplace_back([&, t] {
      for (int64_t size = t; !isDone; size = (size + 7) % sizes)
        if (auto specialization = table.find({size, -size})) {
          ++found;
          wrong += specialization->argumentTypes[0]->shape != Sizes{size, -size};
        }
    });
  for (int64_t round = 0; round < 20000 || found < 1000; ++round) {
    Sizes next = {round % sizes, -(round % sizes)};
    if (!table.find(next))
      table.put(next, make(next));
  }
  isDone = true;
  for (std::thread &reader : readers)
    reader.join();
  EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace torchere::session

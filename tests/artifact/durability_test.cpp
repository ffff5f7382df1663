// The order of what a save does on the disk: this program's fsync, rename, renameat2 and unlinkat stand
// before the C library's, and write down what is called.
#include "artifact/bundle.h"

#include "../base/temporary_directory.h"
#include "sample_bundle.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

std::vector<std::string> calls;
std::string failing; ///< fsync of what ends so fails

std::string fileOf(int descriptor) {
  return std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", descriptor)).filename();
}

} // namespace

extern "C" int fsync(int descriptor) {
  calls.push_back("fsync " + fileOf(descriptor));
  if (!failing.empty() && calls.back().ends_with(failing)) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

extern "C" int rename(const char *from, const char *to) {
  int result = static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
  if (result == 0)
    calls.push_back(std::string("rename to ") + std::filesystem::path(to).filename().string());
  return result;
}

extern "C" int renameat2(int fromFolder, const char *from, int toFolder, const char *to, unsigned flags) {
  calls.push_back(std::string("exchange with ") + std::filesystem::path(to).filename().string());
  return static_cast<int>(::syscall(SYS_renameat2, fromFolder, from, toFolder, to, flags));
}

extern "C" int unlinkat(int folder, const char *name, int flags) {
  calls.push_back(std::string("remove ") + name);
  return static_cast<int>(::syscall(SYS_unlinkat, folder, name, flags));
}

namespace torchere::artifact {
namespace {

namespace fs = std::filesystem;

class Durability : public testing::Test {
protected:
  void SetUp() override {
    calls.clear();
    failing.clear();
  }
  void TearDown() override { failing.clear(); }
  size_t placeOf(const std::string &call) {
    auto found = std::find(calls.begin(), calls.end(), call);
    EXPECT_NE(found, calls.end()) << call;
    return static_cast<size_t>(found - calls.begin());
  }
  TemporaryDirectory root;
  std::string parent = root.path.filename();
};

TEST_F(Durability, FilesAndFoldersReachTheDiskBeforeTheName) {
  ASSERT_TRUE(save(sampleBundle(), root / "new/p").has_value());
  size_t renamed = placeOf("rename to p");
  for (const char *name :
       {"manifest.json", "forward.meta", "forward.signature.json", "forward.bytecode", "forward.mlir", "0",
        "head.weight", "running_mean", "unused", "block", "data", "functions", "constants"})
    EXPECT_LT(placeOf(std::string("fsync ") + name), renamed) << name;
  size_t folder = placeOf("fsync " + fmt::format(".p.{}.", ::getpid()) + [&] {
    for (const std::string &call : calls)
      if (call.starts_with("fsync .p."))
        return call.substr(call.find('.', std::string("fsync .p.").size()) + 1);
    return std::string();
  }());
  EXPECT_LT(folder, renamed);
  EXPECT_GT(placeOf("fsync new"), renamed);
  EXPECT_GT(placeOf("fsync " + parent), renamed); // it has a new entry, "new"
}

TEST_F(Durability, TheOldProgramGoesWhenTheDiskHasTheNewOne) {
  ASSERT_TRUE(save(sampleBundle(), root / "p").has_value());
  calls.clear();
  ASSERT_TRUE(save(sampleBundle(), root / "p", {.overwrite = true}).has_value());
  size_t exchanged = placeOf("exchange with p"), durable = placeOf("fsync " + parent);
  EXPECT_LT(placeOf("fsync running_mean"), exchanged);
  EXPECT_GT(durable, exchanged);
  auto removed = std::find_if(calls.begin(), calls.end(),
                              [](const std::string &call) { return call.starts_with("remove "); });
  EXPECT_GT(static_cast<size_t>(removed - calls.begin()), durable);
  EXPECT_EQ(calls.back(), "remove manifest.json"); // until then it names what is left
}

TEST_F(Durability, WhatCannotReachTheDiskIsNoSave) {
  Bundle old = sampleBundle();
  old.functions[0].entryPoint.name = "old";
  ASSERT_TRUE(save(old, root / "p").has_value());
  failing = "running_mean";
  Status status = save(sampleBundle(), root / "p", {.overwrite = true});
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().message, "[" + (root / "p/data/running_mean").string() +
                                        "] cannot be written to the disk: Input/output error");
  EXPECT_EQ(load(root / "p")->functions[0].entryPoint.name, "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(root.path), {}), 1);
}

TEST_F(Durability, OneFileReachesTheDiskBeforeTheName) {
  ASSERT_TRUE(save(sampleBundle(), root / "new/p.torchere").has_value());
  size_t renamed = placeOf("exchange with p.torchere");
  auto synced = std::find_if(calls.begin(), calls.end(),
                             [](const std::string &call) { return call.starts_with("fsync .p.torchere."); });
  EXPECT_LT(static_cast<size_t>(synced - calls.begin()), renamed);
  EXPECT_GT(placeOf("fsync new"), renamed);
  EXPECT_GT(placeOf("fsync " + parent), renamed);
  failing = ".tmp";
  Status status = save(sampleBundle(), root / "new/p.torchere", {.overwrite = true});
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().message,
            "[" + (root / "new/p.torchere").string() + "] cannot be written to the disk: Input/output error");
  EXPECT_TRUE(load(root / "new/p.torchere").has_value());
  EXPECT_EQ(std::distance(fs::directory_iterator(root / "new"), {}), 1);
}

} // namespace
} // namespace torchere::artifact

// CompileCache: entries, the bound, damage, folders that are not safe, processes that are killed or work at
// once.
#include "runtime/compile_cache.h"

#include "../base/temporary_directory.h"
#include "base/file.h"
#include "base/log.h"

#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace torchere::runtime {
namespace {

namespace fs = std::filesystem;

CacheKey keyOf(uint64_t number) {
  return Digest().addField(number).finish();
}

/// Runs `check` in a forked child; whether it held.
template <class Check> pid_t startChild(Check check) {
  pid_t child = fork();
  if (child == 0)
    _exit(check() ? 0 : 1);
  return child;
}
bool holds(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class CompileCacheTest : public testing::Test {
protected:
  fs::path fileOf(const CacheKey &key) const { return folder / (hexText(key) + ".executable"); }
  /// What the cache has under a key; "-" for nothing.
  static std::string get(CompileCache &cache, const CacheKey &key) {
    auto entry = cache.load(key);
    return entry ? std::string(entry->executable()) : "-";
  }
  void setUsed(const CacheKey &key, int secondsAgo) const {
    fs::last_write_time(fileOf(key), fs::file_time_type::clock::now() - std::chrono::seconds(secondsAgo));
  }
  static mode_t modeOf(const fs::path &path) {
    struct stat status = {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  }

  TemporaryDirectory directory;
  fs::path folder = directory / "below/cache";
};

TEST_F(CompileCacheTest, GivesWhatWasStored) {
  CompileCache cache(folder);
  EXPECT_EQ(get(cache, keyOf(1)), "-");
  EXPECT_FALSE(fs::exists(folder)); // looking makes nothing
  ASSERT_TRUE(cache.store(keyOf(1), "first"));
  ASSERT_TRUE(cache.store(keyOf(2), std::string("sec\0nd", 6)));
  CompileCache other(folder);
  EXPECT_EQ(get(other, keyOf(1)), "first");
  EXPECT_EQ(get(other, keyOf(2)), std::string("sec\0nd", 6));
  EXPECT_EQ(get(other, keyOf(3)), "-");
  EXPECT_EQ(modeOf(folder), 0700u);
  EXPECT_EQ(modeOf(fileOf(keyOf(1))), 0600u);
  ASSERT_TRUE(cache.store(keyOf(1), "again"));
  EXPECT_EQ(get(other, keyOf(1)), "again");
  other.remove(keyOf(1));
  EXPECT_EQ(get(cache, keyOf(1)), "-");
}

TEST_F(CompileCacheTest, CountsAndClearsItsOwnFilesOnly) {
  CompileCache cache(folder);
  EXPECT_EQ(cache.contents()->entryCount, 0u);
  EXPECT_EQ(cache.clear()->entryCount, 0u);
  ASSERT_TRUE(cache.store(keyOf(1), "12345"));
  ASSERT_TRUE(cache.store(keyOf(2), "1234567"));
  std::string left = "." + hexText(keyOf(3)) + ".executable.1.0.tmp";
  for (std::string name : {"notes.txt", "x.executable", ".hidden.1.2.tmp"})
    directory.put("below/cache/" + name, "mine");
  directory.put("below/cache/" + left, "half");
  EXPECT_EQ(cache.contents()->entryCount, 2u);
  EXPECT_EQ(cache.contents()->byteSize, 2 * cacheEntryHeaderSize + 12 + 4);
  EXPECT_EQ(cache.clear()->entryCount, 2u);
  EXPECT_EQ(cache.contents()->byteSize, 0u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 3);
}

TEST_F(CompileCacheTest, EveryDamageIsFoundAndRemoved) {
  CompileCache cache(folder);
  ASSERT_TRUE(cache.store(keyOf(1), "an executable"));
  std::string name = "below/cache/" + fileOf(keyOf(1)).filename().string();
  const std::string whole = directory.get(name);
  ASSERT_EQ(whole.size(), cacheEntryHeaderSize + 13);
  setLogLevel(LogLevel::Error); // two warnings for each byte say nothing new
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] ^= 0x10;
    directory.put(name, damaged);
    EXPECT_EQ(get(cache, keyOf(1)), "-") << i;
    EXPECT_FALSE(fs::exists(fileOf(keyOf(1)))) << i;
    directory.put(name, whole.substr(0, i));
    EXPECT_EQ(get(cache, keyOf(1)), "-") << i;
    EXPECT_FALSE(fs::exists(fileOf(keyOf(1)))) << i;
  }
  directory.put(name, whole + "x");
  EXPECT_EQ(get(cache, keyOf(1)), "-");
  directory.put(name, whole);
  EXPECT_EQ(get(cache, keyOf(1)), "an executable");
  fs::rename(fileOf(keyOf(1)), fileOf(keyOf(2))); // one program's executable under another's name
  EXPECT_EQ(get(cache, keyOf(2)), "-");
  setLogLevel(LogLevel::Warning);
}

TEST_F(CompileCacheTest, SaysWhatIsDamaged) {
  std::string whole = makeCacheEntry(keyOf(1), "executable");
  auto message = [](const std::string &file, const CacheKey &key = keyOf(1)) {
    auto result = parseCacheEntry(file, key, "e");
    return result ? "none" : result.error().message;
  };
  EXPECT_EQ(message(whole), "none");
  EXPECT_EQ(message(whole.substr(0, 20)), "[e] shorter than its header: got 20 bytes, expected at least 88");
  EXPECT_EQ(message("#" + whole.substr(1)),
            "[e] is no entry of the compile cache: its first bytes are others");
  std::string later = whole;
  later[8] = 7;
  EXPECT_EQ(message(later), "[e] another layout: got version 7, expected 1");
  EXPECT_EQ(message(whole.substr(0, 90)),
            "[e] cut short or extended: got 2 bytes after the header, expected 10");
  EXPECT_EQ(message(whole, keyOf(2)),
            "[e] stored under another key: got " + hexText(keyOf(1)) + ", expected " + hexText(keyOf(2)));
  whole.back() = 'E';
  EXPECT_EQ(message(whole), "[e] damaged: its digest does not fit");
}

TEST_F(CompileCacheTest, WhatWasNotUsedForLongestGoesFirst) {
  const std::string executable(1000, 'x');
  const uint64_t entrySize = executable.size() + cacheEntryHeaderSize;
  CompileCache cache(folder, 3 * entrySize + 10);
  for (int i : {1, 2, 3}) {
    ASSERT_TRUE(cache.store(keyOf(i), executable));
    setUsed(keyOf(i), 100 - i);
  }
  EXPECT_EQ(get(cache, keyOf(1)), executable); // used now: 2 is the oldest
  ASSERT_TRUE(cache.store(keyOf(4), executable));
  EXPECT_FALSE(fs::exists(fileOf(keyOf(2))));
  EXPECT_EQ(cache.contents()->entryCount, 3u);
  ASSERT_TRUE(cache.store(keyOf(5), executable));
  EXPECT_FALSE(fs::exists(fileOf(keyOf(3))));
  ASSERT_TRUE(cache.store(keyOf(6), std::string(2000, 'y'))); // takes the place of two
  EXPECT_LE(cache.contents()->byteSize, cache.limit());
  EXPECT_TRUE(fs::exists(fileOf(keyOf(6))));
  auto tooLarge = cache.store(keyOf(7), std::string(4 * entrySize, 'z'));
  ASSERT_FALSE(tooLarge);
  EXPECT_EQ(tooLarge.error().message,
            fmt::format("[{}] an entry larger than the bound: got {} bytes, expected at most {}",
                        folder.string(), 4 * entrySize + cacheEntryHeaderSize, cache.limit()));
  EXPECT_EQ(get(cache, keyOf(6)), std::string(2000, 'y')); // nothing went for it
}

TEST_F(CompileCacheTest, ManySmallEntriesStayWithinTheBound) {
  const uint64_t limit = 100 * (cacheEntryHeaderSize + 12);
  CompileCache cache(folder, limit);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(cache.store(keyOf(i), "executable 1"));
    if (i % 50 == 0) {
      ASSERT_LE(cache.contents()->byteSize, limit);
    }
  }
  EXPECT_GT(cache.contents()->entryCount, 90u);
}

TEST_F(CompileCacheTest, AFolderThatOthersCanWriteToIsLeftAlone) {
  CompileCache cache(folder);
  ASSERT_TRUE(cache.store(keyOf(1), "first"));
  for (mode_t mode : {0770, 0702, 0777}) {
    ASSERT_EQ(::chmod(folder.c_str(), mode), 0);
    testing::internal::CaptureStderr();
    CompileCache fresh(folder);
    EXPECT_EQ(get(fresh, keyOf(1)), "-");
    auto stored = fresh.store(keyOf(2), "second");
    ASSERT_FALSE(stored);
    std::string message =
        fmt::format("[{}] can be written to by other users: got mode {:04o}, expected 0700; the "
                    "compile cache is not used",
                    folder.string(), mode);
    EXPECT_EQ(stored.error().message, message);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "torchere warning [cache] " + message + "\n"); // once
    EXPECT_FALSE(fresh.contents());
  }
  ASSERT_EQ(::chmod(folder.c_str(), 0755), 0); // to be read by others is the user's choice
  EXPECT_EQ(get(cache, keyOf(1)), "first");
}

TEST_F(CompileCacheTest, AFolderOfAnotherUserIsLeftAlone) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can give a folder away";
  CompileCache cache(folder);
  ASSERT_TRUE(cache.store(keyOf(1), "first"));
  ASSERT_EQ(::chown(folder.c_str(), 12345, -1), 0);
  EXPECT_EQ(get(cache, keyOf(1)), "-");
  EXPECT_EQ(cache.store(keyOf(1), "x").error().message,
            "[" + folder.string() +
                "] belongs to another user: got 12345, expected 0; the compile cache is not used");
}

TEST_F(CompileCacheTest, AFileInThePlaceOfTheFolder) {
  directory.put("below/cache", "a file");
  CompileCache cache(folder);
  EXPECT_EQ(get(cache, keyOf(1)), "-");
  EXPECT_EQ(cache.store(keyOf(1), "x").error().message,
            "[" + folder.string() + "] is no directory: the compile cache is not used");
  CompileCache below(folder / "below");
  EXPECT_EQ(get(below, keyOf(1)), "-");
  EXPECT_FALSE(below.store(keyOf(1), "x"));
}

TEST_F(CompileCacheTest, AFolderThatCannotBeWrittenToIsRead) {
  CompileCache cache(folder);
  ASSERT_TRUE(cache.store(keyOf(1), "first"));
  constexpr uid_t nobody = 65534;
  if (::geteuid() == 0) { // who may write everywhere: somebody else has to try
    ASSERT_EQ(::chown(folder.c_str(), nobody, -1), 0);
    ASSERT_EQ(::chown(fileOf(keyOf(1)).c_str(), nobody, -1), 0);
    for (const fs::path &above : {directory.path, folder.parent_path()}) // which may be ours alone, by umask
      ASSERT_EQ(::chmod(above.c_str(), 0755), 0);
  }
  ASSERT_EQ(::chmod(folder.c_str(), 0500), 0);
  EXPECT_TRUE(holds(startChild([&] {
    if (::geteuid() == 0 && ::setuid(nobody) != 0)
      return false;
    Status stored = cache.store(keyOf(2), "second");
    return get(cache, keyOf(1)) == "first" && !stored && stored.error().code == ErrorCode::PermissionDenied;
  })));
  ::chmod(folder.c_str(), 0700);
}

TEST_F(CompileCacheTest, WhatCannotBeWrittenLeavesNothing) {
  // The size of the files that a process may write stands for a disk that is full.
  EXPECT_TRUE(holds(startChild([&] {
    struct rlimit limit = {4096, 4096};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0)
      return false;
    CompileCache cache(folder);
    Status large = cache.store(keyOf(1), std::string(5000, 'x')), small = cache.store(keyOf(2), "small");
    return small && !large &&
           large.error().message ==
               fmt::format("[{}] an entry larger than what the process may write: got 5088 "
                           "bytes, expected at most 4096",
                           folder.string());
  })));
  CompileCache cache(folder);
  EXPECT_EQ(cache.contents()->entryCount, 1u);
  EXPECT_EQ(get(cache, keyOf(2)), "small");
}

TEST_F(CompileCacheTest, WhatAProcessLeftBehindIsRemoved) {
  CompileCache cache(folder);
  ASSERT_TRUE(cache.store(keyOf(1), "first"));
  pid_t gone = startChild([] { return true; });
  ASSERT_TRUE(holds(gone));
  auto name = [&](uint64_t key, pid_t process) {
    return fmt::format(".{}.executable.{}.0.tmp", hexText(keyOf(key)), process);
  };
  std::string dead = name(2, gone), alive = name(3, getpid()), old = name(4, getpid());
  for (const std::string &file : {dead, alive, old})
    directory.put("below/cache/" + file, "half");
  fs::last_write_time(folder / old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  CompileCache fresh(folder);
  ASSERT_TRUE(fresh.store(keyOf(5), "second"));
  EXPECT_FALSE(fs::exists(folder / dead));
  EXPECT_TRUE(fs::exists(folder / alive)); // it may still be written
  EXPECT_FALSE(fs::exists(folder / old));
  EXPECT_EQ(get(fresh, keyOf(1)), "first");
}

/// The contents of entry `number`: large enough to be interrupted in.
std::string contentsOf(uint64_t number) {
  return std::string(200'000 + 1000 * number, static_cast<char>('a' + number));
}

TEST_F(CompileCacheTest, AProcessMayBeKilledAtAnyTime) {
  const uint64_t limit = 3'000'000, keys = 20;
  size_t seen = 0;
  for (int round = 0; round < 20; ++round) {
    int started[2]; // a pipe: a byte says that the child has stored something, however slow the machine
    ASSERT_EQ(::pipe(started), 0);
    pid_t child = startChild([&] {
      CompileCache cache(folder, limit);
      for (uint64_t number = 0;; number = (number + 1) % keys)
        if (!cache.store(keyOf(number), contentsOf(number)) ||
            (number == 1 && ::write(started[1], "", 1) != 1))
          return false;
    });
    ::close(started[1]);
    char byte;
    EXPECT_EQ(::read(started[0], &byte, 1), 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(2 * round));
    ::kill(child, SIGKILL);
    ::close(started[0]);
    EXPECT_FALSE(holds(child));
    CompileCache cache(folder, limit);
    for (uint64_t number = 0; number < keys; ++number) {
      if (!fs::exists(fileOf(keyOf(number))))
        continue;
      EXPECT_EQ(get(cache, keyOf(number)), contentsOf(number)); // whole, or not there
      ++seen;
    }
    ASSERT_TRUE(cache.store(keyOf(99), "next"));
    EXPECT_EQ(get(cache, keyOf(99)), "next");
    EXPECT_LE(cache.contents()->byteSize, limit);
    for (const fs::directory_entry &file : fs::directory_iterator(folder))
      EXPECT_FALSE(file.path().filename().string().ends_with(".tmp")) << file.path();
  }
  EXPECT_GT(seen, 20u);
}

TEST_F(CompileCacheTest, ProcessesWorkAtOnce) {
  const uint64_t limit = 2'000'000, keys = 15;
  std::vector<pid_t> children;
  for (uint64_t process = 0; process < 4; ++process)
    children.push_back(startChild([&] {
      CompileCache cache(folder, limit);
      for (uint64_t step = 0; step < 200; ++step) {
        uint64_t number = (step * (2 * process + 1)) % keys;
        if (auto entry = cache.load(keyOf(number))) {
          if (entry->executable() != contentsOf(number))
            return false;
        } else if (!cache.store(keyOf(number), contentsOf(number))) {
          return false;
        }
      }
      return true;
    }));
  for (pid_t child : children)
    EXPECT_TRUE(holds(child));
  CompileCache cache(folder, limit);
  ASSERT_TRUE(cache.store(keyOf(99), "last"));
  EXPECT_LE(cache.contents()->byteSize, limit);
}

/// Sets variables for one test.
class Environment {
public:
  explicit Environment(std::initializer_list<std::pair<const char *, std::string>> values) {
    for (const char *name : {"TORCHERE_CACHE", "TORCHERE_CACHE_DIR", "XDG_CACHE_HOME", "HOME"}) {
      const char *value = std::getenv(name);
      old.emplace_back(name, value ? std::optional<std::string>(value) : std::nullopt);
      ::unsetenv(name);
    }
    for (const auto &[name, value] : values)
      ::setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    for (const auto &[name, value] : old)
      value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
  }

private:
  std::vector<std::pair<const char *, std::optional<std::string>>> old;
};

TEST(CacheEnvironment, TheFolder) {
  {
    Environment environment({{"HOME", "/home/me"}});
    EXPECT_EQ(CompileCache::fromEnvironment()->folder(), "/home/me/.cache/torchere");
    EXPECT_EQ(CompileCache::fromEnvironment()->limit(), uint64_t{1} << 30);
  }
  {
    Environment environment({{"HOME", "/home/me"}, {"XDG_CACHE_HOME", "/caches"}});
    EXPECT_EQ(CompileCache::fromEnvironment()->folder(), "/caches/torchere");
  }
  {
    Environment environment({{"HOME", "/home/me"}, {"XDG_CACHE_HOME", "relative"}}); // counts as absent
    EXPECT_EQ(CompileCache::fromEnvironment()->folder(), "/home/me/.cache/torchere");
  }
  {
    Environment environment({{"TORCHERE_CACHE_DIR", "/mine"}, {"XDG_CACHE_HOME", "/caches"}});
    EXPECT_EQ(CompileCache::fromEnvironment()->folder(), "/mine");
  }
  {
    Environment environment({{"HOME", "/home/me"}, {"TORCHERE_CACHE_DIR", "here"}});
    testing::internal::CaptureStderr();
    EXPECT_EQ(CompileCache::fromEnvironment()->folder(), "/home/me/.cache/torchere");
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "torchere warning [TORCHERE_CACHE_DIR] is no absolute path: got \"here\"\n");
  }
  Environment environment({});
  EXPECT_EQ(CompileCache::fromEnvironment(), nullptr);
}

TEST(CacheEnvironment, AnotherChoice) {
  using Use = CacheChoice::Use;
  Environment environment({{"HOME", "/home/me"}, {"TORCHERE_CACHE", "500M"}});
  EXPECT_EQ(CompileCache::choose({})->limit(), uint64_t{500} << 20);
  EXPECT_EQ(CompileCache::choose({.use = Use::Off}), nullptr);
  EXPECT_EQ(CompileCache::choose({.use = Use::On})->folder(), "/home/me/.cache/torchere");
  EXPECT_EQ(CompileCache::choose({.use = Use::On})->limit(), uint64_t{500} << 20);
  auto chosen = CompileCache::choose({.use = Use::On, .folder = "/mine", .limit = 7});
  EXPECT_EQ(chosen->folder(), "/mine");
  EXPECT_EQ(chosen->limit(), 7u);
  Environment off({{"TORCHERE_CACHE", "0"}});
  EXPECT_EQ(CompileCache::choose({}), nullptr);
  EXPECT_EQ(CompileCache::choose({.use = Use::On, .folder = "/mine"})->limit(), CompileCache::defaultLimit);
}

TEST(CacheEnvironment, TheBound) {
  auto limit = [](const char *text) {
    Environment environment({{"HOME", "/home/me"}, {"TORCHERE_CACHE", text}});
    auto cache = CompileCache::fromEnvironment();
    return cache ? cache->limit() : 0;
  };
  for (const char *text : {"0", "off", "0M"})
    EXPECT_EQ(limit(text), 0u) << text;
  for (const char *text : {"", "1", "on", "1G", "1GiB", "1GB", "1024M", "1073741824"})
    EXPECT_EQ(limit(text), uint64_t{1} << 30) << text;
  EXPECT_EQ(limit("500M"), 500u << 20);
  EXPECT_EQ(limit("12K"), 12288u);
  for (const char *text :
       {"yes", "-1", "1.5G", "1T", "G", "1 G", "99999999999G", "99999999999999999999999"}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(limit(text), uint64_t{1} << 30) << text;
    EXPECT_EQ(
        testing::internal::GetCapturedStderr(),
        fmt::format(
            "torchere warning [TORCHERE_CACHE] is no bound: got \"{}\", expected 0, 1, or a size such as "
            "500M or 2G\n",
            text));
  }
}

} // namespace
} // namespace torchere::runtime

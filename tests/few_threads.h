// FewThreads: a process whose further threads the system refuses, as with a limit on their number.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

namespace torchere {

/// While it lives, no more than `count` threads can be created: the next one's stack is beyond the limit on
/// the process's addresses. A limit on threads would not bind a privileged user.
class FewThreads {
public:
  explicit FewThreads(rlim_t count) {
    pthread_getattr_default_np(&attributes);
    getrlimit(RLIMIT_AS, &limit);
    pthread_attr_t large = attributes;
    pthread_attr_setstacksize(&large, stackBytes);
    EXPECT_EQ(pthread_setattr_default_np(&large), 0);
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit lower = limit;
    lower.rlim_cur = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + stackBytes * count + stackBytes / 2;
    EXPECT_EQ(setrlimit(RLIMIT_AS, &lower), 0);
  }
  ~FewThreads() {
    setrlimit(RLIMIT_AS, &limit);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
  }
  FewThreads(const FewThreads &) = delete;
  FewThreads &operator=(const FewThreads &) = delete;

private:
  static constexpr rlim_t stackBytes = rlim_t{1} << 30;
  pthread_attr_t attributes;
  rlimit limit;
};

} // namespace torchere

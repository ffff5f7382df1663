// TemporaryDirectory: a directory of its own for one test, removed at its end.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace torchere {

class TemporaryDirectory {
public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "torchere_test_XXXXXX").string();
    const char *made = ::mkdtemp(pattern.data());
    EXPECT_NE(made, nullptr) << pattern;
    path = pattern;
  }
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }

  std::filesystem::path operator/(const std::string &name) const { return path / name; }

  /// Writes a file of the test, without the code under test.
  void put(const std::string &name, const std::string &contents) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << contents;
  }
  std::string get(const std::string &name) const {
    std::ifstream file(path / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  std::filesystem::path path;
};

} // namespace torchere

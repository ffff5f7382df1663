// Plugin: what is refused, and why; attributes; the cache.
#include "fake.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace torchere::runtime {
namespace {

using Load = FakeTest;

TEST_F(Load, ReadsVersionAndAttributes) {
  EXPECT_EQ(plugin->majorVersion(), 0);
  EXPECT_EQ(plugin->minorVersion(), 90);
  EXPECT_EQ(std::get<std::string>(plugin->attributes().at("vendor")), "nobody");
  EXPECT_FALSE(std::get<bool>(plugin->attributes().at("fast")));
  EXPECT_EQ(plugin->stablehloVersion(), (std::array<int64_t, 3>{1, 7, 5}));
}

TEST_F(Load, LoadsAFileOnce) {
  std::filesystem::path link =
      std::filesystem::temp_directory_path() / fmt::format("fake_link_{}.so", getpid());
  std::filesystem::create_symlink(fakePath(), link);
  auto again = Plugin::load(link);
  std::filesystem::remove(link);
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(*again, plugin);
  EXPECT_EQ(callCount("PJRT_Plugin_Initialize"), 0);
}

TEST_F(Load, AttributesAreOptional) {
  auto plain = Plugin::load(fakePath("fake_plugin_plain"));
  ASSERT_TRUE(plain) << plain.error().text();
  EXPECT_TRUE((*plain)->attributes().empty());
  EXPECT_EQ((*plain)->stablehloVersion(), std::nullopt);
}

TEST_F(Load, RefusesAMissingFile) {
  expectError(Plugin::load("/nonexistent/plugin.so"), ErrorCode::NotFound,
              "[/nonexistent/plugin.so] cannot load the plugin: No such file or directory");
}

TEST_F(Load, RefusesADirectory) {
  expectError(Plugin::load(FAKE_PLUGINS), ErrorCode::InvalidArgument,
              "[" FAKE_PLUGINS "] cannot load the plugin: got no regular file, expected a shared library");
}

TEST_F(Load, RefusesAFileThatIsNoLibrary) {
  std::filesystem::path path = std::filesystem::temp_directory_path() / fmt::format("text_{}.so", getpid());
  std::ofstream(path) << "not a library at all, but long enough to hold a header of one, had it been one";
  auto result = Plugin::load(path);
  std::filesystem::remove(path);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::InvalidArgument);
  EXPECT_TRUE(result.error().message.starts_with("[" + path.string() + "] not a PJRT plugin: "))
      << result.error().message;
  EXPECT_NE(result.error().message.find("invalid ELF header"), std::string::npos) << result.error().message;
}

TEST_F(Load, RefusesALibraryThatIsNoPlugin) {
  expectError(Plugin::load(fakePath("no_plugin")), ErrorCode::InvalidArgument,
              "[" + fakePath("no_plugin") + "] not a PJRT plugin: it exports no GetPjrtApi");
}

TEST_F(Load, RefusesANullTable) {
  expectError(Plugin::load(fakePath("fake_plugin_null")), ErrorCode::InvalidArgument,
              "[" + fakePath("fake_plugin_null") + "] not a usable PJRT plugin: GetPjrtApi returned null");
}

TEST_F(Load, RefusesAnotherMajorVersion) {
  expectError(Plugin::load(fakePath("fake_plugin_version")), ErrorCode::InvalidArgument,
              "[" + fakePath("fake_plugin_version") +
                  "] unsupported version of the PJRT C API: got 1.90, expected 0.x");
}

TEST_F(Load, RefusesATableThatIsTooShort) {
  expectError(Plugin::load(fakePath("fake_plugin_short")), ErrorCode::InvalidArgument,
              "[" + fakePath("fake_plugin_short") +
                  "] PJRT table too short (version 0.90): got 200 bytes, expected at least 656");
  expectError(Plugin::load(fakePath("fake_plugin_tiny")), ErrorCode::InvalidArgument,
              "[" + fakePath("fake_plugin_tiny") +
                  "] PJRT table too short: got 16 bytes, expected at least 656");
}

TEST_F(Load, RefusesATableWithAHole) {
  expectError(Plugin::load(fakePath("fake_plugin_hole")), ErrorCode::InvalidArgument,
              "[" + fakePath("fake_plugin_hole") +
                  "] PJRT table without PJRT_LoadedExecutable_Execute: got null, expected a function");
}

TEST_F(Load, PassesOnWhatInitializeAnswers) {
  std::string path = fakePath("fake_plugin_initialize");
  expectError(Plugin::load(path), ErrorCode::Internal,
              "[" + path + "] cannot initialize the plugin: PJRT_Plugin_Initialize was told to fail");
}

TEST_F(Load, WrapsATableThatIsLinkedIn) {
  const pjrt::Api *table = reinterpret_cast<pjrt::EntryPoint>(dlsym(library, pjrt::entryPointName))();
  auto first = Plugin::wrap(table, "linked in");
  auto second = Plugin::wrap(table, "again");
  ASSERT_TRUE(first) << first.error().text();
  ASSERT_TRUE(second) << second.error().text();
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(callCount("PJRT_Plugin_Initialize"), 1);
  EXPECT_EQ((*first)->path(), "linked in");
  EXPECT_EQ(&(*first)->api(), table);
  EXPECT_EQ((*first)->identity(), plugin->identity()); // of the library that the table lies in
  EXPECT_EQ((*first)->stablehloVersion(), plugin->stablehloVersion());
}

TEST_F(Load, WrapsNoTableThatItWouldNotLoad) {
  expectError(Plugin::wrap(nullptr, "linked in"), ErrorCode::InvalidArgument,
              "[linked in] not a usable PJRT plugin: got null, expected a table of functions");
  pjrt::Api tiny{};
  tiny.structSize = 16;
  expectError(Plugin::wrap(&tiny, "linked in"), ErrorCode::InvalidArgument,
              "[linked in] PJRT table too short: got 16 bytes, expected at least 656");
}

} // namespace
} // namespace torchere::runtime

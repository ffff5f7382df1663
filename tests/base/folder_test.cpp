// Folder: names that stay inside, links, listing and removal, and a folder that is replaced while it is read.
#include "base/folder.h"

#include "temporary_directory.h"

#include <cstddef>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace torchere {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

TEST(RelativeName, NamesThatStayInside) {
  for (std::string_view name :
       {"weight", "layer.0.weight", "a/b", "a..b", "..a", "L__fn___w", "größe", "重み", "😀"})
    EXPECT_TRUE(checkRelativeName(name, "dir").has_value()) << name;
}

TEST(RelativeName, NamesThatAreRefused) {
  auto message = [](std::string_view name) { return checkRelativeName(name, "data").error().message; };
  EXPECT_EQ(message(""), "[data] the name is empty");
  EXPECT_EQ(message("a\0b"s), "[data] the name \"a\" has a NUL byte");
  EXPECT_EQ(message("/etc/passwd"),
            "[data] the name \"/etc/passwd\" is absolute: expected one relative to its directory");
  EXPECT_EQ(message("../x"),
            "[data] the name \"../x\" may not have \"..\" as a component: it could leave its "
            "directory or name a file twice");
  EXPECT_EQ(message("a/../b"),
            "[data] the name \"a/../b\" may not have \"..\" as a component: it could leave its "
            "directory or name a file twice");
  EXPECT_EQ(message("a/./b"),
            "[data] the name \"a/./b\" may not have \".\" as a component: it could leave its "
            "directory or name a file twice");
  EXPECT_EQ(message("a//b"), "[data] the name \"a//b\" may not have \"\" as a component: it could leave its "
                             "directory or name a file twice");
  EXPECT_EQ(message("a/"), "[data] the name \"a/\" may not have \"\" as a component: it could leave its "
                           "directory or name a file twice");
  // A lone continuation byte, overlong '/', a UTF-16 surrogate, beyond U+10FFFF, cut off.
  for (std::string_view name : {"\x80", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82",
                                "\xE0\x80\xAF", "\xF0\x80\x80\xAF"})
    EXPECT_EQ(message(name), "[data] the name is not UTF-8");
}

TEST(Folder, FollowsLinksInsideOnly) {
  TemporaryDirectory directory;
  std::string root = (directory / "root").string();
  directory.put("root/data/w", "weight");
  directory.put("outside", "secret");
  fs::create_symlink("data/w", directory / "root/inside");
  fs::create_symlink(directory / "root/data/w", directory / "root/absolute");
  fs::create_symlink("../root/data/w", directory / "root/back");
  fs::create_symlink("../outside", directory / "root/escape");
  fs::create_directory_symlink(directory.path, directory / "root/up");
  fs::create_symlink("loop", directory / "root/loop");
  directory.put("root2/y", "secret");
  fs::create_symlink("../root2/y", directory / "root/sibling"); // its name starts as the root's does
  Folder folder = *Folder::open(root);
  for (const char *name : {"data/w", "inside", "absolute", "back"}) {
    EXPECT_EQ(*folder.read(name, 6), "weight") << name;
    EXPECT_EQ((*folder.map(name))->bytes().size(), 6u) << name;
  }
  EXPECT_EQ(folder.read("escape", 100).error().message,
            "[" + root + "/escape] is a link that leaves the directory " + root);
  for (std::string name : {"up/outside", "sibling"})
    EXPECT_EQ(folder.read(name, 100).error().message,
              "[" + root + "/" + name + "] is a link that leaves the directory " + root);
  EXPECT_EQ(folder.read("loop", 100).error().message,
            "[" + root + "/loop] cannot be opened: Too many levels of symbolic links");
  EXPECT_EQ(folder.map("escape").error().code, ErrorCode::PermissionDenied);
  EXPECT_EQ(folder.map("../outside").error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(folder.map("data/none").error().message,
            "[" + root + "/data/none] cannot be opened: No such file or directory");
  EXPECT_EQ(folder.map("data").error().message, "[" + root + "/data] is no regular file");
  EXPECT_EQ(folder.read("data/w", 5).error().message,
            "[" + root + "/data/w] is too large: got 6 bytes, expected at most 5");
  EXPECT_EQ(Folder::open(directory / "none").error().code, ErrorCode::NotFound);
}

/// From here on the process has no openat2, as in a container whose rules are older than it.
void denyOpenat2() {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program = {4, rules};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
    std::exit(2);
}

TEST(Folder, DoesWithoutOpenat2) {
  TemporaryDirectory directory;
  directory.put("root/data/w", "weight");
  directory.put("outside", "secret");
  fs::create_symlink("data/w", directory / "root/inside");
  fs::create_symlink("../outside", directory / "root/escape");
  auto reads = [&] {
    denyOpenat2();
    Folder folder = *Folder::open(directory / "root");
    bool isRight = *folder.read("data/w", 6) == "weight" && *folder.read("inside", 6) == "weight" &&
                   folder.listAll()->size() == 4 &&
                   folder.read("escape", 6).error().code == ErrorCode::PermissionDenied &&
                   folder.read("none", 6).error().code == ErrorCode::NotFound;
    std::exit(isRight ? 0 : 1);
  };
  EXPECT_EXIT(reads(), testing::ExitedWithCode(0), "");
}

TEST(Folder, ReadsWhatItWasOpenedAs) {
  TemporaryDirectory directory;
  directory.put("root/a", "old");
  directory.put("root/b", "old");
  Folder folder = *Folder::open(directory / "root");
  fs::create_symlink(directory / "root/a", directory / "root/link"); // absolute: leads to the new folder soon
  EXPECT_EQ(*folder.read("link", 3), "old");
  EXPECT_TRUE(folder.isCurrent());
  fs::rename(directory / "root", directory / "moved");
  directory.put("root/a", "new");
  directory.put("root/c", "new");
  EXPECT_FALSE(folder.isCurrent());
  EXPECT_EQ(*folder.read("a", 3), "old");
  EXPECT_TRUE(folder.has("b"));
  EXPECT_FALSE(folder.has("c"));
  EXPECT_EQ(folder.map("c").error().code, ErrorCode::NotFound);
  EXPECT_EQ(folder.read("link", 3).error().code, ErrorCode::PermissionDenied);
  fs::remove(directory / "moved/a");
  EXPECT_EQ(folder.read("a", 3).error().message,
            "[" + (directory / "root/a").string() + "] cannot be opened: No such file or directory");
}

TEST(Folder, ListsAndRemovesWithoutFollowingLinks) {
  TemporaryDirectory directory;
  directory.put("kept", "x");
  directory.put("root/data/b/w", "");
  directory.put("root/a", "");
  fs::create_directory_symlink(directory.path, directory / "root/data/up");
  Folder folder = *Folder::open(directory / "root");
  std::string names;
  std::vector<FolderEntry> entries = *folder.listAll();
  for (const FolderEntry &entry : entries)
    names += entry.name + (entry.isFolder ? "/ " : " ");
  EXPECT_EQ(names, "a data/ data/b/ data/up data/b/w ");
  EXPECT_EQ(folder.list("none").error().message,
            "[" + (directory / "root/none").string() + "] cannot be opened: No such file or directory");
  Status filled = folder.remove({"data/b", true});
  EXPECT_EQ(filled.error().message,
            "[" + (directory / "root/data/b").string() + "] cannot be removed: Directory not empty");
  EXPECT_EQ(folder.remove({"data/up/kept", false}).error().message,
            "[" + (directory / "root/data/up/kept").string() + "] cannot be removed: Not a directory");
  EXPECT_EQ(folder.remove({"../kept", false}).error().code, ErrorCode::InvalidArgument);
  for (const FolderEntry &entry : std::vector<FolderEntry>{
           {"data/b/w", false}, {"data/b", true}, {"data/up", false}, {"data", true}, {"gone/w", false}})
    EXPECT_TRUE(folder.remove(entry).has_value()) << entry.name;
  EXPECT_EQ(folder.listAll()->size(), 1u);
  EXPECT_EQ(directory.get("kept"), "x");
}

TEST(ReadUnreplaced, ReadsAgainWhatWasReplacedAndGivesUpInTheEnd) {
  TemporaryDirectory directory;
  std::string root = (directory / "root").string();
  directory.put("root/a", "0");
  int reads = 0, replacements = 1;
  auto read = [&](const Folder &folder) -> Result<std::string> {
    auto text = folder.read("a", 3);
    if (reads++ < replacements) {
      fs::rename(root, directory / ("old" + std::to_string(reads)));
      directory.put("root/a", std::to_string(reads));
    }
    return text;
  };
  EXPECT_EQ(*readUnreplaced(root, read), "1");
  EXPECT_EQ(reads, 2);
  replacements = 1 << 20;
  Error error = readUnreplaced(root, read).error();
  EXPECT_EQ(error.code, ErrorCode::Unavailable);
  EXPECT_EQ(error.message, "[" + root + "] was replaced while it was read, 100 times in a row");
  EXPECT_EQ(reads, 102);
}

} // namespace
} // namespace torchere

// Files: what is read, mapped and written, what is refused, and the text of every error.
#include "base/file.h"

#include "temporary_directory.h"

#include <sys/stat.h>
#include <unistd.h>

namespace torchere {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

std::string textOf(std::span<const std::byte> bytes) {
  return std::string(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}

size_t fileCount(const fs::path &directory) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
}

TEST(ReadFile, GivesTheBytesUpToTheLimit) {
  TemporaryDirectory directory;
  directory.put("five", "a\0b\nc"s);
  EXPECT_EQ(*readFile(directory / "five", 5), "a\0b\nc"s);
  Error error = readFile(directory / "five", 4).error();
  EXPECT_EQ(error.code, ErrorCode::ResourceExhausted);
  EXPECT_EQ(error.message,
            "[" + (directory / "five").string() + "] is too large: got 5 bytes, expected at most 4");
}

TEST(ReadFile, RefusesWhatIsNoRegularFile) {
  TemporaryDirectory directory;
  std::string root = directory.path.string();
  Error missing = readFile(directory / "missing", 10).error();
  EXPECT_EQ(missing.code, ErrorCode::NotFound);
  EXPECT_EQ(missing.message, "[" + root + "/missing] cannot be opened: No such file or directory");
  EXPECT_EQ(readFile(directory.path, 10).error().message, "[" + root + "] is no regular file");
  ASSERT_EQ(::mkfifo((root + "/fifo").c_str(), 0600), 0);
  EXPECT_EQ(readFile(directory / "fifo", 10).error().message, "[" + root + "/fifo] is no regular file");
}

TEST(WriteFile, ReplacesTheFileAndLeavesNothingElse) {
  TemporaryDirectory directory;
  ASSERT_TRUE(writeFile(directory / "file", "old").has_value());
  ASSERT_TRUE(writeFile(directory / "file", "new contents").has_value());
  EXPECT_EQ(directory.get("file"), "new contents");
  EXPECT_EQ(fileCount(directory.path), 1u);
}

TEST(WriteFile, LeavesNothingWhenItFails) {
  TemporaryDirectory directory;
  fs::create_directories(directory / "taken/inside");
  Error error = writeFile(directory / "taken", "text").error();
  EXPECT_EQ(error.message, "[" + (directory / "taken").string() + "] cannot be replaced: Is a directory");
  EXPECT_EQ(fileCount(directory.path), 1u);
  Error noParent = writeFile(directory / "none/file", "text").error();
  EXPECT_EQ(noParent.code, ErrorCode::NotFound);
  EXPECT_NE(noParent.message.find("cannot be created: No such file or directory"), std::string::npos);
}

TEST(FileWriter, AppendsPiecesAndRefusesAnExistingFile) {
  TemporaryDirectory directory;
  {
    Result<FileWriter> writer = FileWriter::create(directory / "pieces");
    ASSERT_TRUE(writer.has_value());
    ASSERT_TRUE(writer->write("one ").has_value());
    ASSERT_TRUE(writer->write("two").has_value());
    ASSERT_TRUE(writer->close().has_value());
  }
  EXPECT_EQ(directory.get("pieces"), "one two");
  Result<FileWriter> again = FileWriter::create(directory / "pieces");
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, ErrorCode::AlreadyExists);
  EXPECT_EQ(again.error().message,
            "[" + (directory / "pieces").string() + "] cannot be created: File exists");
}

TEST(FileWriter, SaysThatAWriteFailed) {
  TemporaryDirectory directory;
  Result<FileWriter> writer = FileWriter::create(directory / "closed");
  ASSERT_TRUE(writer.has_value());
  ASSERT_TRUE(writer->close().has_value());
  Error error = writer->write("late").error();
  EXPECT_EQ(error.message,
            "[" + (directory / "closed").string() + "] cannot be written: Bad file descriptor");
}

TEST(MappedFile, MapsAndOutlivesItsName) {
  TemporaryDirectory directory;
  directory.put("data", "mapped bytes");
  std::shared_ptr<const MappedFile> file = *MappedFile::open(directory / "data");
  fs::remove(directory / "data");
  EXPECT_EQ(textOf(file->bytes()), "mapped bytes");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(file->bytes().data()) % 4096, 0u);
}

TEST(MappedFile, MapsAnEmptyFileAndRefusesADirectory) {
  TemporaryDirectory directory;
  directory.put("empty", "");
  EXPECT_TRUE((*MappedFile::open(directory / "empty"))->bytes().empty());
  EXPECT_EQ(MappedFile::open(directory.path).error().message,
            "[" + directory.path.string() + "] is no regular file");
  EXPECT_EQ(MappedFile::open(directory / "missing").error().message,
            "[" + (directory / "missing").string() + "] cannot be opened: No such file or directory");
}

TEST(MappedFile, WritesStayInTheProcess) {
  TemporaryDirectory directory;
  directory.put("data", "abc");
  std::shared_ptr<const MappedFile> file = *MappedFile::open(directory / "data");
  const_cast<std::byte *>(file->bytes().data())[0] = std::byte{'X'};
  EXPECT_EQ(textOf(file->bytes()), "Xbc");
  EXPECT_EQ(directory.get("data"), "abc");
}

TEST(MakeDirectories, CreatesParentsAndSaysWhyItCannot) {
  TemporaryDirectory directory;
  ASSERT_TRUE(makeDirectories(directory / "a/b/c").has_value());
  ASSERT_TRUE(makeDirectories(directory / "a/b/c").has_value());
  EXPECT_TRUE(fs::is_directory(directory / "a/b/c"));
  directory.put("file", "x");
  EXPECT_EQ(makeDirectories(directory / "file/below").error().message,
            "[" + (directory / "file/below").string() + "] cannot be created: Not a directory");
}

TEST(TemporarySibling, IsHiddenBesideTheFileAndNeverTheSame) {
  fs::path first = temporarySibling("/some/where/name");
  EXPECT_EQ(first.parent_path(), "/some/where");
  EXPECT_EQ(first.filename().string().find(".name."), 0u);
  EXPECT_NE(first, temporarySibling("/some/where/name"));
}

TEST(TemporarySibling, SaysWhoMadeIt) {
  std::string name = temporarySibling("/some/where/a.name").filename().string();
  std::optional<TemporaryName> parsed = parseTemporaryName(name);
  ASSERT_TRUE(parsed) << name;
  EXPECT_EQ(parsed->target, "a.name");
  EXPECT_EQ(parsed->process, getpid());
  for (std::string_view other :
       {"", "a.name", ".tmp", ".a.tmp", ".a.1.tmp", "a.1.2.tmp", ".a.1.2", "..1.2.tmp", ".1.2.tmp",
        ".a.0.2.tmp", ".a.-1.2.tmp", ".a.1.x.tmp", ".a.99999999999.2.tmp", ".a.1..tmp"})
    EXPECT_FALSE(parseTemporaryName(other)) << other;
}

TEST(WriteFile, GivesThePermissionsThatAreAskedFor) {
  TemporaryDirectory directory;
  ASSERT_TRUE(writeFile(directory / "private", "x", 0600).has_value());
  struct stat status;
  ASSERT_EQ(::stat((directory / "private").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

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

TEST(ContainedPath, FollowsLinksInsideOnly) {
  TemporaryDirectory directory;
  std::string root = (directory / "root").string();
  directory.put("root/data/w", "x");
  directory.put("outside", "secret");
  fs::create_symlink("data/w", directory / "root/inside");
  fs::create_symlink("../outside", directory / "root/escape");
  fs::create_directory_symlink(directory.path, directory / "root/up");
  EXPECT_EQ(*containedPath(root, "data/w"), fs::canonical(root) / "data/w");
  EXPECT_EQ(*containedPath(root, "inside"), fs::canonical(root) / "data/w");
  Error escape = containedPath(root, "escape").error();
  EXPECT_EQ(escape.code, ErrorCode::PermissionDenied);
  EXPECT_EQ(escape.message, "[" + root + "/escape] is a link that leaves the directory " + root);
  EXPECT_EQ(containedPath(root, "up/outside").error().message,
            "[" + root + "/up/outside] is a link that leaves the directory " + root);
  EXPECT_EQ(containedPath(root, "data/none").error().message,
            "[" + root + "/data/none] cannot be opened: No such file or directory");
  EXPECT_EQ(containedPath(directory / "none", "w").error().message,
            "[" + (directory / "none").string() + "] cannot be opened: No such file or directory");
  EXPECT_EQ(containedPath(root, "../outside").error().code, ErrorCode::InvalidArgument);
}

TEST(Folder, OpensWhatContainedPathAllows) {
  TemporaryDirectory directory;
  std::string root = (directory / "root").string();
  directory.put("root/data/w", "weight");
  directory.put("outside", "secret");
  fs::create_symlink("data/w", directory / "root/inside");
  fs::create_symlink(directory / "root/data/w", directory / "root/absolute");
  fs::create_symlink("../root/data/w", directory / "root/back");
  fs::create_symlink("../outside", directory / "root/escape");
  Folder folder = *Folder::open(root);
  for (const char *name : {"data/w", "inside", "absolute", "back"}) {
    EXPECT_EQ(*folder.read(name, 6), "weight") << name;
    EXPECT_EQ((*folder.map(name))->bytes().size(), 6u) << name;
  }
  EXPECT_EQ(folder.read("escape", 100).error().message,
            "[" + root + "/escape] is a link that leaves the directory " + root);
  EXPECT_EQ(folder.map("escape").error().code, ErrorCode::PermissionDenied);
  EXPECT_EQ(folder.map("../outside").error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(folder.map("data/none").error().message,
            "[" + root + "/data/none] cannot be opened: No such file or directory");
  EXPECT_EQ(folder.map("data").error().message, "[" + root + "/data] is no regular file");
  EXPECT_EQ(folder.read("data/w", 5).error().message,
            "[" + root + "/data/w] is too large: got 6 bytes, expected at most 5");
  EXPECT_EQ(Folder::open(directory / "none").error().code, ErrorCode::NotFound);
}

TEST(ContainedPath, ASiblingWhoseNameStartsTheSameIsOutside) {
  TemporaryDirectory directory;
  directory.put("root/x", "");
  directory.put("root2/y", "");
  fs::create_symlink("../root2/y", directory / "root/link");
  EXPECT_EQ(containedPath(directory / "root", "link").error().code, ErrorCode::PermissionDenied);
}

} // namespace
} // namespace torchere

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
  EXPECT_EQ(noParent.message,
            "[" + (directory / "none/file").string() + "] cannot be created: No such file or directory");
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

TEST(FileWriter, KeepsADigestAndNamesWhatItIsToldTo) {
  TemporaryDirectory directory;
  FileWriter file = *FileWriter::create(directory / "hidden", {.shown = "/shown", .withDigest = true});
  ASSERT_TRUE(file.write("ab").has_value());
  ASSERT_TRUE(file.write("c").has_value());
  EXPECT_EQ(file.size(), 3u);
  // RFC 7693's example text; the value is that of `printf abc | b2sum -l 256`.
  EXPECT_EQ(hexText(file.takeDigest()), "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
  EXPECT_EQ(FileWriter::create(directory / "hidden", {.shown = "/shown"}).error().message,
            "[/shown] cannot be created: File exists");
}

TEST(FileReplacement, NothingStaysWithoutCommit) {
  TemporaryDirectory directory;
  directory.put("file", "old");
  {
    FileReplacement file = *FileReplacement::create(directory / "file");
    ASSERT_TRUE(file.writer().write("half").has_value());
    EXPECT_EQ(fileCount(directory.path), 2u);
  }
  EXPECT_EQ(fileCount(directory.path), 1u);
  EXPECT_EQ(directory.get("file"), "old");
}

} // namespace
} // namespace torchere

// Files: bounded reads, atomic writes, mapped files.
#pragma once

#include "base/descriptor.h"
#include "base/digest.h"
#include "base/error.h"

#include <cstddef>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace torchere {

/// `[path] what: strerror(number)`, with the code that fits the errno value `number`.
TORCHERE_EXPORT tl::unexpected<Error> systemError(const std::filesystem::path &path, std::string_view what,
                                                  int number);

/// The bytes of a regular file. Fails, before it allocates, when the file has more than `limit` bytes.
TORCHERE_EXPORT Result<std::string> readFile(const std::filesystem::path &path, size_t limit);
/// The same of an open file; `path` is for errors.
Result<std::string> readFile(const Descriptor &file, const std::filesystem::path &path, size_t limit);
/// The next bytes of an open file, at most as many as `buffer` has: fewer at its end only.
Result<size_t> readSome(const Descriptor &file, const std::filesystem::path &path,
                        std::span<std::byte> buffer);
/// The flags for reading. O_NONBLOCK: opening a FIFO must not wait for a writer; it is rejected
/// right after.
inline constexpr int readFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

/// Replaces the file by `contents` atomically: written under a temporary name next to it, then renamed, so
/// that a reader sees either the old or the new file. Survives a crash of the process, not of the machine.
/// `mode` as in FileOptions.
TORCHERE_EXPORT Status writeFile(const std::filesystem::path &path, std::string_view contents,
                                 mode_t mode = 0666);

/// Creates the directory and its parents; no error if it exists.
TORCHERE_EXPORT Status makeDirectories(const std::filesystem::path &path);

/// A unique name next to `path`: ".NAME.PID.COUNTER.tmp".
TORCHERE_EXPORT std::filesystem::path temporarySibling(const std::filesystem::path &path);

/// The parts of a name from temporarySibling(): the name of the target file, and the process.
struct TemporaryName {
  std::string target;
  pid_t process = 0;
};
/// Parses such a name (without folders); none for other names.
TORCHERE_EXPORT std::optional<TemporaryName> parseTemporaryName(std::string_view name);

/// Takes the next bytes of a file.
using WriteBytes = std::function<Status(std::span<const std::byte>)>;

struct FileOptions {
  mode_t mode = 0666;               ///< less the process's umask
  std::filesystem::path shown = {}; ///< what errors name, where that is not the file itself
  bool withDigest = false;          ///< keeps the digest of what is written
};

/// A file that is written piece by piece. The destructor closes it; close() says whether that worked.
class TORCHERE_EXPORT FileWriter {
public:
  /// A new file; fails when it exists.
  static Result<FileWriter> create(const std::filesystem::path &path, const FileOptions &options = {});
  /// An existing device, FIFO or terminal, which is not replaced.
  static Result<FileWriter> openExisting(const std::filesystem::path &path);

  Status write(std::span<const std::byte> bytes);
  Status write(std::string_view text) { return write(std::as_bytes(std::span(text.data(), text.size()))); }
  Status close();

  /// As errors name it.
  const std::filesystem::path &path() const { return shown; }
  /// Bytes written so far.
  uint64_t size() const { return byteCount; }
  /// The digest of all that was written, of a file that was created with one; no write may follow.
  Digest::Value takeDigest() { return digest->finish(); }

private:
  FileWriter(std::filesystem::path shown, Descriptor file, bool withDigest);
  std::filesystem::path shown;
  Descriptor file;
  uint64_t byteCount = 0;
  std::optional<Digest> digest;
};

/// A file that atomically replaces another, or none: it is written under a temporary name next to it and
/// renamed by commit(), else removed. Errors name `path`, or `options.shown`.
class TORCHERE_EXPORT FileReplacement {
public:
  static Result<FileReplacement> create(const std::filesystem::path &path, FileOptions options = {});
  FileReplacement(FileReplacement &&other) noexcept;
  FileReplacement &operator=(FileReplacement &&other) = delete;
  ~FileReplacement();

  FileWriter &writer() { return file; }
  Status commit();

private:
  FileReplacement(std::filesystem::path target, std::filesystem::path temporary, FileWriter file);
  std::filesystem::path target;
  std::filesystem::path temporary; ///< empty once it has its name
  FileWriter file;
};

/// A whole file, mapped privately: pages are read on demand and shared with other processes, and writes are
/// copy-on-write. Truncating the file while it is mapped makes the lost pages fault (SIGBUS), as with every
/// mapping.
class TORCHERE_EXPORT MappedFile {
public:
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path &path);
  /// Writes fault.
  static Result<std::shared_ptr<const MappedFile>> openReadOnly(const std::filesystem::path &path);
  /// Of an open file, which need not stay open; `path` is for errors.
  static Result<std::shared_ptr<const MappedFile>> map(const Descriptor &file,
                                                       const std::filesystem::path &path);
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();

  /// Starts at a page; empty for an empty file.
  std::span<const std::byte> bytes() const { return {address, size}; }

private:
  MappedFile(const std::byte *address, size_t size) : address(address), size(size) {}
  static Result<std::shared_ptr<const MappedFile>> map(const Descriptor &file,
                                                       const std::filesystem::path &path, int protection);
  const std::byte *address;
  size_t size;
};

} // namespace torchere

// Files: bounded reads, atomic writes, mapped files, and names that must stay inside a directory.
#pragma once

#include "base/error.h"

#include <cstddef>
#include <filesystem>
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

/// Replaces the file by `contents`: written under a temporary name beside it, then renamed, so that a reader
/// sees the old file or the new one, never a part. Safe against the end of the process, not of the machine.
/// `mode` are the permissions of the new file, less the process's umask.
TORCHERE_EXPORT Status writeFile(const std::filesystem::path &path, std::string_view contents,
                                 mode_t mode = 0666);

/// Creates the directory and its parents; no error when it is there.
TORCHERE_EXPORT Status makeDirectories(const std::filesystem::path &path);

/// A name beside `path` that no other process or thread uses: ".NAME.PID.COUNTER.tmp".
TORCHERE_EXPORT std::filesystem::path temporarySibling(const std::filesystem::path &path);

/// What temporarySibling() made a name from: the name of the file that was to be written, and the process.
struct TemporaryName {
  std::string target;
  pid_t process = 0;
};
/// Reads such a name (without folders); none when it is another.
TORCHERE_EXPORT std::optional<TemporaryName> parseTemporaryName(std::string_view name);

/// A new file that is written piece by piece. The destructor closes it; close() says whether that worked.
class TORCHERE_EXPORT FileWriter {
public:
  /// Fails when the file exists. `mode` as that of writeFile().
  static Result<FileWriter> create(const std::filesystem::path &path, mode_t mode = 0666);
  FileWriter(FileWriter &&other) noexcept;
  FileWriter &operator=(FileWriter &&other) noexcept;
  ~FileWriter();

  Status write(std::span<const std::byte> bytes);
  Status write(std::string_view text) { return write(std::as_bytes(std::span(text.data(), text.size()))); }
  Status close();

private:
  FileWriter(std::filesystem::path path, int descriptor) : path(std::move(path)), descriptor(descriptor) {}
  std::filesystem::path path;
  int descriptor = -1;
};

/// A whole file in memory, mapped privately: pages are read on demand and shared with other processes, and a
/// write through a pointer into them would stay in this process. Truncating the file while it is mapped makes
/// the lost pages fault, as with every mapping.
class TORCHERE_EXPORT MappedFile {
public:
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path &path);
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();

  /// Starts at a page; empty for an empty file.
  std::span<const std::byte> bytes() const { return {address, size}; }

private:
  friend class Folder;
  MappedFile(const std::byte *address, size_t size) : address(address), size(size) {}
  static Result<std::shared_ptr<const MappedFile>> map(int descriptor, const std::filesystem::path &path);
  const std::byte *address;
  size_t size;
};

/// Refuses a name that could leave its directory or that names one file in two ways: empty, absolute, with a
/// NUL, with an empty, "." or ".." component, or not UTF-8. "a/b" is a name. `subject` starts the message.
TORCHERE_EXPORT Status checkRelativeName(std::string_view name, std::string_view subject);

/// The path of the file `name` in `root`, with symbolic links resolved. Refuses what checkRelativeName
/// refuses and links that lead out of `root`. Fails when there is no such file.
TORCHERE_EXPORT Result<std::filesystem::path> containedPath(const std::filesystem::path &root,
                                                            std::string_view name);

/// A folder whose files are opened by names, as containedPath() takes them, in one step: nothing that is
/// renamed meanwhile leads out of it, and a folder of many files is opened quickly.
class TORCHERE_EXPORT Folder {
public:
  static Result<Folder> open(const std::filesystem::path &root);
  Folder(Folder &&other) noexcept;
  Folder &operator=(Folder &&other) = delete;
  ~Folder();

  const std::filesystem::path &path() const { return root; }
  /// As readFile().
  Result<std::string> read(std::string_view name, size_t limit) const;
  /// As MappedFile::open().
  Result<std::shared_ptr<const MappedFile>> map(std::string_view name) const;

private:
  Folder(std::filesystem::path root, int descriptor) : root(std::move(root)), descriptor(descriptor) {}
  /// The number of the open file, which the caller closes.
  Result<int> openFile(std::string_view name) const;
  std::filesystem::path root;
  int descriptor;
};

} // namespace torchere

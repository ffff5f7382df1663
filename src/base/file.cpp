// Files: bounded reads, atomic writes, mapped files.
#include "base/file.h"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <limits>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace torchere {

namespace fs = std::filesystem;

static ErrorCode codeOfErrno(int number) {
  switch (number) {
  case ENOENT:
    return ErrorCode::NotFound;
  case EACCES:
  case EPERM:
  case EROFS:
    return ErrorCode::PermissionDenied;
  case EEXIST:
  case ENOTEMPTY:
    return ErrorCode::AlreadyExists;
  case ENOSPC:
  case EDQUOT:
  case ENOMEM:
  case EMFILE:
  case ENFILE:
    return ErrorCode::ResourceExhausted;
  case ENOTDIR:
  case EISDIR:
  case ENAMETOOLONG:
  case ELOOP:
    return ErrorCode::InvalidArgument;
  default:
    return ErrorCode::Internal;
  }
}

tl::unexpected<Error> systemError(const fs::path &path, std::string_view what, int number) {
  return fail(codeOfErrno(number), "[{}] {}: {}", path.string(), what,
              std::generic_category().message(number));
}

/// Checks that the open file is a regular one and gives its size.
static Result<size_t> regularFileSize(const Descriptor &file, const fs::path &path) {
  struct stat status;
  if (::fstat(file.number(), &status) != 0)
    return systemError(path, "cannot be examined", errno);
  if (!S_ISREG(status.st_mode))
    return invalidArgument("[{}] is no regular file", path.string());
  return static_cast<size_t>(status.st_size);
}

Result<size_t> readSome(const Descriptor &file, const fs::path &path, std::span<std::byte> buffer) {
  size_t done = 0;
  while (done < buffer.size()) {
    ssize_t count = ::read(file.number(), buffer.data() + done, buffer.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return systemError(path, "cannot be read", errno);
    if (count == 0)
      break;
    done += static_cast<size_t>(count);
  }
  return done;
}

Result<std::string> readFile(const Descriptor &file, const fs::path &path, size_t limit) {
  TORCHERE_ASSIGN(size_t size, regularFileSize(file, path));
  if (size > limit)
    return fail(ErrorCode::ResourceExhausted, "[{}] is too large: got {} bytes, expected at most {}",
                path.string(), size, limit);
  std::string contents(size, '\0');
  TORCHERE_ASSIGN(size_t done, readSome(file, path, std::as_writable_bytes(std::span(contents))));
  contents.resize(done);
  return contents;
}

Result<std::string> readFile(const fs::path &path, size_t limit) {
  Descriptor file(::open(path.c_str(), readFlags));
  if (!file.isOpen())
    return systemError(path, "cannot be opened", errno);
  return readFile(file, path, limit);
}

fs::path temporarySibling(const fs::path &path) {
  static std::atomic<unsigned> counter{0};
  std::string name = fmt::format(".{}.{}.{}.tmp", path.filename().string(), ::getpid(), counter++);
  return path.parent_path() / name;
}

/// Takes ".NUMBER" off the end of `text`.
static std::optional<uint64_t> takeNumber(std::string_view &text) {
  size_t dot = text.rfind('.');
  if (dot == std::string_view::npos)
    return std::nullopt;
  std::string_view digits = text.substr(dot + 1);
  uint64_t number = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size())
    return std::nullopt;
  text = text.substr(0, dot);
  return number;
}

std::optional<TemporaryName> parseTemporaryName(std::string_view name) {
  static constexpr std::string_view suffix = ".tmp";
  if (!name.starts_with('.') || !name.ends_with(suffix))
    return std::nullopt;
  name = name.substr(1, name.size() - 1 - suffix.size());
  std::optional<uint64_t> count = takeNumber(name);
  std::optional<uint64_t> process = count ? takeNumber(name) : std::nullopt;
  if (!process || name.empty() || *process == 0 || *process > std::numeric_limits<pid_t>::max())
    return std::nullopt;
  return TemporaryName{std::string(name), static_cast<pid_t>(*process)};
}

Status writeFile(const fs::path &path, std::string_view contents, mode_t mode) {
  TORCHERE_ASSIGN(FileReplacement file, FileReplacement::create(path, {.mode = mode}));
  TORCHERE_TRY(file.writer().write(contents));
  return file.commit();
}

Status makeDirectories(const fs::path &path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    return systemError(path, "cannot be created", error.value());
  return {};
}

FileWriter::FileWriter(fs::path shown, Descriptor file, bool withDigest)
    : shown(std::move(shown)), file(std::move(file)) {
  if (withDigest)
    digest.emplace();
}

Result<FileWriter> FileWriter::create(const fs::path &path, const FileOptions &options) {
  const fs::path &shown = options.shown.empty() ? path : options.shown;
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, options.mode));
  if (!file.isOpen())
    return systemError(shown, "cannot be created", errno);
  return FileWriter(shown, std::move(file), options.withDigest);
}

Result<FileWriter> FileWriter::openExisting(const fs::path &path) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!file.isOpen())
    return systemError(path, "cannot be opened", errno);
  return FileWriter(path, std::move(file), false);
}

Status FileWriter::write(std::span<const std::byte> bytes) {
  if (digest)
    digest->add(bytes);
  byteCount += bytes.size();
  while (!bytes.empty()) {
    ssize_t count = ::write(file.number(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return systemError(shown, "cannot be written", errno);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return {};
}

Status FileWriter::close() {
  if (file.isOpen() && ::close(file.release()) != 0)
    return systemError(shown, "cannot be written", errno);
  return {};
}

Result<FileReplacement> FileReplacement::create(const fs::path &path, FileOptions options) {
  fs::path temporary = temporarySibling(path);
  if (options.shown.empty())
    options.shown = path;
  TORCHERE_ASSIGN(FileWriter file, FileWriter::create(temporary, options));
  return FileReplacement(path, std::move(temporary), std::move(file));
}

FileReplacement::FileReplacement(fs::path target, fs::path temporary, FileWriter file)
    : target(std::move(target)), temporary(std::move(temporary)), file(std::move(file)) {}

FileReplacement::FileReplacement(FileReplacement &&other) noexcept
    : target(std::move(other.target)), temporary(std::exchange(other.temporary, {})),
      file(std::move(other.file)) {}

FileReplacement::~FileReplacement() {
  if (!temporary.empty())
    ::unlink(temporary.c_str());
}

Status FileReplacement::commit() {
  TORCHERE_TRY(file.close());
  if (::rename(temporary.c_str(), target.c_str()) != 0)
    return systemError(file.path(), "cannot be replaced", errno);
  temporary.clear();
  return {};
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const fs::path &path) {
  Descriptor file(::open(path.c_str(), readFlags));
  if (!file.isOpen())
    return systemError(path, "cannot be opened", errno);
  return map(file, path);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::openReadOnly(const fs::path &path) {
  Descriptor file(::open(path.c_str(), readFlags));
  if (!file.isOpen())
    return systemError(path, "cannot be opened", errno);
  return map(file, path, PROT_READ);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::map(const Descriptor &file, const fs::path &path) {
  return map(file, path, PROT_READ | PROT_WRITE);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::map(const Descriptor &file, const fs::path &path,
                                                          int protection) {
  TORCHERE_ASSIGN(size_t size, regularFileSize(file, path));
  void *address = nullptr;
  if (size > 0) { // mmap refuses a length of 0
    address = ::mmap(nullptr, size, protection, MAP_PRIVATE | MAP_NORESERVE, file.number(), 0);
    if (address == MAP_FAILED)
      return systemError(path, "cannot be mapped", errno);
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(static_cast<const std::byte *>(address), size));
}

MappedFile::~MappedFile() {
  if (address)
    ::munmap(const_cast<std::byte *>(address), size);
}

} // namespace torchere

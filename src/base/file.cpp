// Files: bounded reads, atomic writes, mapped files, and names that must stay inside a directory.
#include "base/file.h"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <limits>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#endif

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

namespace {

/// A file descriptor that is closed with its scope.
struct Descriptor {
  explicit Descriptor(int number) : number(number) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() {
    if (number >= 0)
      ::close(number);
  }
  int number;
};

} // namespace

/// Checks that the open file is a regular one and gives its size.
static Result<size_t> regularFileSize(int descriptor, const fs::path &path) {
  struct stat status;
  if (::fstat(descriptor, &status) != 0)
    return systemError(path, "cannot be examined", errno);
  if (!S_ISREG(status.st_mode))
    return invalidArgument("[{}] is no regular file", path.string());
  return static_cast<size_t>(status.st_size);
}

// O_NONBLOCK: opening a FIFO must not wait for a writer; it is refused right after.
static constexpr int readFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

/// The bytes of an open file; `path` is for errors.
static Result<std::string> readAll(const Descriptor &file, const fs::path &path, size_t limit) {
  TORCHERE_ASSIGN(size_t size, regularFileSize(file.number, path));
  if (size > limit)
    return fail(ErrorCode::ResourceExhausted, "[{}] is too large: got {} bytes, expected at most {}",
                path.string(), size, limit);
  std::string contents(size, '\0');
  size_t done = 0;
  while (done < size) {
    ssize_t count = ::read(file.number, contents.data() + done, size - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return systemError(path, "cannot be read", errno);
    if (count == 0)
      break;
    done += static_cast<size_t>(count);
  }
  contents.resize(done);
  return contents;
}

Result<std::string> readFile(const fs::path &path, size_t limit) {
  Descriptor file(::open(path.c_str(), readFlags));
  if (file.number < 0)
    return systemError(path, "cannot be opened", errno);
  return readAll(file, path, limit);
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
  fs::path temporary = temporarySibling(path);
  Status status = [&]() -> Status {
    TORCHERE_ASSIGN(FileWriter file, FileWriter::create(temporary, mode));
    TORCHERE_TRY(file.write(contents));
    TORCHERE_TRY(file.close());
    if (::rename(temporary.c_str(), path.c_str()) != 0)
      return systemError(path, "cannot be replaced", errno);
    return {};
  }();
  if (!status)
    ::unlink(temporary.c_str());
  return status;
}

Status makeDirectories(const fs::path &path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    return systemError(path, "cannot be created", error.value());
  return {};
}

Result<FileWriter> FileWriter::create(const fs::path &path, mode_t mode) {
  int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (descriptor < 0)
    return systemError(path, "cannot be created", errno);
  return FileWriter(path, descriptor);
}

FileWriter::FileWriter(FileWriter &&other) noexcept
    : path(std::move(other.path)), descriptor(std::exchange(other.descriptor, -1)) {}

FileWriter &FileWriter::operator=(FileWriter &&other) noexcept {
  std::swap(path, other.path);
  std::swap(descriptor, other.descriptor);
  return *this;
}

FileWriter::~FileWriter() {
  if (descriptor >= 0)
    ::close(descriptor);
}

Status FileWriter::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return systemError(path, "cannot be written", errno);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return {};
}

Status FileWriter::close() {
  if (descriptor >= 0 && ::close(std::exchange(descriptor, -1)) != 0)
    return systemError(path, "cannot be written", errno);
  return {};
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const fs::path &path) {
  Descriptor file(::open(path.c_str(), readFlags));
  if (file.number < 0)
    return systemError(path, "cannot be opened", errno);
  return map(file.number, path);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::map(int descriptor, const fs::path &path) {
  TORCHERE_ASSIGN(size_t size, regularFileSize(descriptor, path));
  void *address = nullptr;
  if (size > 0) { // mmap refuses a length of 0
    address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0);
    if (address == MAP_FAILED)
      return systemError(path, "cannot be mapped", errno);
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(static_cast<const std::byte *>(address), size));
}

MappedFile::~MappedFile() {
  if (address)
    ::munmap(const_cast<std::byte *>(address), size);
}

/// The number of bytes of the UTF-8 sequence that starts at `text` (RFC 3629), or 0 when it is not one.
static size_t utf8SequenceLength(std::string_view text) {
  auto byte = [&](size_t index) { return static_cast<unsigned char>(text[index]); };
  unsigned char first = byte(0);
  size_t length = first < 0x80   ? 1
                  : first < 0xC2 ? 0
                  : first < 0xE0 ? 2
                  : first < 0xF0 ? 3
                  : first < 0xF5 ? 4
                                 : 0;
  if (length == 0 || length > text.size())
    return 0;
  for (size_t index = 1; index < length; ++index)
    if ((byte(index) & 0xC0) != 0x80)
      return 0;
  bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  bool surrogate = first == 0xED && byte(1) >= 0xA0;
  bool tooLarge = first == 0xF4 && byte(1) >= 0x90;
  return overlong || surrogate || tooLarge ? 0 : length;
}

static bool isUtf8(std::string_view text) {
  while (!text.empty()) {
    size_t length = utf8SequenceLength(text);
    if (length == 0)
      return false;
    text.remove_prefix(length);
  }
  return true;
}

Status checkRelativeName(std::string_view name, std::string_view subject) {
  if (name.empty())
    return invalidArgument("[{}] the name is empty", subject);
  if (name.find('\0') != std::string_view::npos)
    return invalidArgument("[{}] the name \"{}\" has a NUL byte", subject, name.substr(0, name.find('\0')));
  if (!isUtf8(name))
    return invalidArgument("[{}] the name is not UTF-8", subject);
  if (name.front() == '/')
    return invalidArgument("[{}] the name \"{}\" is absolute: expected one relative to its directory",
                           subject, name);
  std::string_view rest = name;
  for (bool more = true; more;) {
    size_t slash = rest.find('/');
    std::string_view component = rest.substr(0, slash);
    if (component.empty() || component == "." || component == "..")
      return invalidArgument("[{}] the name \"{}\" may not have \"{}\" as a component: it could leave its "
                             "directory or name a file twice",
                             subject, name, component);
    more = slash != std::string_view::npos;
    if (more)
      rest.remove_prefix(slash + 1);
  }
  return {};
}

Result<fs::path> containedPath(const fs::path &root, std::string_view name) {
  TORCHERE_TRY(checkRelativeName(name, root.string()));
  std::error_code error;
  fs::path canonicalRoot = fs::canonical(root, error);
  if (error)
    return systemError(root, "cannot be opened", error.value());
  fs::path canonicalPath = fs::canonical(canonicalRoot / name, error);
  if (error)
    return systemError(root / name, "cannot be opened", error.value());
  fs::path relative = canonicalPath.lexically_relative(canonicalRoot);
  if (relative.empty() || *relative.begin() == "..")
    return fail(ErrorCode::PermissionDenied, "[{}] is a link that leaves the directory {}",
                (root / name).string(), root.string());
  return canonicalPath;
}

Result<Folder> Folder::open(const fs::path &root) {
  int descriptor = ::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return systemError(root, "cannot be opened", errno);
  return Folder(root, descriptor);
}

Folder::Folder(Folder &&other) noexcept
    : root(std::move(other.root)), descriptor(std::exchange(other.descriptor, -1)) {}

Folder::~Folder() {
  if (descriptor >= 0)
    ::close(descriptor);
}

/// Opens a file without leaving the folder; negative where it fails or the system does not know how.
static int openBeneath([[maybe_unused]] int folder, [[maybe_unused]] const std::string &name) {
#ifdef RESOLVE_BENEATH
  struct open_how how = {};
  how.flags = readFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, folder, name.c_str(), &how, sizeof(how)));
#else
  return -1;
#endif
}

Result<int> Folder::openFile(std::string_view name) const {
  TORCHERE_TRY(checkRelativeName(name, root.string()));
  if (int number = openBeneath(descriptor, std::string(name)); number >= 0)
    return number;
  // An error that wants its text, a link that leaves the folder and comes back, or an old kernel.
  TORCHERE_ASSIGN(fs::path path, containedPath(root, name));
  int file = ::open(path.c_str(), readFlags);
  if (file < 0)
    return systemError(path, "cannot be opened", errno);
  return file;
}

Result<std::string> Folder::read(std::string_view name, size_t limit) const {
  TORCHERE_ASSIGN(int number, openFile(name));
  return readAll(Descriptor(number), root / name, limit);
}

Result<std::shared_ptr<const MappedFile>> Folder::map(std::string_view name) const {
  TORCHERE_ASSIGN(int number, openFile(name));
  Descriptor file(number);
  return MappedFile::map(file.number, root / name);
}

} // namespace torchere

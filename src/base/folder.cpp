// Folder: files opened, listed and removed relative to a directory that is held open.
#include "base/folder.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <dirent.h>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#endif

namespace torchere {

namespace fs = std::filesystem;

static constexpr int folderFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

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

Result<Folder> Folder::open(const fs::path &path, const fs::path &shown) {
  const fs::path &named = shown.empty() ? path : shown;
  Descriptor descriptor(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.isOpen())
    return systemError(named, "cannot be opened", errno);
  return Folder(path, named, std::move(descriptor));
}

bool Folder::has(std::string_view name) const {
  struct stat status;
  return checkRelativeName(name, "").has_value() &&
         ::fstatat(descriptor.number(), std::string(name).c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

/// Opens a file without leaving the folder; -1 and errno where that fails.
static int openBeneath([[maybe_unused]] int folder, [[maybe_unused]] const std::string &name,
                       [[maybe_unused]] int flags) {
#ifdef RESOLVE_BENEATH
  struct open_how how = {};
  how.flags = static_cast<uint64_t>(flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, folder, name.c_str(), &how, sizeof(how)));
#else
  errno = ENOSYS;
  return -1;
#endif
}

/// Whether openBeneath() failed because of how it opens: the kernel or a sandbox does not offer it (ENOSYS,
/// EPERM, EINVAL, E2BIG), a link leaves the folder on its way or is absolute (EXDEV), something was renamed
/// while ".." of a link was followed (EAGAIN).
static bool mayBeOpenedAsLink(int number) {
  static constexpr std::array<int, 6> numbers = {ENOSYS, EPERM, EINVAL, E2BIG, EXDEV, EAGAIN};
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

/// The kernel's path of an open file; none without /proc.
static std::optional<fs::path> placeOf(const Descriptor &file) {
  std::array<char, PATH_MAX> text;
  std::string link = "/proc/self/fd/" + std::to_string(file.number());
  ssize_t length = ::readlink(link.c_str(), text.data(), text.size());
  if (length < 0)
    return std::nullopt;
  return fs::path(std::string(text.data(), static_cast<size_t>(length)));
}

/// Resolves a file without side effects (O_PATH), checks that it lies in this folder, and only then opens
/// it.
Result<Descriptor> Folder::openLink(const std::string &name, int flags) const {
  Descriptor found(::openat(descriptor.number(), name.c_str(), O_PATH | O_CLOEXEC));
  if (!found.isOpen())
    return systemError(shown / name, "cannot be opened", errno);
  std::optional<fs::path> place = placeOf(found), own = placeOf(descriptor);
  if (!place || !own)
    return systemError(shown / name, "cannot be examined through /proc", errno);
  fs::path relative = place->lexically_relative(*own);
  if (relative.empty() || *relative.begin() == "..")
    return fail(ErrorCode::PermissionDenied, "[{}] is a link that leaves the directory {}",
                (shown / name).string(), shown.string());
  Descriptor file(::open(("/proc/self/fd/" + std::to_string(found.number())).c_str(), flags));
  if (!file.isOpen())
    return systemError(shown / name, "cannot be opened", errno);
  return file;
}

Result<Descriptor> Folder::openInside(std::string_view name, int flags) const {
  TORCHERE_TRY(checkRelativeName(name, shown.string()));
  std::string text(name);
  Descriptor file(openBeneath(descriptor.number(), text, flags));
  if (file.isOpen())
    return file;
  if (mayBeOpenedAsLink(errno))
    return openLink(text, flags);
  return systemError(shown / name, "cannot be opened", errno);
}

Result<Descriptor> Folder::openFile(std::string_view name) const {
  return openInside(name, readFlags);
}

Result<std::string> Folder::read(std::string_view name, size_t limit) const {
  TORCHERE_ASSIGN(Descriptor file, openFile(name));
  return readFile(file, shown / name, limit);
}

Result<std::shared_ptr<const MappedFile>> Folder::map(std::string_view name) const {
  TORCHERE_ASSIGN(Descriptor file, openFile(name));
  return MappedFile::map(file, shown / name);
}

static bool isFolder(DIR *directory, const dirent &entry) {
  if (entry.d_type != DT_UNKNOWN)
    return entry.d_type == DT_DIR;
  struct stat status;
  return ::fstatat(::dirfd(directory), entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(status.st_mode);
}

Result<std::vector<FolderEntry>> Folder::list(std::string_view name) const {
  Descriptor opened;
  if (name.empty()) {
    opened = Descriptor(::openat(descriptor.number(), ".", folderFlags));
    if (!opened.isOpen())
      return systemError(shown, "cannot be listed", errno);
  } else {
    TORCHERE_ASSIGN(opened, openInside(name, folderFlags));
  }
  std::unique_ptr<DIR, int (*)(DIR *)> directory(::fdopendir(opened.number()), ::closedir);
  if (!directory)
    return systemError(shown / name, "cannot be listed", errno);
  opened.release(); // closedir() closes it
  std::string prefix = name.empty() ? "" : std::string(name) + "/";
  std::vector<FolderEntry> entries;
  errno = 0;
  while (const dirent *entry = ::readdir(directory.get())) {
    std::string_view own = entry->d_name;
    if (own != "." && own != "..")
      entries.push_back({prefix + std::string(own), isFolder(directory.get(), *entry)});
    errno = 0;
  }
  if (errno != 0)
    return systemError(shown / name, "cannot be listed", errno);
  std::sort(entries.begin(), entries.end(),
            [](const FolderEntry &left, const FolderEntry &right) { return left.name < right.name; });
  return entries;
}

Result<std::vector<FolderEntry>> Folder::listAll(std::string_view name) const {
  TORCHERE_ASSIGN(std::vector<FolderEntry> entries, list(name));
  for (size_t index = 0; index < entries.size(); ++index) {
    if (!entries[index].isFolder)
      continue;
    TORCHERE_ASSIGN(std::vector<FolderEntry> below, list(entries[index].name));
    entries.insert(entries.end(), below.begin(), below.end());
  }
  return entries;
}

Status Folder::remove(const FolderEntry &entry) const {
  TORCHERE_TRY(checkRelativeName(entry.name, shown.string()));
  Descriptor parent;
  int at = descriptor.number();
  std::string_view rest = entry.name;
  for (size_t slash; (slash = rest.find('/')) != std::string_view::npos; rest.remove_prefix(slash + 1)) {
    std::string component(rest.substr(0, slash));
    parent = Descriptor(::openat(at, component.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!parent.isOpen() && errno == ENOENT)
      return {};
    if (!parent.isOpen())
      return systemError(shown / entry.name, "cannot be removed", errno);
    at = parent.number();
  }
  if (::unlinkat(at, std::string(rest).c_str(), entry.isFolder ? AT_REMOVEDIR : 0) != 0 && errno != ENOENT)
    return systemError(shown / entry.name, "cannot be removed", errno);
  return {};
}

/// Some file systems do not synchronize directories, and say so.
static Status synchronizeOpen(const Descriptor &file, const fs::path &shown) {
  if (::fsync(file.number()) == 0 || errno == EINVAL || errno == ENOTSUP)
    return {};
  return systemError(shown, "cannot be written to the disk", errno);
}

Status Folder::synchronize() const {
  TORCHERE_ASSIGN(std::vector<FolderEntry> entries, listAll());
  for (const FolderEntry &entry : entries) {
    TORCHERE_ASSIGN(Descriptor file, openInside(entry.name, entry.isFolder ? folderFlags : readFlags));
    TORCHERE_TRY(synchronizeOpen(file, shown / entry.name));
  }
  return synchronizeDirectory(location, shown);
}

Status synchronizeDirectory(const fs::path &path, const fs::path &shown) {
  Descriptor directory(::open(path.c_str(), folderFlags));
  if (!directory.isOpen())
    return errno == EACCES ? Status() // writable but not readable
                           : systemError(shown, "cannot be opened", errno);
  return synchronizeOpen(directory, shown);
}

bool Folder::isCurrent() const {
  struct stat held, named;
  return ::fstat(descriptor.number(), &held) == 0 && ::stat(location.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

tl::unexpected<Error> replacedTooOften(const fs::path &path) {
  return fail(ErrorCode::Unavailable, "[{}] was replaced while it was read, {} times in a row", path.string(),
              folderTries);
}

} // namespace torchere

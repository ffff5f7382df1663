// ProgramFiles: the files of a saved program, in a directory or in one zip file.
#include "artifact/program_files.h"

#include "base/cyclic_checksum.h"
#include "base/digest.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <set>
#include <unistd.h>

namespace torchere::artifact {

namespace fs = std::filesystem;

static constexpr size_t sizeReadAtOnce = 1 << 20; // bytes read at once

/// The digest of what `readNext(piece)` gives, until it gives nothing.
template <class ReadNext> static Result<FileDigest> digestOf(std::string_view name, ReadNext readNext) {
  std::vector<std::byte> piece(sizeReadAtOnce);
  Digest digest;
  FileDigest found{std::string(name), 0, {}};
  for (;;) {
    TORCHERE_ASSIGN(size_t count, readNext(std::span(piece)));
    if (count == 0)
      break;
    digest.add(std::span(piece).first(count));
    found.byteSize += static_cast<int64_t>(count);
  }
  found.blake2b = hexText(digest.finish());
  return found;
}

Result<FileBytes> FolderFiles::map(std::string_view name) const {
  TORCHERE_ASSIGN(std::shared_ptr<const MappedFile> file, folder.map(name));
  std::span<const std::byte> bytes = file->bytes();
  return FileBytes{std::move(file), bytes};
}

Result<FileDigest> FolderFiles::digest(std::string_view name) const {
  fs::path shown = folder.path() / name;
  TORCHERE_ASSIGN(Descriptor file, folder.openFile(name));
  return digestOf(name, [&](std::span<std::byte> piece) { return readSome(file, shown, piece); });
}

Result<ZipFiles> ZipFiles::open(const fs::path &path) {
  Descriptor file(::open(path.c_str(), readFlags));
  if (!file.isOpen())
    return systemError(path, "cannot be opened", errno);
  TORCHERE_ASSIGN(std::shared_ptr<const MappedFile> mapped, MappedFile::map(file, path));
  TORCHERE_ASSIGN(std::vector<ZipEntry> entries, readZipIndex(mapped->bytes(), path.string()));
  return ZipFiles(path, std::move(file), std::move(mapped), std::move(entries));
}

Result<const ZipEntry *> ZipFiles::find(std::string_view name) const {
  auto found = std::ranges::lower_bound(entries, name, {}, &ZipEntry::name);
  if (found == entries.end() || found->name != name)
    return systemError(shown / name, "cannot be opened", ENOENT);
  return &*found;
}

bool ZipFiles::has(std::string_view name) const {
  std::string folder = std::string(name) + "/";
  auto below = std::ranges::lower_bound(entries, folder, {}, &ZipEntry::name);
  return find(name).has_value() || (below != entries.end() && below->name.starts_with(folder));
}

Result<std::string> ZipFiles::read(std::string_view name, size_t limit) const {
  TORCHERE_ASSIGN(const ZipEntry *entry, find(name));
  if (entry->size > limit)
    return fail(ErrorCode::ResourceExhausted, "[{}] is too large: got {} bytes, expected {} at most",
                (shown / name).string(), entry->size, limit);
  std::span<const std::byte> bytes = mapped->bytes().subspan(entry->offset, entry->size);
  if (uint32_t crc = Crc32().add(bytes).value(); crc != entry->crc)
    return fail(ErrorCode::DataLoss, "[{}] is damaged: got the checksum {:08x}, expected {:08x}",
                (shown / name).string(), crc, entry->crc);
  return std::string(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}

Result<FileBytes> ZipFiles::map(std::string_view name) const {
  TORCHERE_ASSIGN(const ZipEntry *entry, find(name));
  return FileBytes{mapped, mapped->bytes().subspan(entry->offset, entry->size)};
}

Result<FileDigest> ZipFiles::digest(std::string_view name) const {
  TORCHERE_ASSIGN(const ZipEntry *entry, find(name));
  uint64_t position = entry->offset, end = entry->offset + entry->size;
  return digestOf(name, [&](std::span<std::byte> piece) -> Result<size_t> {
    size_t wanted = std::min<uint64_t>(piece.size(), end - position);
    ssize_t count = 0;
    do
      count = ::pread(file.number(), piece.data(), wanted, static_cast<off_t>(position));
    while (count < 0 && errno == EINTR);
    if (count < 0)
      return systemError(shown / name, "cannot be read", errno);
    position += static_cast<uint64_t>(count);
    return static_cast<size_t>(count);
  });
}

Result<std::vector<FolderEntry>> ZipFiles::listAll(std::string_view name) const {
  std::string prefix = name.empty() ? "" : std::string(name) + "/";
  std::vector<FolderEntry> found;
  std::set<std::string> folders;
  for (const ZipEntry &entry : entries) {
    if (!entry.name.starts_with(prefix))
      continue;
    for (size_t slash = prefix.size(); (slash = entry.name.find('/', slash)) != std::string::npos; ++slash)
      if (folders.insert(entry.name.substr(0, slash)).second)
        found.push_back({entry.name.substr(0, slash), /*isFolder=*/true});
    found.push_back({entry.name, /*isFolder=*/false});
  }
  return found;
}

Result<std::vector<FolderEntry>> ZipFiles::list(std::string_view name) const {
  TORCHERE_ASSIGN(std::vector<FolderEntry> entries, listAll(name));
  size_t prefix = name.empty() ? 0 : name.size() + 1;
  std::erase_if(entries,
                [&](const FolderEntry &entry) { return entry.name.find('/', prefix) != std::string::npos; });
  return entries;
}

} // namespace torchere::artifact

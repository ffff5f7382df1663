// The entries of an uncompressed zip file, found and checked.
#include "artifact/zip_index.h"

#include "artifact/zip_format.h"
#include "base/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace torchere::artifact {

using namespace zip;

namespace {

/// The central directory: where it lies, and how many entries it has.
struct Directory {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t count = 0;
};

/// An entry as the central directory describes it.
struct Header {
  ZipEntry entry;
  uint64_t local = 0; ///< the offset of the local header
  uint16_t flags = 0;
  uint16_t method = 0;
  uint64_t storedSize = 0;
  uint32_t attributes = 0;
  bool isUnix = false;
};

class IndexReader {
public:
  IndexReader(std::span<const std::byte> file, std::string_view subject) : file(file), subject(subject) {}

  Result<std::vector<ZipEntry>> read() {
    TORCHERE_ASSIGN(Directory directory, findDirectory());
    TORCHERE_ASSIGN(std::vector<Header> headers, readHeaders(directory));
    TORCHERE_TRY(checkPlaces(headers, directory.offset));
    std::vector<ZipEntry> entries;
    for (Header &header : headers)
      if (!header.entry.name.ends_with('/'))
        entries.push_back(std::move(header.entry));
    std::ranges::sort(entries, {}, &ZipEntry::name);
    TORCHERE_TRY(checkNames(entries));
    return entries;
  }

private:
  template <class... Args>
  tl::unexpected<Error> damaged(fmt::format_string<Args...> format, Args &&...args) const {
    return fail(ErrorCode::DataLoss, "[{}] {}", subject, fmt::format(format, std::forward<Args>(args)...));
  }

  /// The end record is the file's last, but for a comment of at most 65535 bytes.
  std::optional<size_t> findEnd() const {
    if (file.size() < endSize)
      return std::nullopt;
    size_t last = file.size() - endSize;
    for (size_t offset = last + 1; offset-- > last - std::min<size_t>(last, max16);)
      if (numberAt<uint32_t>(file, offset) == endSignature &&
          numberAt<uint16_t>(file, offset + 20) == last - offset)
        return offset;
    return std::nullopt;
  }

  Result<Directory> findDirectory() const {
    std::optional<size_t> end = findEnd();
    if (!end)
      return damaged("is no zip file, or was cut off: its end record is missing");
    Directory directory = {numberAt<uint32_t>(file, *end + 16), numberAt<uint32_t>(file, *end + 12),
                           numberAt<uint16_t>(file, *end + 10)};
    bool isSplit = numberAt<uint16_t>(file, *end + 4) != 0 || numberAt<uint16_t>(file, *end + 6) != 0 ||
                   numberAt<uint16_t>(file, *end + 8) != directory.count;
    if (isSplit)
      return damaged("is one of several parts of a zip file: expected a whole one");
    uint64_t limit = *end;
    bool hasLocator =
        *end >= locator64Size && numberAt<uint32_t>(file, *end - locator64Size) == locator64Signature;
    if (hasLocator) {
      TORCHERE_ASSIGN(limit, readEnd64(*end - locator64Size, directory));
    }
    if (directory.size > limit || directory.offset != limit - directory.size)
      return damaged(
          "its directory does not lie before its end: got {} bytes at {}, expected them to end at {}",
          directory.size, directory.offset, limit);
    return directory;
  }

  /// Reads the ZIP64 end record; returns its offset.
  Result<uint64_t> readEnd64(size_t locator, Directory &directory) const {
    uint64_t offset = numberAt<uint64_t>(file, locator + 8);
    bool isThere = locator >= end64Size && offset <= locator - end64Size &&
                   numberAt<uint32_t>(file, offset) == end64Signature &&
                   numberAt<uint64_t>(file, offset + 4) == locator - offset - 12;
    if (!isThere)
      return damaged("its ZIP64 end record is missing: got the offset {}", offset);
    Directory wide = {numberAt<uint64_t>(file, offset + 48), numberAt<uint64_t>(file, offset + 40),
                      numberAt<uint64_t>(file, offset + 32)};
    bool agrees = (directory.count == max16 || directory.count == wide.count) &&
                  (directory.size == max32 || directory.size == wide.size) &&
                  (directory.offset == max32 || directory.offset == wide.offset);
    bool isWhole = numberAt<uint32_t>(file, offset + 16) == 0 && numberAt<uint32_t>(file, offset + 20) == 0 &&
                   numberAt<uint64_t>(file, offset + 24) == wide.count;
    if (!agrees || !isWhole)
      return damaged("its end records disagree");
    directory = wide;
    return offset;
  }

  Result<std::vector<Header>> readHeaders(const Directory &directory) const {
    if (directory.count > directory.size / centralSize)
      return damaged("its directory is too short: got {} bytes for {} entries", directory.size,
                     directory.count);
    std::span<const std::byte> rest = file.subspan(directory.offset, directory.size);
    std::vector<Header> headers;
    while (!rest.empty()) {
      TORCHERE_ASSIGN(Header header, readHeader(rest));
      headers.push_back(std::move(header));
    }
    if (headers.size() != directory.count)
      return damaged("wrong number of entries: got {}, expected {}", headers.size(), directory.count);
    return headers;
  }

  /// Takes a header from the directory.
  Result<Header> readHeader(std::span<const std::byte> &rest) const {
    if (rest.size() < centralSize || numberAt<uint32_t>(rest, 0) != centralSignature)
      return damaged("its directory is damaged");
    size_t nameSize = numberAt<uint16_t>(rest, 28), extraSize = numberAt<uint16_t>(rest, 30),
           commentSize = numberAt<uint16_t>(rest, 32);
    if (rest.size() - centralSize < nameSize + extraSize + commentSize)
      return damaged("its directory is damaged");
    Header header;
    header.isUnix = numberAt<uint16_t>(rest, 4) >> 8 == 3;
    header.flags = numberAt<uint16_t>(rest, 8);
    header.method = numberAt<uint16_t>(rest, 10);
    header.entry.crc = numberAt<uint32_t>(rest, 16);
    header.storedSize = numberAt<uint32_t>(rest, 20);
    header.entry.size = numberAt<uint32_t>(rest, 24);
    header.attributes = numberAt<uint32_t>(rest, 38);
    header.local = numberAt<uint32_t>(rest, 42);
    header.entry.name = textAt(rest, centralSize, nameSize);
    bool isSplit = numberAt<uint16_t>(rest, 34) != 0;
    TORCHERE_TRY(readZip64(rest.subspan(centralSize + nameSize, extraSize), header));
    TORCHERE_TRY(checkHeader(header, isSplit));
    rest = rest.subspan(centralSize + nameSize + extraSize + commentSize);
    return header;
  }

  static std::string textAt(std::span<const std::byte> bytes, size_t offset, size_t size) {
    return {reinterpret_cast<const char *>(bytes.data()) + offset, size};
  }

  /// The 64-bit values of the fields that do not hold them.
  Status readZip64(std::span<const std::byte> extra, Header &header) const {
    std::span<const std::byte> wide;
    bool isFound = false;
    while (!extra.empty()) {
      size_t size = extra.size() < 4 ? 0 : numberAt<uint16_t>(extra, 2);
      if (extra.size() < 4 || extra.size() - 4 < size)
        return damaged("the extra field of entry \"{}\" is damaged", header.entry.name);
      if (numberAt<uint16_t>(extra, 0) == zip64Extra) {
        if (std::exchange(isFound, true))
          return damaged("entry \"{}\" has two ZIP64 fields", header.entry.name);
        wide = extra.subspan(4, size);
      }
      extra = extra.subspan(4 + size);
    }
    for (uint64_t *field : {&header.entry.size, &header.storedSize, &header.local}) {
      if (*field != max32)
        continue;
      if (wide.size() < 8)
        return damaged("entry \"{}\" has no ZIP64 size or offset", header.entry.name);
      *field = numberAt<uint64_t>(wide, 0);
      wide = wide.subspan(8);
    }
    return {};
  }

  Status checkHeader(const Header &header, bool isSplit) const {
    const std::string &name = header.entry.name;
    bool isFolder = name.ends_with('/');
    TORCHERE_TRY(
        checkRelativeName(isFolder ? std::string_view(name).substr(0, name.size() - 1) : name, subject));
    if (header.flags & (isEncrypted | isMasked))
      return damaged("entry \"{}\" is encrypted: expected a plain one", name);
    if (header.method != stored)
      return damaged("entry \"{}\" is compressed (method {}): expected stored entries, as of `zip -0`", name,
                     header.method);
    if (header.storedSize != header.entry.size || isSplit || (isFolder && header.entry.size != 0))
      return damaged("entry \"{}\" has a wrong size: got {} bytes stored, expected {}", name,
                     header.storedSize, isFolder ? 0 : header.entry.size);
    constexpr uint32_t typeMask = 0170000, file = 0100000, folder = 0040000;
    uint32_t type = (header.attributes >> 16) & typeMask;
    if (header.isUnix && type != 0 && type != (isFolder ? folder : file))
      return damaged("entry \"{}\" is no plain file", name);
    return {};
  }

  /// Finds the data of the entries; they may not overlap each other or the directory.
  Status checkPlaces(std::vector<Header> &headers, uint64_t limit) const {
    std::ranges::sort(headers, {}, &Header::local);
    uint64_t end = 0;
    for (Header &header : headers) {
      ZipEntry &entry = header.entry;
      if (header.local < end)
        return damaged("entry \"{}\" overlaps the one before it", entry.name);
      TORCHERE_ASSIGN(entry.offset, findData(header, limit));
      if (entry.size > limit - entry.offset)
        return damaged(
            "entry \"{}\" does not lie within the file: got {} bytes at {}, expected them to end at "
            "{} at most",
            entry.name, entry.size, entry.offset, limit);
      end = entry.offset + entry.size;
    }
    return {};
  }

  /// Checks the local header; returns the offset of the data after it.
  Result<uint64_t> findData(const Header &header, uint64_t limit) const {
    const std::string &name = header.entry.name;
    if (limit < localSize || header.local > limit - localSize ||
        numberAt<uint32_t>(file, header.local) != localSignature)
      return damaged("entry \"{}\" has no header at {}", name, header.local);
    std::span<const std::byte> local = file.subspan(header.local, limit - header.local);
    size_t nameSize = numberAt<uint16_t>(local, 26), extraSize = numberAt<uint16_t>(local, 28);
    if (local.size() - localSize < nameSize + extraSize)
      return damaged("the header of entry \"{}\" does not lie within the file", name);
    uint32_t storedSize = numberAt<uint32_t>(local, 18), size = numberAt<uint32_t>(local, 22);
    bool hasSizes = !(header.flags & hasDescriptor) && size != max32;
    bool agrees = numberAt<uint16_t>(local, 6) == header.flags && numberAt<uint16_t>(local, 8) == stored &&
                  textAt(local, localSize, nameSize) == name &&
                  (!hasSizes || (size == header.entry.size && storedSize == header.entry.size &&
                                 numberAt<uint32_t>(local, 14) == header.entry.crc));
    if (!agrees)
      return damaged("the headers of entry \"{}\" disagree", name);
    return header.local + localSize + nameSize + extraSize;
  }

  Status checkNames(const std::vector<ZipEntry> &entries) const {
    for (size_t index = 1; index < entries.size(); ++index)
      if (entries[index].name == entries[index - 1].name)
        return damaged("has two entries called \"{}\"", entries[index].name);
    return {};
  }

  std::span<const std::byte> file;
  std::string_view subject;
};

} // namespace

Result<std::vector<ZipEntry>> readZipIndex(std::span<const std::byte> file, std::string_view subject) {
  return IndexReader(file, subject).read();
}

} // namespace torchere::artifact

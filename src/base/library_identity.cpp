// Implements libraryIdentity(): build ids of loaded libraries.
#include "base/library_identity.h"

#include "base/digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <link.h>
#include <span>
#include <string_view>
#include <sys/stat.h>

namespace torchere {

/// The build id in a note segment, in hexadecimal; empty if there is none.
static std::string buildIdOf(std::span<const uint8_t> notes, size_t alignment) {
  auto padded = [&](size_t size) { return (size + alignment - 1) / alignment * alignment; };
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data(), sizeof(note));
    notes = notes.subspan(sizeof(note));
    size_t nameSize = padded(note.n_namesz), valueSize = padded(note.n_descsz);
    if (nameSize > notes.size() || note.n_descsz > notes.size() - nameSize)
      return {};
    if (note.n_type == NT_GNU_BUILD_ID &&
        std::ranges::equal(notes.first(note.n_namesz), std::string_view("GNU", 4)))
      return hexText(notes.subspan(nameSize, note.n_descsz));
    notes = notes.subspan(std::min(nameSize + valueSize, notes.size()));
  }
  return {};
}

/// Path, size and modification time.
static std::string fileIdentity(const char *path) {
  struct stat status;
  if (::stat(path, &status) != 0)
    return path;
  return fmt::format("file {} {} {}.{:09}", path, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

namespace {
struct LibrarySearch {
  uintptr_t address;
  std::string identity;
};
} // namespace

static int examineLibrary(struct dl_phdr_info *library, size_t, void *argument) {
  auto &search = *static_cast<LibrarySearch *>(argument);
  std::span segments(library->dlpi_phdr, library->dlpi_phnum);
  bool isIt = false;
  for (const ElfW(Phdr) &segment : segments) {
    uintptr_t start = library->dlpi_addr + segment.p_vaddr;
    isIt |= segment.p_type == PT_LOAD && search.address >= start && search.address - start < segment.p_memsz;
  }
  if (!isIt)
    return 0;
  for (const ElfW(Phdr) &segment : segments) {
    if (segment.p_type != PT_NOTE)
      continue;
    const auto *notes = reinterpret_cast<const uint8_t *>(library->dlpi_addr + segment.p_vaddr);
    std::string buildId = buildIdOf({notes, segment.p_memsz}, segment.p_align == 8 ? 8 : 4);
    if (!buildId.empty()) {
      search.identity = "build " + buildId;
      return 1;
    }
  }
  bool isProgram = !library->dlpi_name || !*library->dlpi_name;
  search.identity = fileIdentity(isProgram ? "/proc/self/exe" : library->dlpi_name);
  return 1;
}

std::string libraryIdentity(const void *address) {
  LibrarySearch search{reinterpret_cast<uintptr_t>(address), {}};
  dl_iterate_phdr(examineLibrary, &search);
  return search.identity;
}

} // namespace torchere

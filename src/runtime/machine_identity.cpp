// What compiled code depends on: build ids of loaded libraries, and the system's description of the
// processor.
#include "runtime/machine_identity.h"

#include "base/digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <link.h>
#include <sched.h>
#include <span>
#include <string_view>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/utsname.h>

namespace torchere::runtime {

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

std::string processorIdentity() {
  static constexpr std::string_view keys[] = {
      "vendor_id",
      "cpu family",
      "model",
      "flags", // x86
      "CPU implementer",
      "CPU architecture",
      "CPU variant",
      "CPU part",
      "Features", // ARM
      "isa",
      "uarch", // RISC-V
  };
  struct utsname system = {};
  ::uname(&system);
  std::string identity =
      fmt::format("{} {:x} {:x}\n", system.machine, getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
  // The first processor represents all; its lines end at the first empty one.
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {
    std::string_view key = std::string_view(line).substr(0, line.find_first_of("\t:"));
    for (std::string_view known : keys)
      if (key == known)
        identity += line + "\n";
  }
  cpu_set_t usable;
  if (::sched_getaffinity(0, sizeof(usable), &usable) == 0)
    identity += fmt::format("{} processors\n", CPU_COUNT(&usable));
  return identity;
}

} // namespace torchere::runtime

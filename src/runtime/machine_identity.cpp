// What compiled code depends on: the system's description of the processor.
#include "runtime/machine_identity.h"

#include <fmt/format.h>

#include <fstream>
#include <sched.h>
#include <string_view>
#include <sys/auxv.h>
#include <sys/utsname.h>

namespace torchere::runtime {

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

// Reads, prints and bounds versions.
#include "vhlo/version.h"

#include <array>
#include <charconv>

namespace torchere::vhlo {

Result<Version> Version::parse(std::string_view text, std::string_view subject) {
  std::array<int, 3> numbers{};
  const char *place = text.data(), *end = text.data() + text.size();
  for (size_t index = 0; index < numbers.size(); ++index) {
    auto [next, error] = std::from_chars(place, end, numbers[index]);
    bool isLast = index + 1 == numbers.size();
    bool isEnded = isLast ? next == end : next != end && *next == '.';
    if (error != std::errc() || *place == '-' || !isEnded)
      return invalidArgument("[{}] not a StableHLO version: got \"{}\", expected three numbers as in \"{}\"",
                             subject, text, defaultVersion.text());
    place = next + (isLast ? 0 : 1);
  }
  return Version{numbers[0], numbers[1], numbers[2]};
}

std::string Version::text() const {
  return fmt::format("{}.{}.{}", major, minor, patch);
}

Status checkTarget(const Version &version) {
  if (version.opset() < minimumVersion || version.opset() > currentVersion)
    return invalidArgument("[target_version] StableHLO {} cannot be written: expected {} to {}",
                           version.text(), minimumVersion.text(), currentVersion.text());
  return {};
}

Result<Version> targetFor(const Version &reader) {
  Version target = std::min(reader.opset(), currentVersion);
  TORCHERE_TRY(checkTarget(target));
  return target;
}

int bytecodeVersion(const Version &version) {
  if (version < Version{0, 10, 0})
    return 0;
  if (version < Version{0, 12, 0})
    return 1;
  if (version < Version{0, 14, 0})
    return 3;
  return version < Version{0, 15, 0} ? 4 : 6;
}

} // namespace torchere::vhlo

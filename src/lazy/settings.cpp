// The limits, from the environment or set.
#include "lazy/settings.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace torchere::lazy {

namespace {

struct Known {
  const char *name;
  int64_t byDefault;
};
constexpr std::array<Known, 4> known = {
    {{"pending_ops", 50000}, {"programs", 1024}, {"calls", 65536}, {"numbers", 1024}}};

int64_t initialValue(const Known &setting) {
  std::string variable = std::string("TORCHERE_LAZY_") + setting.name;
  std::ranges::transform(variable, variable.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  const char *given = std::getenv(variable.c_str());
  std::string_view text = given ? given : "";
  if (text.empty())
    return setting.byDefault;
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value > 0)
    return value;
  TORCH_WARN("[", variable, "] not a limit: got \"", text, "\", expected a whole number above 0; it is ",
             setting.byDefault);
  return setting.byDefault;
}

std::array<std::atomic<int64_t>, known.size()> &values() {
  struct Values {
    Values() {
      for (size_t i = 0; i < known.size(); ++i)
        values[i] = initialValue(known[i]);
    }
    std::array<std::atomic<int64_t>, known.size()> values;
  };
  static auto *made = new Values;
  return made->values;
}

} // namespace

int64_t setting(Setting which) {
  return values()[static_cast<size_t>(which)].load(std::memory_order_relaxed);
}

std::map<std::string, int64_t> settings() {
  std::map<std::string, int64_t> all;
  for (size_t i = 0; i < known.size(); ++i)
    all[known[i].name] = values()[i];
  return all;
}

void changeSetting(const std::string &name, int64_t value) {
  const auto *found = std::ranges::find(known, name, &Known::name);
  std::string names;
  for (const Known &setting : known)
    names += (names.empty() ? "" : ", ") + std::string(setting.name);
  TORCH_CHECK(found != known.end(), "[limits] no such limit: got ", name, ", expected one of ", names);
  TORCH_CHECK(value > 0, "[limits] ", name, ": got ", value, ", expected a whole number above 0");
  values()[static_cast<size_t>(found - known.begin())] = value;
}

bool isSet(const char *variable) {
  const char *value = std::getenv(variable);
  return value && *value && std::string_view(value) != "0";
}

} // namespace torchere::lazy

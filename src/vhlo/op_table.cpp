// Parses the rows: which version of StableHLO has which version of an op, with which attributes.
#include "vhlo/op_table.h"

#include <charconv>

namespace torchere::vhlo {

static std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// `name@2` is in versions 2 and later, `name@-1` in version 1 and earlier, `name` in all.
static std::optional<std::string_view> attributeOf(std::string_view word, int number) {
  size_t mark = word.find('@');
  if (mark == std::string_view::npos)
    return word;
  int limit = 0;
  std::from_chars(word.data() + mark + 1, word.data() + word.size(), limit);
  bool isHeld = limit > 0 ? number >= limit : number <= -limit;
  return isHeld ? std::optional(word.substr(0, mark)) : std::nullopt;
}

OpTable::OpTable() {
  for (const OpRow &row : opRows()) {
    auto &[rowOfName, versionsOfRow] = byRow[row.name];
    rowOfName = &row;
    std::vector<std::string_view> starts = words(row.versions), attributes = words(row.attributes);
    for (size_t index = 0; index < starts.size(); ++index) {
      auto version = std::make_unique<OpVersion>();
      version->row = &row;
      version->number = index + 1;
      version->since = *Version::parse(starts[index]);
      if (index + 1 < starts.size())
        version->until = *Version::parse(starts[index + 1]);
      version->name = fmt::format("{}_v{}", row.name, version->number);
      for (std::string_view word : attributes)
        if (auto name = attributeOf(word, version->number))
          version->attributes.push_back(*name);
      versionsOfRow.push_back(version.get());
      byName[version->name] = version.get();
      all.push_back(std::move(version));
    }
  }
}

const OpTable &OpTable::instance() {
  static const OpTable table;
  return table;
}

const OpVersion *OpTable::find(std::string_view portableName) const {
  auto found = byName.find(portableName);
  return found == byName.end() ? nullptr : found->second;
}

const OpVersion *OpTable::find(const OpRow &row, const Version &target) const {
  for (const OpVersion *version : byRow.at(row.name).second)
    if (version->isIn(target.opset()))
      return version;
  return nullptr;
}

const OpRow *OpTable::findRow(std::string_view name) const {
  auto found = byRow.find(name);
  return found == byRow.end() ? nullptr : found->second.first;
}

} // namespace torchere::vhlo

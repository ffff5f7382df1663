// The composites in the text of a module, found without parsing it.
#include "cli/composite_list.h"

#include <map>
#include <utility>

namespace torchere::cli {

/// What comes before the closing quote or brace that matches the one before `text`; empty without one.
static std::string_view upToQuote(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      return text.substr(0, i);
  }
  return {};
}

static std::string_view upToBrace(std::string_view text) {
  size_t depth = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"')
      i += upToQuote(text.substr(i + 1)).size() + 1;
    else if (text[i] == '{')
      ++depth;
    else if (text[i] == '}' && --depth == 0)
      return text.substr(0, i);
  }
  return {};
}

std::vector<ListedComposite> listComposites(std::string_view moduleText) {
  constexpr std::string_view op = "stablehlo.composite \"";
  constexpr std::string_view attributes = "{composite_attributes = {";
  std::vector<ListedComposite> list;
  std::map<std::pair<std::string, std::string>, size_t> places;
  while (!moduleText.empty()) {
    size_t end = moduleText.find('\n');
    std::string_view line = moduleText.substr(0, end);
    moduleText.remove_prefix(end == std::string_view::npos ? moduleText.size() : end + 1);
    size_t begin = line.find_first_not_of(" \t");
    if (begin != std::string_view::npos && line[begin] == '%')
      begin = line.find(" = ") == std::string_view::npos ? begin : line.find(" = ") + 3;
    if (begin == std::string_view::npos || !line.substr(begin).starts_with(op))
      continue;
    std::string name(upToQuote(line.substr(begin + op.size())));
    size_t found = line.find(attributes, begin);
    std::string text(found == std::string_view::npos ? std::string_view()
                                                     : upToBrace(line.substr(found + attributes.size())));
    auto [place, isNew] = places.try_emplace({name, text}, list.size());
    if (isNew)
      list.push_back({std::move(name), std::move(text), 0});
    ++list[place->second].count;
  }
  return list;
}

} // namespace torchere::cli

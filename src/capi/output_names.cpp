// The names of a function's outputs, read off the tree of its results.
#include "base/json.h"
#include "capi/description.h"

#include <cctype>

namespace torchere::capi {

/// Runs of characters that no name has are one underscore each.
static std::string asName(const std::string &key) {
  std::string name;
  bool wasOther = false;
  for (char c : key) {
    auto byte = static_cast<unsigned char>(c);
    bool isWord = std::isalnum(byte) || c == '_' || byte >= 0x80;
    if (isWord)
      name += c;
    else if (!wasOther)
      name += '_';
    wasOther = !isWord;
  }
  return name;
}

/// Recursion ends: JSON that is read nests at most jsonDepthLimit levels.
static void collectNames(const Json &tree, const std::string &path, std::vector<std::string> &names) {
  if (!tree.is_object())
    return;
  if (tree.value("kind", Json()) == "leaf") {
    names.push_back(path.empty() ? "output" : path);
    return;
  }
  auto children = tree.find("children");
  if (children == tree.end() || !children->is_array())
    return;
  auto keys = tree.find("keys");
  bool hasKeys = keys != tree.end() && keys->is_array() && keys->size() == children->size();
  for (size_t i = 0; i < children->size(); ++i) {
    const Json key = hasKeys ? (*keys)[i] : Json(i);
    std::string step = asName(key.is_string() ? key.get<std::string>() : key.dump());
    bool isName = !path.empty() || (!step.empty() && !std::isdigit(static_cast<unsigned char>(step.front())));
    const std::string &before = isName ? path : "output";
    collectNames((*children)[i], before.empty() ? step : before + "_" + step, names);
  }
}

std::vector<std::string> outputNames(const program::EntryPoint &entryPoint) {
  auto count = static_cast<size_t>(entryPoint.userOutputCount);
  std::vector<std::string> names;
  if (auto tree = parseJson(entryPoint.outputTree.json, entryPoint.name))
    collectNames(*tree, "", names);
  if (names.size() == count)
    return names;
  names.clear(); // a program of PyTorch/XLA's, say, has no tree
  for (size_t i = 0; i < count; ++i)
    names.push_back(count == 1 ? "output" : fmt::format("output_{}", i));
  return names;
}

} // namespace torchere::capi

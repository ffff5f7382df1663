// The trees of arguments and results of a file, as program::TreeSpec has them: checked before anybody walks
// them.
#include "artifact/tree_check.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

namespace torchere::artifact {

static constexpr std::array<std::string_view, 7> kinds = {"leaf", "none",       "tuple", "list",
                                                          "dict", "namedtuple", "custom"};

/// The key as Python compares it: True equals 1, and 1 equals 1.0.
static Json comparable(const Json &key) {
  return key.is_boolean() ? Json(key.get<bool>() ? 1 : 0) : key;
}

/// One key for each child, all different; those of a class are the names of its fields.
static Status checkKeys(const JsonCursor &keys, bool areNames, size_t childCount) {
  TORCHERE_ASSIGN(auto elements, keys.elements());
  if (elements.size() != childCount)
    return keys.invalid(
        fmt::format("got {} keys, expected one for each of the {} children", elements.size(), childCount));
  std::set<Json> seen;
  for (const JsonCursor &key : elements) {
    if (areNames)
      TORCHERE_TRY(key.asString());
    if (key.json().is_structured())
      return key.invalid("got an array or object, expected a string, a number, a bool or null");
    if (!seen.insert(comparable(key.json())).second)
      return key.invalid(fmt::format("the key {} stands there twice", key.json().dump()));
  }
  return {};
}

// Nesting is bounded by parseJson's limit.
Result<int64_t> checkTree(const JsonCursor &tree) {
  TORCHERE_ASSIGN(std::string kind, tree.string("kind"));
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
    return tree.invalid(fmt::format("got the kind \"{}\", expected {}", kind, fmt::join(kinds, ", ")));
  if (kind == "leaf" || kind == "none")
    return kind == "leaf" ? 1 : 0;
  bool isClass = kind == "namedtuple" || kind == "custom";
  TORCHERE_ASSIGN(auto type, tree.optionalMember("type"));
  if (isClass)
    TORCHERE_TRY(tree.string("type"));
  else if (type)
    TORCHERE_TRY(type->asString());
  TORCHERE_ASSIGN(auto children, tree.array("children"));
  TORCHERE_ASSIGN(auto keys, tree.optionalMember("keys"));
  if (kind == "dict" && !keys)
    return tree.invalid("the key \"keys\" is missing");
  if (keys)
    TORCHERE_TRY(checkKeys(*keys, isClass, children.size()));
  int64_t leaves = 0;
  for (const JsonCursor &child : children) {
    TORCHERE_ASSIGN(int64_t count, checkTree(child));
    leaves += count;
  }
  return leaves;
}

Result<int64_t> checkArgumentTree(const JsonCursor &tree) {
  TORCHERE_ASSIGN(int64_t leaves, checkTree(tree));
  TORCHERE_ASSIGN(auto children, tree.optionalMember("children"));
  auto isOfKind = [](const Json &node, std::string_view kind) { return node["kind"] == kind; };
  const Json *parts = children ? &children->json() : nullptr;
  if (!isOfKind(tree.json(), "tuple") || parts->size() != 2 || !isOfKind((*parts)[0], "tuple") ||
      !isOfKind((*parts)[1], "dict"))
    return tree.invalid("got another structure, expected a tuple of the positional arguments' tuple and the "
                        "keyword arguments' dict");
  TORCHERE_ASSIGN(auto halves, children->elements());
  TORCHERE_ASSIGN(auto names, halves[1].array("keys"));
  for (const JsonCursor &name : names)
    TORCHERE_TRY(name.asString());
  return leaves;
}

} // namespace torchere::artifact

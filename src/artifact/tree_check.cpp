// Checks a file's trees of arguments and results, in program::TreeSpec's JSON, before they are walked.
#include "artifact/tree_check.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

namespace torchere::artifact {

static constexpr std::array<std::string_view, 7> kinds = {"leaf", "none",       "tuple", "list",
                                                          "dict", "namedtuple", "custom"};

/// The key under Python's equality: True equals 1, and 1 equals 1.0.
static Json comparable(const Json &key) {
  return key.is_boolean() ? Json(key.get<bool>() ? 1 : 0) : key;
}

/// Checks for one distinct key per child; the keys of a class are its field names.
static void checkKeys(const JsonCursor &keys, bool areNames, size_t childCount) {
  JsonElements elements = keys.elements();
  if (elements.size() != childCount)
    keys.fail("got {} keys, expected one for each of the {} children", elements.size(), childCount);
  std::set<Json> seen;
  for (JsonCursor key : elements) {
    if (areNames)
      key.text();
    if (key.json().is_structured())
      key.fail("got an array or object, expected a string, a number, a bool or null");
    else if (!seen.insert(comparable(key.json())).second)
      key.fail("the key {} stands there twice", key.json().dump());
  }
}

// Nesting is bounded by parseJson's limit.
int64_t checkTree(const JsonCursor &tree) {
  std::string kind = tree.text("kind");
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
    tree.fail("got the kind \"{}\", expected {}", kind, fmt::join(kinds, ", "));
  if (kind == "leaf" || kind == "none")
    return kind == "leaf" ? 1 : 0;
  bool isClass = kind == "namedtuple" || kind == "custom";
  if (isClass)
    tree.text("type");
  else
    tree.text("type", "");
  JsonElements children = tree.array("children");
  std::optional<JsonCursor> keys = tree.optional("keys");
  if (kind == "dict" && !keys)
    tree.fail("the key \"keys\" is missing");
  if (keys)
    checkKeys(*keys, isClass, children.size());
  int64_t leaves = 0;
  for (JsonCursor child : children)
    leaves += checkTree(child);
  return leaves;
}

int64_t checkArgumentTree(const JsonCursor &tree) {
  int64_t leaves = checkTree(tree);
  std::string_view structure = "a tuple of the positional arguments' tuple and the keyword arguments' dict";
  if (tree.text("kind") != "tuple")
    tree.fail("got another structure, expected {}", structure);
  JsonElements halves = tree.array("children");
  if (halves.size() != 2 || halves[0].text("kind") != "tuple" || halves[1].text("kind") != "dict")
    tree.fail("got another structure, expected {}", structure);
  for (JsonCursor name : halves[1].array("keys"))
    name.text();
  return leaves;
}

} // namespace torchere::artifact

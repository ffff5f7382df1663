// Pytrees in PyTorch/XLA's files: torch's text of a tree turned into the JSON of program::TreeSpec.
#include "artifact/torch_tree.h"

#include "base/json.h"

namespace torchere::artifact {

/// The keys of a dict: its context is the JSON text of the list of keys.
static Result<Json> dictKeys(const JsonCursor &node) {
  TORCHERE_ASSIGN(std::string context, node.string("context"));
  return parseJson(context, "pytree context");
}

// Nesting is bounded by parseJson's limit.
static Result<OrderedJson> convertNode(const JsonCursor &node) {
  TORCHERE_ASSIGN(auto type, node.optionalMember("type"));
  if (!type)
    return OrderedJson{{"kind", "leaf"}};
  TORCHERE_ASSIGN(std::string name, type->asString());
  OrderedJson result;
  if (name == "builtins.tuple" || name == "builtins.list") {
    result["kind"] = name.substr(name.find('.') + 1);
  } else if (name == "builtins.dict") {
    TORCHERE_ASSIGN(Json keys, dictKeys(node));
    result["kind"] = "dict";
    result["keys"] = keys;
  } else {
    TORCHERE_ASSIGN(JsonCursor context, node.member("context"));
    result["kind"] = name == "collections.namedtuple" ? "namedtuple" : "custom";
    result["type"] = name == "collections.namedtuple" ? OrderedJson(context.json()) : OrderedJson(name);
    if (name != "collections.namedtuple")
      result["context"] = context.json();
  }
  TORCHERE_ASSIGN(auto children, node.array("children_spec"));
  result["children"] = OrderedJson::array();
  for (const JsonCursor &child : children) {
    TORCHERE_ASSIGN(OrderedJson converted, convertNode(child));
    result["children"].push_back(std::move(converted));
  }
  if (name == "builtins.dict" && (!result["keys"].is_array() || result["keys"].size() != children.size()))
    return node.invalid(
        fmt::format("got the keys {}, expected a list of {}", result["keys"].dump(), children.size()));
  return result;
}

Result<std::string> treeJsonFromTorch(std::string_view torchText, std::string_view subject) {
  TORCHERE_ASSIGN(Json document, parseJson(torchText, subject));
  JsonCursor root(document, std::string(subject));
  TORCHERE_ASSIGN(auto parts, root.elements());
  if (parts.size() != 2 || document[0] != 1)
    return root.invalid("expected [1, tree], torch's pytree protocol 1");
  TORCHERE_ASSIGN(OrderedJson tree, convertNode(parts[1]));
  return printJson(tree, 0);
}

static int64_t countLeaves(const Json &node) {
  if (!node.is_object())
    return 0;
  if (node.value("kind", Json()) == "leaf")
    return 1;
  int64_t count = 0;
  if (auto children = node.find("children"); children != node.end() && children->is_array())
    for (const Json &child : *children)
      count += countLeaves(child);
  return count;
}

Result<int64_t> leafCount(const program::TreeSpec &tree) {
  TORCHERE_ASSIGN(Json document, parseJson(tree.json, "pytree"));
  return countLeaves(document);
}

} // namespace torchere::artifact

// Pytrees in PyTorch/XLA's files: torch's text of a tree turned into the JSON of program::TreeSpec.
#include "artifact/torch_tree.h"

#include "base/json.h"

namespace torchere::artifact {

/// The keys of a dict, whose context is the JSON text of their list. A defaultdict keeps them apart.
static Result<Json> dictKeys(const JsonCursor &node, std::string_view type) {
  if (type == "collections.defaultdict") {
    TORCHERE_ASSIGN(JsonCursor context, node.member("context"));
    TORCHERE_ASSIGN(JsonCursor keys, context.member("dict_context"));
    return keys.json();
  }
  TORCHERE_ASSIGN(std::string context, node.string("context"));
  return parseJson(context, "pytree context");
}

/// The node without its children, in the forms that the Python package gives to torch's classes.
static Result<OrderedJson> convertKind(const JsonCursor &node, const std::string &type, size_t childCount) {
  if (type == "builtins.tuple" || type == "builtins.list")
    return OrderedJson{{"kind", type.substr(type.find('.') + 1)}};
  if (type == "collections.namedtuple") {
    TORCHERE_ASSIGN(JsonCursor context, node.member("context"));
    return OrderedJson{{"kind", "namedtuple"}, {"type", context.json()}};
  }
  if (type != "builtins.dict" && type != "collections.OrderedDict" && type != "collections.defaultdict") {
    OrderedJson result = {{"kind", "custom"}, {"type", type}};
    TORCHERE_ASSIGN(auto context, node.optionalMember("context"));
    if (context)
      result["context"] = context->json();
    return result;
  }
  OrderedJson result = {{"kind", "dict"}};
  if (type != "builtins.dict")
    result["type"] = type;
  TORCHERE_ASSIGN(Json keys, dictKeys(node, type));
  if (!keys.is_array() || keys.size() != childCount)
    return node.invalid(fmt::format("got the keys {}, expected a list of {}", keys.dump(), childCount));
  result["keys"] = keys;
  return result;
}

// Nesting is bounded by parseJson's limit.
static Result<OrderedJson> convertNode(const JsonCursor &node) {
  TORCHERE_ASSIGN(auto type, node.optionalMember("type"));
  if (!type)
    return OrderedJson{{"kind", "leaf"}};
  TORCHERE_ASSIGN(std::string name, type->asString());
  TORCHERE_ASSIGN(auto children, node.array("children_spec"));
  TORCHERE_ASSIGN(OrderedJson result, convertKind(node, name, children.size()));
  result["children"] = OrderedJson::array();
  for (const JsonCursor &child : children) {
    TORCHERE_ASSIGN(OrderedJson converted, convertNode(child));
    result["children"].push_back(std::move(converted));
  }
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

} // namespace torchere::artifact

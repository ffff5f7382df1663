// Pytrees in PyTorch/XLA's files: converts torch's text of a tree to the JSON of program::TreeSpec.
#include "artifact/torch_tree.h"

#include "base/json_cursor.h"

namespace torchere::artifact {

/// The keys of a dict. Its context is their list as JSON text; a defaultdict stores them separately.
static Json dictKeys(const JsonCursor &node, std::string_view type) {
  if (type == "collections.defaultdict")
    return node.member("context").member("dict_context").json();
  return node.take(parseJson(node.text("context"), "pytree context"));
}

/// The node without its children, in the form that the Python package uses for torch's classes.
static OrderedJson convertKind(const JsonCursor &node, const std::string &type, size_t childCount) {
  if (type == "builtins.tuple" || type == "builtins.list")
    return {{"kind", type.substr(type.find('.') + 1)}};
  if (type == "collections.namedtuple")
    return {{"kind", "namedtuple"}, {"type", node.member("context").json()}};
  if (type != "builtins.dict" && type != "collections.OrderedDict" && type != "collections.defaultdict") {
    OrderedJson result = {{"kind", "custom"}, {"type", type}};
    if (std::optional<JsonCursor> context = node.optional("context"))
      result["context"] = context->json();
    return result;
  }
  OrderedJson result = {{"kind", "dict"}};
  if (type != "builtins.dict")
    result["type"] = type;
  Json keys = dictKeys(node, type);
  if (!keys.is_array() || keys.size() != childCount)
    node.fail("got the keys {}, expected a list of {}", keys.dump(), childCount);
  result["keys"] = std::move(keys);
  return result;
}

// Nesting is bounded by parseJson's limit.
static OrderedJson convertNode(const JsonCursor &node) {
  std::optional<JsonCursor> type = node.optional("type");
  if (!type)
    return {{"kind", "leaf"}};
  std::string name = type->text();
  JsonElements children = node.array("children_spec");
  OrderedJson result = convertKind(node, name, children.size());
  OrderedJson &converted = result["children"] = OrderedJson::array();
  for (JsonCursor child : children)
    converted.push_back(convertNode(child));
  return result;
}

Result<std::string> treeJsonFromTorch(std::string_view torchText, std::string_view subject) {
  JsonDocument document(torchText, subject);
  JsonCursor root = document.root();
  JsonElements parts = root.elements();
  if (parts.size() != 2 || parts[0].json() != 1)
    root.fail("expected [1, tree], torch's pytree protocol 1");
  OrderedJson tree = convertNode(parts[1]);
  TORCHERE_TRY(root.finish());
  return printJson(tree, 0);
}

} // namespace torchere::artifact

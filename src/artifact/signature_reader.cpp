// .signature.json: a complete program::EntryPoint, read.
#include "artifact/signature.h"

#include "artifact/argument_json.h"
#include "artifact/shared_fields.h"
#include "artifact/signature_names.h"
#include "artifact/tree_check.h"
#include "base/json_cursor.h"

#include <fmt/ranges.h>

namespace torchere::artifact {

using namespace program;

namespace {

/// Builds an entry point from the keys of a .signature.json.
class SignatureReader {
public:
  explicit SignatureReader(JsonCursor root) : root(root) {}

  EntryPoint read() {
    checkFormat(root, signatureFormat);
    entryPoint.name = root.text("name");
    entryPoint.inputs = readInputs("inputs");
    entryPoint.unusedInputs = readInputs("unused_inputs");
    readOutputs();
    readConstants();
    readChecks();
    entryPoint.userInputCount = root.integer("user_input_count");
    entryPoint.userOutputCount = root.integer("user_output_count");
    readRanges();
    for (JsonCursor name : root.array("argument_names"))
      entryPoint.argumentNames.push_back(name.text());
    entryPoint.inputTree = readTree("input_tree");
    entryPoint.outputTree = readTree("output_tree");
    return std::move(entryPoint);
  }

private:
  SymInt readSize(const JsonCursor &json) {
    if (!json.json().is_string())
      return json.integer();
    Result<SymInt> size = entryPoint.expressions.parse(json.text());
    if (!size)
      json.fail("{}", size.error().message);
    return size.value_or(SymInt());
  }

  TensorSignature readType(const JsonCursor &json) {
    TensorSignature type;
    type.dtype = readDType(json);
    for (JsonCursor size : json.array("shape"))
      type.shape.push_back(readSize(size));
    return type;
  }

  /// The value of a key, which is one of an enum's names.
  template <class Enum>
  static Enum readName(const JsonCursor &json, std::string_view key,
                       std::span<const std::string_view> names) {
    std::string name = json.text(key);
    std::optional<Enum> known = valueOf<Enum>(names, name);
    if (!known)
      json.fail("got the {} \"{}\", expected {}", key, name, fmt::join(names, ", "));
    return known.value_or(Enum());
  }

  std::vector<EntryInput> readInputs(std::string_view key) {
    std::vector<EntryInput> inputs;
    for (JsonCursor json : root.array(key)) {
      EntryInput &input = inputs.emplace_back();
      input.source = readName<InputSource>(json, "source", inputSourceNames);
      input.name = json.text("name");
      input.type = readType(json);
      input.position = json.integer("position", -1);
      input.isSymInt = json.boolean("sym_int", false);
      if (std::optional<JsonCursor> value = json.optional("value"))
        input.value = readSize(*value);
      input.isInShapes = json.boolean("in_shapes", false);
      input.isPersistent = json.boolean("persistent", true);
    }
    return inputs;
  }

  void readOutputs() {
    for (JsonCursor json : root.array("outputs")) {
      EntryOutput &output = entryPoint.outputs.emplace_back();
      output.destination = readName<OutputDestination>(json, "destination", outputDestinationNames);
      output.name = json.text("name");
      output.target = json.text("target", "");
      output.type = readType(json);
      output.position = json.integer("position", -1);
      output.isNumber = json.boolean("sym_int", false) || json.boolean("number", false);
    }
  }

  void readConstants() {
    for (JsonCursor json : root.array("constant_inputs")) {
      ConstantInput &input = entryPoint.constantInputs.emplace_back();
      input.name = json.text("name");
      input.position = json.integer("position");
      input.value = argumentFromJson(json.member("value"));
    }
    for (JsonCursor json : root.array("constant_outputs")) {
      ConstantOutput &output = entryPoint.constantOutputs.emplace_back();
      output.position = json.integer("position");
      output.value = argumentFromJson(json.member("value"));
    }
  }

  void readChecks() {
    if (!root.optional("checks"))
      return;
    for (JsonCursor json : root.array("checks")) {
      program::RunTimeCheck &check = entryPoint.checks.emplace_back();
      check.op = json.text("op");
      check.message = json.text("message");
      check.where = json.text("where", "");
      check.isFactorization = json.boolean("factorization", false);
    }
  }

  /// A null bound means unbounded.
  void readRanges() {
    for (JsonCursor json : root.array("range_constraints")) {
      RangeConstraint &constraint = entryPoint.rangeConstraints.emplace_back();
      constraint.expression = readSize(json.member("expression"));
      constraint.range.min = json.integer("min", constraint.range.min);
      constraint.range.max = json.integer("max", constraint.range.max);
    }
  }

  TreeSpec readTree(std::string_view key) {
    TreeSpec tree;
    JsonCursor json = root.member(key);
    if (std::optional<JsonCursor> portable = json.optional("tree"))
      tree.json = portable->json().dump();
    tree.torchText = json.text("torch", "");
    return tree;
  }

  JsonCursor root;
  EntryPoint entryPoint;
};

} // namespace

/// Checks that the trees are well formed and have one leaf per value; other tools' files may lack them.
static void checkTrees(const JsonCursor &root, const EntryPoint &entryPoint) {
  for (bool isInput : {true, false}) {
    std::optional<JsonCursor> tree = root.member(isInput ? "input_tree" : "output_tree").optional("tree");
    if (!tree)
      continue;
    int64_t leaves = isInput ? checkArgumentTree(*tree) : checkTree(*tree);
    int64_t expected = isInput ? entryPoint.userInputCount : entryPoint.userOutputCount;
    if (leaves != expected)
      tree->fail("got {} leaves, expected {}", leaves, expected);
  }
}

Result<EntryPoint> readSignature(std::string_view text, std::string_view subject) {
  JsonDocument document(text, subject);
  JsonCursor root = document.root();
  EntryPoint entryPoint = SignatureReader(root).read();
  TORCHERE_TRY(root.finish());
  TORCHERE_TRY(verifyEntryPoint(entryPoint, subject));
  checkTrees(root, entryPoint);
  TORCHERE_TRY(root.finish());
  return entryPoint;
}

} // namespace torchere::artifact

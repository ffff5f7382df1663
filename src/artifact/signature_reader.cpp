// .signature.json: the whole of a program::EntryPoint, read.
#include "artifact/signature.h"

#include "artifact/argument_json.h"
#include "artifact/signature_names.h"
#include "artifact/tree_check.h"
#include "base/json.h"

namespace torchere::artifact {

using namespace program;

namespace {

/// Builds an entry point from the keys of a .signature.json.
class SignatureReader {
public:
  explicit SignatureReader(JsonCursor root) : root(std::move(root)) {}

  Result<EntryPoint> read() {
    TORCHERE_ASSIGN(int64_t format, root.integer("format"));
    if (format != signatureFormat)
      return root.invalid(
          fmt::format("got the format {}, expected {}: another version wrote it", format, signatureFormat));
    TORCHERE_ASSIGN(entryPoint.name, root.string("name"));
    TORCHERE_ASSIGN(entryPoint.inputs, readInputs("inputs"));
    TORCHERE_ASSIGN(entryPoint.unusedInputs, readInputs("unused_inputs"));
    TORCHERE_TRY(readOutputs());
    TORCHERE_TRY(readConstants());
    TORCHERE_ASSIGN(entryPoint.userInputCount, root.integer("user_input_count"));
    TORCHERE_ASSIGN(entryPoint.userOutputCount, root.integer("user_output_count"));
    TORCHERE_TRY(readRanges());
    TORCHERE_ASSIGN(auto names, root.array("argument_names"));
    for (const JsonCursor &name : names) {
      TORCHERE_ASSIGN(std::string text, name.asString());
      entryPoint.argumentNames.push_back(std::move(text));
    }
    TORCHERE_ASSIGN(entryPoint.inputTree, readTree("input_tree"));
    TORCHERE_ASSIGN(entryPoint.outputTree, readTree("output_tree"));
    return std::move(entryPoint);
  }

private:
  Result<SymInt> readSize(const JsonCursor &json) {
    if (!json.json().is_string()) {
      TORCHERE_ASSIGN(int64_t size, json.asInteger());
      return SymInt(size);
    }
    TORCHERE_ASSIGN(std::string text, json.asString());
    Result<SymInt> size = entryPoint.expressions.parse(text);
    if (!size)
      return json.invalid(size.error().message);
    return *size;
  }

  Result<TensorSignature> readType(const JsonCursor &json) {
    TensorSignature type;
    TORCHERE_ASSIGN(std::string dtype, json.string("dtype"));
    std::optional<DType> known = dtypeFromTorchName(dtype);
    if (!known)
      return json.invalid(fmt::format("got the dtype \"{}\", expected one of torch's", dtype));
    type.dtype = *known;
    TORCHERE_ASSIGN(auto sizes, json.array("shape"));
    for (const JsonCursor &size : sizes) {
      TORCHERE_ASSIGN(SymInt value, readSize(size));
      type.shape.push_back(value);
    }
    return type;
  }

  /// The keys that inputs and outputs may leave out: position is then -1, sym_int false.
  template <class Entry> Status readOptional(const JsonCursor &json, Entry &entry) {
    TORCHERE_ASSIGN(auto position, json.optionalMember("position"));
    if (position) {
      TORCHERE_ASSIGN(entry.position, position->asInteger());
    }
    TORCHERE_ASSIGN(auto symInt, json.optionalMember("sym_int"));
    if (symInt) {
      TORCHERE_ASSIGN(entry.isSymInt, symInt->asBool());
    }
    return {};
  }

  Result<std::vector<EntryInput>> readInputs(std::string_view key) {
    std::vector<EntryInput> inputs;
    TORCHERE_ASSIGN(auto entries, root.array(key));
    for (const JsonCursor &json : entries) {
      EntryInput input;
      TORCHERE_ASSIGN(std::string source, json.string("source"));
      std::optional<InputSource> known = valueOf<InputSource>(inputSourceNames, source);
      if (!known)
        return json.invalid(
            fmt::format("got the source \"{}\", expected {}", source, fmt::join(inputSourceNames, ", ")));
      input.source = *known;
      TORCHERE_ASSIGN(input.name, json.string("name"));
      TORCHERE_ASSIGN(input.type, readType(json));
      TORCHERE_TRY(readOptional(json, input));
      TORCHERE_ASSIGN(auto value, json.optionalMember("value"));
      if (value) {
        TORCHERE_ASSIGN(input.value, readSize(*value));
      }
      TORCHERE_ASSIGN(auto inShapes, json.optionalMember("in_shapes"));
      if (inShapes) {
        TORCHERE_ASSIGN(input.isInShapes, inShapes->asBool());
      }
      inputs.push_back(std::move(input));
    }
    return inputs;
  }

  Status readOutputs() {
    TORCHERE_ASSIGN(auto entries, root.array("outputs"));
    for (const JsonCursor &json : entries) {
      EntryOutput output;
      TORCHERE_ASSIGN(std::string destination, json.string("destination"));
      std::optional<OutputDestination> known =
          valueOf<OutputDestination>(outputDestinationNames, destination);
      if (!known)
        return json.invalid(fmt::format("got the destination \"{}\", expected {}", destination,
                                        fmt::join(outputDestinationNames, ", ")));
      output.destination = *known;
      TORCHERE_ASSIGN(output.name, json.string("name"));
      TORCHERE_ASSIGN(auto target, json.optionalMember("target"));
      if (target) {
        TORCHERE_ASSIGN(output.target, target->asString());
      }
      TORCHERE_ASSIGN(output.type, readType(json));
      TORCHERE_TRY(readOptional(json, output));
      entryPoint.outputs.push_back(std::move(output));
    }
    return {};
  }

  Status readConstants() {
    TORCHERE_ASSIGN(auto inputs, root.array("constant_inputs"));
    for (const JsonCursor &json : inputs) {
      ConstantInput input;
      TORCHERE_ASSIGN(input.name, json.string("name"));
      TORCHERE_ASSIGN(input.position, json.integer("position"));
      TORCHERE_ASSIGN(JsonCursor value, json.member("value"));
      TORCHERE_ASSIGN(input.value, argumentFromJson(value));
      entryPoint.constantInputs.push_back(std::move(input));
    }
    TORCHERE_ASSIGN(auto outputs, root.array("constant_outputs"));
    for (const JsonCursor &json : outputs) {
      ConstantOutput output;
      TORCHERE_ASSIGN(output.position, json.integer("position"));
      TORCHERE_ASSIGN(JsonCursor value, json.member("value"));
      TORCHERE_ASSIGN(output.value, argumentFromJson(value));
      entryPoint.constantOutputs.push_back(std::move(output));
    }
    return {};
  }

  Status readRanges() {
    TORCHERE_ASSIGN(auto entries, root.array("range_constraints"));
    for (const JsonCursor &json : entries) {
      RangeConstraint constraint;
      TORCHERE_ASSIGN(JsonCursor expression, json.member("expression"));
      TORCHERE_ASSIGN(constraint.expression, readSize(expression));
      for (auto [key, bound] : {std::pair("min", &constraint.range.min), {"max", &constraint.range.max}}) {
        TORCHERE_ASSIGN(auto member, json.optionalMember(key)); // null: unbounded
        if (member) {
          TORCHERE_ASSIGN(*bound, member->asInteger());
        }
      }
      entryPoint.rangeConstraints.push_back(constraint);
    }
    return {};
  }

  Result<TreeSpec> readTree(std::string_view key) {
    TreeSpec tree;
    TORCHERE_ASSIGN(JsonCursor json, root.member(key));
    TORCHERE_ASSIGN(auto portable, json.optionalMember("tree"));
    if (portable)
      tree.json = portable->json().dump();
    TORCHERE_ASSIGN(auto torch, json.optionalMember("torch"));
    if (torch) {
      TORCHERE_ASSIGN(tree.torchText, torch->asString());
    }
    return tree;
  }

  JsonCursor root;
  EntryPoint entryPoint;
};

} // namespace

/// The trees are well formed and have a leaf for each value; directories of others may have none.
static Status checkTrees(const JsonCursor &root, const EntryPoint &entryPoint) {
  for (bool isInput : {true, false}) {
    TORCHERE_ASSIGN(JsonCursor parent, root.member(isInput ? "input_tree" : "output_tree"));
    TORCHERE_ASSIGN(auto tree, parent.optionalMember("tree"));
    if (!tree)
      continue;
    TORCHERE_ASSIGN(int64_t leaves, isInput ? checkArgumentTree(*tree) : checkTree(*tree));
    int64_t expected = isInput ? entryPoint.userInputCount : entryPoint.userOutputCount;
    if (leaves != expected)
      return tree->invalid(fmt::format("got {} leaves, expected {}", leaves, expected));
  }
  return {};
}

Result<EntryPoint> readSignature(std::string_view text, std::string_view subject) {
  TORCHERE_ASSIGN(Json document, parseJson(text, subject));
  JsonCursor root(document, std::string(subject));
  TORCHERE_ASSIGN(EntryPoint entryPoint, SignatureReader(root).read());
  TORCHERE_TRY(verifyEntryPoint(entryPoint, subject));
  TORCHERE_TRY(checkTrees(root, entryPoint));
  return entryPoint;
}

} // namespace torchere::artifact

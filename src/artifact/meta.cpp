// .meta: PyTorch/XLA's description of a function, with exactly its keys, written and read.
#include "artifact/meta.h"

#include "artifact/shared_fields.h"
#include "artifact/signature.h"
#include "artifact/torch_tree.h"
#include "artifact/tree_check.h"

#include <algorithm>

namespace torchere::artifact {

using namespace program;

static OrderedJson signatureJson(const TensorSignature &type) {
  OrderedJson shape = OrderedJson::array(), dynamic = OrderedJson::array();
  for (size_t index = 0; index < type.shape.size(); ++index) {
    bool isConstant = type.shape[index].isConstant();
    shape.push_back(isConstant ? type.shape[index].constant() : -1);
    if (!isConstant)
      dynamic.push_back(index);
  }
  return {{"shape", shape}, {"dtype", dtypeInfo(type.dtype).torchName}, {"dynamic_dims", dynamic}};
}

static OrderedJson locationJson(std::string_view type, int64_t position, std::string_view name) {
  return {{"type_", type}, {"position", position}, {"name", name}};
}

static OrderedJson locationJson(const EntryInput &input) {
  switch (input.source) {
  case InputSource::UserInput:
    return locationJson("input_arg", input.position, "");
  case InputSource::Constant:
    return locationJson("constant", input.position, "");
  case InputSource::Parameter:
  case InputSource::Buffer:
    break;
  }
  return locationJson("parameter", -1, input.name);
}

/// type(value).__name__ in Python.
static std::string_view pythonTypeOf(const Constant &argument) {
  struct Names {
    const char *operator()(const std::monostate &) const { return "NoneType"; }
    const char *operator()(int64_t) const { return "int"; }
    const char *operator()(double) const { return "float"; }
    const char *operator()(bool) const { return "bool"; }
    const char *operator()(const std::complex<double> &) const { return "complex"; }
    const char *operator()(const std::string &) const { return "str"; }
    const char *operator()(DType) const { return "dtype"; }
    const char *operator()(const Device &) const { return "device"; }
    const char *operator()(const Layout &) const { return "layout"; }
    const char *operator()(const MemoryFormat &) const { return "memory_format"; }
    const char *operator()(const Constant::List &) const { return "list"; }
    const char *operator()(const OpReference &) const { return "object"; }
  };
  return std::visit(Names(), argument.value);
}

/// The class of a non-tensor argument, from its dtype in a .meta: PyTorch/XLA 2.2 wrote
/// str(type(value)), "<class 'int'>", later versions write the class's name. Empty for a tensor's dtype.
static std::string_view pythonTypeName(std::string_view dtype) {
  constexpr std::string_view opening = "<class '", closing = "'>";
  if (dtype.starts_with(opening) && dtype.ends_with(closing))
    return dtype.substr(opening.size(), dtype.size() - opening.size() - closing.size());
  for (std::string_view name : {"NoneType", "int", "float", "complex", "str", "list", "dtype", "device",
                                "layout", "memory_format", "object"})
    if (dtype == name)
      return name;
  return {};
}

/// The user's inputs that are not arguments of the function, by position.
static OrderedJson unusedInputsJson(const EntryPoint &entryPoint) {
  std::vector<std::pair<int64_t, OrderedJson>> unused;
  for (const EntryInput &input : entryPoint.unusedInputs)
    if (input.source == InputSource::UserInput) // PyTorch/XLA lists no weights here
      unused.emplace_back(input.position,
                          OrderedJson::array({locationJson(input), signatureJson(input.type)}));
  for (const ConstantInput &input : entryPoint.constantInputs) {
    OrderedJson signature = {{"shape", OrderedJson::array()},
                             {"dtype", pythonTypeOf(input.value)},
                             {"dynamic_dims", OrderedJson::array()}};
    unused.emplace_back(input.position,
                        OrderedJson::array({locationJson("input_arg", input.position, ""), signature}));
  }
  std::stable_sort(unused.begin(), unused.end(),
                   [](const auto &left, const auto &right) { return left.first < right.first; });
  OrderedJson result = OrderedJson::array();
  for (auto &[position, json] : unused)
    result.push_back(std::move(json));
  return result;
}

std::string metaText(const EntryPoint &entryPoint) {
  OrderedJson inputs = OrderedJson::array(), outputs = OrderedJson::array(), locations = OrderedJson::array();
  for (const EntryInput &input : entryPoint.inputs) {
    inputs.push_back(signatureJson(input.type));
    locations.push_back(locationJson(input));
  }
  for (const EntryOutput &output : entryPoint.outputs)
    outputs.push_back(signatureJson(output.type));
  auto orNull = [](const std::string &text) {
    return text.empty() ? OrderedJson(nullptr) : OrderedJson(text);
  };
  OrderedJson meta = {{"name", entryPoint.name},
                      {"stablehlo_version", stablehloVersion},
                      {"input_signature", inputs},
                      {"output_signature", outputs},
                      {"input_locations", locations},
                      {"unused_inputs", unusedInputsJson(entryPoint)},
                      {"input_pytree_spec", orNull(entryPoint.inputTree.torchText)},
                      {"output_pytree_spec", orNull(entryPoint.outputTree.torchText)}};
  return printJson(meta, 0);
}

namespace {

/// Builds an entry point from the keys of a .meta.
class MetaReader {
public:
  explicit MetaReader(JsonCursor root) : root(root) {}

  EntryPoint read(bool withTrees) {
    entryPoint.name = root.text("name");
    root.text("stablehlo_version");
    readInputs();
    readUnusedInputs();
    readOutputs();
    countUserValues();
    if (withTrees)
      readTrees();
    return std::move(entryPoint);
  }

private:
  void readInputs() {
    JsonElements signatures = root.array("input_signature");
    JsonElements locations = root.array("input_locations");
    if (signatures.size() != locations.size())
      root.fail("got {} input_locations, expected one for each of the {} input_signature", locations.size(),
                signatures.size());
    for (size_t index = 0; index < signatures.size(); ++index) {
      EntryInput &input = entryPoint.inputs.emplace_back(readLocation(locations[index]));
      input.type = readSignature(signatures[index], "s");
    }
  }

  void readUnusedInputs() {
    for (JsonCursor entry : root.array("unused_inputs")) {
      JsonElements pair = entry.elements();
      if (pair.size() != 2)
        entry.fail("got {} elements, expected a location and a signature", pair.size());
      EntryInput input = readLocation(pair[0]);
      std::string dtype = pair[1].text("dtype");
      bool isScalar = pair[1].array("shape").size() == 0;
      std::string_view type = pythonTypeName(dtype);
      entryPoint.userInputCount = std::max(entryPoint.userInputCount, input.position + 1);
      if (type == "NoneType") {
        entryPoint.constantInputs.push_back({input.name, input.position, {}});
      } else if (type.empty() && !(dtype == "bool" && isScalar)) { // may be a Python bool
        input.type = readSignature(pair[1], "s");
        entryPoint.unusedInputs.push_back(std::move(input));
      }
    }
  }

  void readOutputs() {
    bool isDynamic = entryPoint.expressions.size() > 0;
    for (JsonCursor signature : root.array("output_signature")) {
      EntryOutput output;
      output.position = static_cast<int64_t>(entryPoint.outputs.size());
      output.name = fmt::format("output_{}", output.position);
      output.type = readSignature(signature, "u");
      if (isDynamic)
        for (SymInt &size : output.type.shape)
          size = newSymbol("u");
      entryPoint.outputs.push_back(std::move(output));
    }
  }

  void countUserValues() {
    for (const auto *inputs : {&entryPoint.inputs, &entryPoint.unusedInputs})
      for (const EntryInput &input : *inputs)
        if (input.source == InputSource::UserInput)
          entryPoint.userInputCount = std::max(entryPoint.userInputCount, input.position + 1);
    for (const ConstantInput &input : entryPoint.constantInputs)
      entryPoint.userInputCount = std::max(entryPoint.userInputCount, input.position + 1);
    entryPoint.userOutputCount = static_cast<int64_t>(entryPoint.outputs.size());
  }

  void readTrees() {
    std::optional<int64_t> inputLeaves =
        readTree("input_pytree_spec", entryPoint.inputTree, checkArgumentTree);
    entryPoint.userInputCount = inputLeaves.value_or(entryPoint.userInputCount);
    std::optional<int64_t> outputLeaves = readTree("output_pytree_spec", entryPoint.outputTree, checkTree);
    if (outputLeaves && *outputLeaves != entryPoint.userOutputCount)
      root.fail("output_pytree_spec has {} leaves, expected one for each of the {} output_signature",
                *outputLeaves, entryPoint.userOutputCount);
  }

  /// The number of leaves; none if the file has no tree.
  std::optional<int64_t> readTree(std::string_view key, TreeSpec &tree,
                                  int64_t (*check)(const JsonCursor &)) {
    std::optional<JsonCursor> member = root.optional(key);
    if (!member)
      return std::nullopt;
    std::string place = fmt::format("{}: {}", root.subject(), key);
    tree.torchText = member->text();
    tree.json = root.take(treeJsonFromTorch(tree.torchText, place));
    JsonDocument document(tree.json, place);
    int64_t leaves = check(document.root());
    root.take(document.root().finish());
    return leaves;
  }

  EntryInput readLocation(const JsonCursor &location) {
    EntryInput input;
    std::string type = location.text("type_");
    int64_t position = location.integer("position");
    input.name = location.text("name");
    if (type == "parameter") {
      input.source = InputSource::Parameter;
      return input;
    }
    if (type != "input_arg" && type != "constant")
      location.fail("got the type_ \"{}\", expected input_arg, parameter or constant", type);
    if (position < 0 || position >= leafLimit)
      location.fail("got the position {}, expected 0 to {}", position, leafLimit - 1);
    if (location.failed())
      return input;
    input.source = type == "constant" ? InputSource::Constant : InputSource::UserInput;
    input.position = position;
    input.name = fmt::format("{}_{}", type == "constant" ? "constant" : "args", position);
    return input;
  }

  TensorSignature readSignature(const JsonCursor &signature, std::string_view symbolPrefix) {
    TensorSignature type;
    type.dtype = readDType(signature);
    JsonElements sizes = signature.array("shape");
    for (JsonCursor size : sizes)
      type.shape.push_back(size.integer());
    for (JsonCursor dimension : signature.array("dynamic_dims")) {
      int64_t index = dimension.integer();
      if (index < 0 || static_cast<size_t>(index) >= sizes.size())
        dimension.fail("got dimension {} of a tensor of rank {}", index, sizes.size());
      else
        type.shape[static_cast<size_t>(index)] = newSymbol(symbolPrefix);
    }
    for (size_t index = 0; index < sizes.size(); ++index)
      if (type.shape[index].isConstant() && type.shape[index].constant() < 0)
        sizes[index].fail("got the size {}, expected at least 0", type.shape[index].constant());
    return type;
  }

  SymInt newSymbol(std::string_view prefix) {
    return entryPoint.expressions.symbol(fmt::format("{}{}", prefix, symbolCount++));
  }

  JsonCursor root;
  EntryPoint entryPoint;
  int symbolCount = 0;
};

} // namespace

Result<EntryPoint> readMeta(std::string_view text, std::string_view subject, bool withTrees) {
  JsonDocument document(text, subject);
  EntryPoint entryPoint = MetaReader(document.root()).read(withTrees);
  TORCHERE_TRY(document.root().finish());
  return entryPoint;
}

/// The same dtype and rank, and the same size wherever both are constants.
static bool isCompatible(const TensorSignature &left, const TensorSignature &right) {
  if (left.dtype != right.dtype || left.shape.size() != right.shape.size())
    return false;
  for (size_t index = 0; index < left.shape.size(); ++index) {
    SymInt a = left.shape[index], b = right.shape[index];
    if (a.isConstant() && b.isConstant() && a.constant() != b.constant())
      return false;
  }
  return true;
}

static bool isSameLocation(const EntryInput &left, const EntryInput &right) {
  auto isWeight = [](const EntryInput &input) {
    return input.source == InputSource::Parameter || input.source == InputSource::Buffer;
  };
  if (isWeight(left) || isWeight(right))
    return isWeight(left) && isWeight(right) && left.name == right.name;
  return left.source == right.source && left.position == right.position;
}

Status checkMetaAgrees(const EntryPoint &meta, const EntryPoint &signature, std::string_view subject) {
  auto disagrees = [&](std::string_view what) {
    return fail(ErrorCode::DataLoss, "[{}] does not agree with the .signature.json beside it: {} differ",
                subject, what);
  };
  if (meta.name != signature.name)
    return disagrees("the names");
  if (meta.inputs.size() != signature.inputs.size())
    return disagrees("the numbers of inputs");
  for (size_t index = 0; index < meta.inputs.size(); ++index) {
    if (!isSameLocation(meta.inputs[index], signature.inputs[index]))
      return disagrees(fmt::format("the places of input {}", index));
    if (!isCompatible(meta.inputs[index].type, signature.inputs[index].type))
      return disagrees(fmt::format("the types of input {}", index));
  }
  if (meta.outputs.size() != signature.outputs.size())
    return disagrees("the numbers of outputs");
  for (size_t index = 0; index < meta.outputs.size(); ++index)
    if (!isCompatible(meta.outputs[index].type, signature.outputs[index].type))
      return disagrees(fmt::format("the types of output {}", index));
  return {};
}

} // namespace torchere::artifact

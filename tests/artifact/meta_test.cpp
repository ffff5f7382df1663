// .meta: PyTorch/XLA's keys to the letter, its own files read, and the errors of malformed ones.
#include "artifact/meta.h"

#include "artifact/torch_tree.h"
#include "base/json.h"
#include "sample_bundle.h"

#include <gtest/gtest.h>

namespace torchere::artifact {
namespace {

using namespace program;

TEST(Meta, HasPyTorchXlasKeys) {
  EXPECT_EQ(
      metaText(sampleFunction().entryPoint),
      std::string(
          R"({"name":"forward","stablehlo_version":"1.17.0","input_signature":[)"
          R"({"shape":[2,3],"dtype":"float32","dynamic_dims":[]},{"shape":[2,3],"dtype":"float32","dynamic_dims":[]},)"
          R"({"shape":[4],"dtype":"bfloat16","dynamic_dims":[]},{"shape":[2],"dtype":"int64","dynamic_dims":[]},)"
          R"({"shape":[-1,3],"dtype":"float32","dynamic_dims":[0]},{"shape":[],"dtype":"int64","dynamic_dims":[]}],)"
          R"("output_signature":[{"shape":[4],"dtype":"bfloat16","dynamic_dims":[]},)"
          R"({"shape":[-1,2],"dtype":"float32","dynamic_dims":[0]}],)"
          R"("input_locations":[{"type_":"parameter","position":-1,"name":"head.weight"},)"
          R"({"type_":"parameter","position":-1,"name":"tail.weight"},)"
          R"({"type_":"parameter","position":-1,"name":"running_mean"},{"type_":"constant","position":0,"name":""},)"
          R"({"type_":"input_arg","position":0,"name":""},{"type_":"input_arg","position":2,"name":""}],)"
          R"("unused_inputs":[[{"type_":"input_arg","position":1,"name":""},{"shape":[],"dtype":"bool",)"
          R"("dynamic_dims":[]}],[{"type_":"input_arg","position":3,"name":""},{"shape":[-1],"dtype":"bool",)"
          R"("dynamic_dims":[0]}],[{"type_":"input_arg","position":4,"name":""},{"shape":[],)"
          R"("dtype":"NoneType","dynamic_dims":[]}]],)"
          R"("input_pytree_spec":)") +
          Json(inputTreeOfTorch()).dump() + R"(,"output_pytree_spec":null})");
}

TEST(Meta, ListsNoUnusedWeights) {
  EntryPoint entry = sampleFunction().entryPoint;
  std::string text = metaText(entry);
  entry.unusedInputs.push_back({InputSource::Parameter, "unused.weight", -1, {DType::F32, {2}}, false});
  EXPECT_EQ(metaText(entry), text);
}

TEST(Meta, NamesPythonsTypesOfConstants) {
  EntryPoint entry;
  entry.constantInputs = {{"a", 0, Constant{int64_t(1)}},    {"b", 1, Constant{1.0}},
                          {"c", 2, Constant{"s"}},           {"d", 3, Constant{DType::F32}},
                          {"e", 4, Constant{Device{"cpu"}}}, {"f", 5, Constant{std::complex<double>(1)}}};
  std::string text = metaText(entry);
  size_t place = 0;
  for (const char *type : {"int", "float", "str", "dtype", "device", "complex"}) {
    place = text.find(std::string("\"dtype\":\"") + type + "\"", place);
    EXPECT_NE(place, std::string::npos) << type;
  }
}

/// A .meta as PyTorch/XLA writes it for f(x, flag) with a weight, a constant and a dynamic batch.
const std::string torchXlaMeta = R"({"name": "forward", "stablehlo_version": "0.0.0",
 "input_signature": [{"shape": [5, 3], "dtype": "float32", "dynamic_dims": []},
                     {"shape": [10, 3], "dtype": "float32", "dynamic_dims": [0]},
                     {"shape": [], "dtype": "int64", "dynamic_dims": []}],
 "output_signature": [{"shape": [10, 5], "dtype": "float32", "dynamic_dims": []}],
 "input_locations": [{"type_": "parameter", "position": -1, "name": "fc.weight"},
                     {"type_": "input_arg", "position": 0, "name": ""},
                     {"type_": "constant", "position": 0, "name": ""}],
 "unused_inputs": [[{"type_": "input_arg", "position": 1, "name": ""},
                    {"shape": [], "dtype": "<class 'int'>", "dynamic_dims": []}],
                   [{"type_": "input_arg", "position": 2, "name": ""},
                    {"shape": [], "dtype": "<class 'NoneType'>", "dynamic_dims": []}],
                   [{"type_": "input_arg", "position": 3, "name": ""},
                    {"shape": [7], "dtype": "bool", "dynamic_dims": []}]],
 "input_pytree_spec": "[1, {\"type\": \"builtins.tuple\", \"context\": \"null\", \"children_spec\": [{\"type\": \"builtins.tuple\", \"context\": \"null\", \"children_spec\": [{\"type\": null, \"context\": null, \"children_spec\": []}, {\"type\": null, \"context\": null, \"children_spec\": []}, {\"type\": null, \"context\": null, \"children_spec\": []}]}, {\"type\": \"builtins.dict\", \"context\": \"[\\\"mask\\\"]\", \"children_spec\": [{\"type\": null, \"context\": null, \"children_spec\": []}]}]}]",
 "output_pytree_spec": "[1, {\"type\": null, \"context\": null, \"children_spec\": []}]"})";

/// PyTorch/XLA 2.2 wrote "<class 'int'>", later versions write "int". "bool" may be a bool or a tensor of
/// one.
TEST(Meta, ReadsTheArgumentsThatAreNoTensors) {
  for (const char *type :
       {"int", "float", "bool", "str", "<class 'int'>", "<class 'bool'>", "<class 'str'>"}) {
    std::string text = R"({"name": "f", "stablehlo_version": "0.0.0", "output_signature": [],
      "input_signature": [{"shape": [2], "dtype": "float32", "dynamic_dims": []}],
      "input_locations": [{"type_": "input_arg", "position": 0, "name": ""}],
      "unused_inputs": [[{"type_": "input_arg", "position": 1, "name": ""},
                         {"shape": [], "dtype": "TYPE", "dynamic_dims": []}]],
      "input_pytree_spec": null, "output_pytree_spec": null})";
    text.replace(text.find("TYPE"), 4, type);
    Result<EntryPoint> entry = readMeta(text, "f.meta");
    ASSERT_TRUE(entry.has_value()) << entry.error().message;
    EXPECT_EQ(entry->userInputCount, 2) << type;
    EXPECT_TRUE(entry->unusedInputs.empty() && entry->constantInputs.empty()) << type;
  }
}

TEST(Meta, RefusesUnknownTypes) {
  std::string text = torchXlaMeta;
  text.replace(text.find("<class 'int'>"), 13, "integer");
  Result<EntryPoint> entry = readMeta(text, "f.meta");
  ASSERT_FALSE(entry.has_value());
  EXPECT_NE(entry.error().message.find("got the dtype \"integer\", expected one of torch's"),
            std::string::npos)
      << entry.error().message;
}

TEST(Meta, ReadsPyTorchXlasFiles) {
  Result<EntryPoint> entry = readMeta(torchXlaMeta, "forward.meta");
  ASSERT_TRUE(entry.has_value()) << entry.error().message;
  ASSERT_EQ(entry->inputs.size(), 3u);
  EXPECT_EQ(entry->inputs[0].source, InputSource::Parameter);
  EXPECT_EQ(entry->inputs[0].name, "fc.weight");
  EXPECT_EQ(entry->inputs[0].type.shape, (std::vector<SymInt>{5, 3}));
  EXPECT_EQ(entry->inputs[1].source, InputSource::UserInput);
  EXPECT_EQ(entry->inputs[1].name, "args_0");
  EXPECT_FALSE(entry->inputs[1].type.shape[0].isConstant());
  EXPECT_EQ(entry->inputs[1].type.shape[1], SymInt(3));
  EXPECT_EQ(entry->inputs[2].source, InputSource::Constant);
  EXPECT_EQ(entry->inputs[2].position, 0);
  // The file has the traced size of an output; it may be any.
  EXPECT_FALSE(entry->outputs[0].type.shape[0].isConstant());
  ASSERT_EQ(entry->constantInputs.size(), 1u);
  EXPECT_EQ(entry->constantInputs[0].position, 2);
  ASSERT_EQ(entry->unusedInputs.size(), 1u);
  EXPECT_EQ(entry->unusedInputs[0].type.dtype, DType::Bool);
  EXPECT_EQ(entry->userInputCount, 4);
  EXPECT_EQ(entry->userOutputCount, 1);
  EXPECT_EQ(entry->inputTree.json,
            R"({"kind":"tuple","children":[{"kind":"tuple","children":[{"kind":"leaf"},{"kind":"leaf"},)"
            R"({"kind":"leaf"}]},{"kind":"dict","keys":["mask"],"children":[{"kind":"leaf"}]}]})");
  EXPECT_EQ(entry->outputTree.json, R"({"kind":"leaf"})");
}

TEST(Meta, KeepsStaticOutputsWhenNothingIsDynamic) {
  std::string text = torchXlaMeta;
  size_t place = text.find("\"dynamic_dims\": [0]");
  text.replace(place, 19, "\"dynamic_dims\": []");
  EXPECT_EQ(readMeta(text, "m")->outputs[0].type.shape, (std::vector<SymInt>{10, 5}));
}

std::string metaMessageAfter(const std::string &from, const std::string &to) {
  std::string text = torchXlaMeta;
  size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  Result<EntryPoint> read = readMeta(text.replace(place, from.size(), to), "m");
  return read ? "accepted" : read.error().message;
}

TEST(Meta, NamesWhatIsWrongInAFile) {
  EXPECT_EQ(metaMessageAfter("\"stablehlo_version\": \"0.0.0\",", ""),
            "[m] the key \"stablehlo_version\" is missing");
  EXPECT_EQ(metaMessageAfter("\"type_\": \"constant\"", "\"type_\": \"const\""),
            "[m] input_locations[2]: got the type_ \"const\", expected input_arg, parameter or constant");
  EXPECT_EQ(metaMessageAfter("\"position\": 0", "\"position\": -1"),
            "[m] input_locations[1]: got the position -1, expected 0 to 1048575");
  EXPECT_EQ(metaMessageAfter("\"dtype\": \"float32\"", "\"dtype\": \"float33\""),
            "[m] input_signature[0]: got the dtype \"float33\", expected one of torch's");
  EXPECT_EQ(metaMessageAfter("\"dynamic_dims\": [0]", "\"dynamic_dims\": [2]"),
            "[m] input_signature[1].dynamic_dims[0]: got dimension 2 of a tensor of rank 2");
  EXPECT_EQ(metaMessageAfter("[5, 3]", "[5, -3]"),
            "[m] input_signature[0].shape[1]: got the size -3, expected at least 0");
  EXPECT_EQ(metaMessageAfter("[5, 3]", "[5, \"3\"]"),
            "[m] input_signature[0].shape[1]: got a string, expected an integer");
  EXPECT_EQ(metaMessageAfter("{\"type_\": \"constant\", \"position\": 0, \"name\": \"\"}],",
                             "{\"type_\": \"constant\", \"position\": 0, \"name\": \"\"}, {}],"),
            "[m] got 4 input_locations, expected one for each of the 3 input_signature");
  EXPECT_EQ(metaMessageAfter("[[{\"type_\"", "[[], [{\"type_\""),
            "[m] unused_inputs[0]: got 0 elements, expected a location and a signature");
  EXPECT_EQ(metaMessageAfter("\"output_pytree_spec\": \"[1,", "\"output_pytree_spec\": \"[2,"),
            "[m: output_pytree_spec] expected [1, tree], torch's pytree protocol 1");
  EXPECT_EQ(metaMessageAfter(
                "\"output_pytree_spec\": \"[1, {\\\"type\\\": null, \\\"context\\\": null, "
                "\\\"children_spec\\\": []}]\"",
                "\"output_pytree_spec\": \"[1, {\\\"type\\\": \\\"builtins.tuple\\\", \\\"context\\\": "
                "null, \\\"children_spec\\\": []}]\""),
            "[m] output_pytree_spec has 0 leaves, expected one for each of the 1 output_signature");
  EXPECT_EQ(
      metaMessageAfter("\"input_pytree_spec\": \"[1, {\\\"type\\\": \\\"builtins.tuple\\\"",
                       "\"input_pytree_spec\": \"[1, {\\\"type\\\": \\\"builtins.list\\\""),
      "[m: input_pytree_spec] got another structure, expected a tuple of the positional arguments' tuple "
      "and the keyword arguments' dict");
}

TEST(TorchTree, ConvertsEveryKind) {
  auto convert = [](const std::string &node) {
    Result<std::string> json = treeJsonFromTorch("[1, " + node + "]", "spec");
    return json ? *json : json.error().message;
  };
  std::string leaf = R"({"type": null, "context": null, "children_spec": []})";
  EXPECT_EQ(convert(R"({"type": "builtins.list", "context": "null", "children_spec": [)" + leaf + "]}"),
            R"({"kind":"list","children":[{"kind":"leaf"}]})");
  EXPECT_EQ(convert(R"({"type": "builtins.dict", "context": "[1, \"b\"]", "children_spec": [)" + leaf + "," +
                    leaf + "]}"),
            R"({"kind":"dict","keys":[1,"b"],"children":[{"kind":"leaf"},{"kind":"leaf"}]})");
  EXPECT_EQ(
      convert(R"({"type": "collections.namedtuple", "context": "m.Pair", "children_spec": [)" + leaf + "]}"),
      R"({"kind":"namedtuple","type":"m.Pair","children":[{"kind":"leaf"}]})");
  EXPECT_EQ(convert(R"({"type": "collections.OrderedDict", "context": "[\"b\"]", "children_spec": [)" + leaf +
                    "]}"),
            R"({"kind":"dict","type":"collections.OrderedDict","keys":["b"],"children":[{"kind":"leaf"}]})");
  EXPECT_EQ(
      convert(
          R"({"type": "collections.defaultdict", "context": {"dict_context": ["q"]}, "children_spec": [)" +
          leaf + "]}"),
      R"({"kind":"dict","type":"collections.defaultdict","keys":["q"],"children":[{"kind":"leaf"}]})");
  EXPECT_EQ(convert(R"({"type": "collections.deque", "context": "3", "children_spec": [)" + leaf + "]}"),
            R"({"kind":"custom","type":"collections.deque","context":"3","children":[{"kind":"leaf"}]})");
  EXPECT_EQ(convert(R"({"type": "builtins.list"})"), "[spec] [1]: the key \"children_spec\" is missing");
  EXPECT_EQ(convert(R"({"type": "builtins.dict", "context": "[\"b\"]", "children_spec": []})"),
            "[spec] [1]: got the keys [\"b\"], expected a list of 0");
  EXPECT_EQ(convert(R"({"type": "builtins.dict", "context": "[", "children_spec": []})")
                .find("[pytree context] is not JSON"),
            0u);
  EXPECT_EQ(convert(R"({"type": 3, "children_spec": []})"),
            "[spec] [1].type: got an integer, expected a string");
}

TEST(MetaAgreement, ComparesWithTheSignature) {
  auto change = [](auto &&change) {
    EntryPoint meta = *readMeta(metaText(sampleFunction().entryPoint), "m");
    change(meta);
    Status status = checkMetaAgrees(meta, sampleFunction().entryPoint, "m");
    return status ? "agrees" : status.error().message;
  };
  const std::string start = "[m] does not agree with the .signature.json beside it: ";
  EXPECT_EQ(change([](EntryPoint &) {}), "agrees");
  EXPECT_EQ(change([](EntryPoint &meta) { meta.name = "g"; }), start + "the names differ");
  EXPECT_EQ(change([](EntryPoint &meta) { meta.inputs.pop_back(); }), start + "the numbers of inputs differ");
  EXPECT_EQ(change([](EntryPoint &meta) { meta.inputs[0].name = "w"; }),
            start + "the places of input 0 differ");
  EXPECT_EQ(change([](EntryPoint &meta) { meta.inputs[4].position = 1; }),
            start + "the places of input 4 differ");
  EXPECT_EQ(change([](EntryPoint &meta) { meta.inputs[1].type.dtype = DType::F64; }),
            start + "the types of input 1 differ");
  EXPECT_EQ(change([](EntryPoint &meta) { meta.inputs[4].type.shape[1] = 4; }),
            start + "the types of input 4 differ");
  EXPECT_EQ(change([](EntryPoint &meta) { meta.outputs.pop_back(); }),
            start + "the numbers of outputs differ");
  EXPECT_EQ(change([](EntryPoint &meta) { meta.outputs[1].type.shape.pop_back(); }),
            start + "the types of output 1 differ");
}

} // namespace
} // namespace torchere::artifact

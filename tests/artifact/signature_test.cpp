// .signature.json: everything of an entry point survives, and what is wrong in a file is named.
#include "artifact/signature.h"

#include "base/json.h"
#include "sample_bundle.h"

#include <gtest/gtest.h>

#include <cmath>

namespace torchere::artifact {
namespace {

using namespace program;

TEST(Signature, HasTheDocumentedForm) {
  EXPECT_EQ(*signatureText(sampleFunction().entryPoint), std::string(R"({
 "format": 1,
 "name": "forward",
 "inputs": [
  {"source":"parameter","name":"head.weight","dtype":"float32","shape":[2,3]},
  {"source":"parameter","name":"tail.weight","dtype":"float32","shape":[2,3]},
  {"source":"buffer","name":"running_mean","dtype":"bfloat16","shape":[4]},
  {"source":"constant","name":"c_table","position":0,"dtype":"int64","shape":[2]},
  {"source":"user_input","name":"x","position":0,"dtype":"float32","shape":["s0",3]},
  {"source":"user_input","name":"n","position":2,"dtype":"int64","shape":[],"sym_int":true}
 ],
 "unused_inputs": [
  {"source":"user_input","name":"mask","position":3,"dtype":"bool","shape":["s0"]}
 ],
 "constant_inputs": [
  {"name":"flag","position":1,"value":true},
  {"name":"none","position":4,"value":null}
 ],
 "outputs": [
  {"destination":"buffer","name":"add_1","target":"running_mean","dtype":"bfloat16","shape":[4]},
  {"destination":"user_output","name":"mm","position":0,"dtype":"float32","shape":["2*s0",2]}
 ],
 "constant_outputs": [
  {"position":1,"value":null}
 ],
 "user_input_count": 5,
 "user_output_count": 2,
 "range_constraints": [
  {"expression":"s0","min":2,"max":null}
 ],
 "argument_names": [
  "x",
  "flag"
 ],
 "input_tree": {
  "tree": )") + inputTreeJson + R"(,
  "torch": )" + Json(inputTreeOfTorch()).dump() + R"(
 },
 "output_tree": {
  "tree": )" + outputTreeJson + R"(,
  "torch": null
 }
}
)");
}

TEST(Signature, HasAPartThatCallsNeed) {
  Json whole = *parseJson(*signatureText(sampleFunction().entryPoint), "signature");
  std::string call = *callSignatureText(sampleFunction().entryPoint);
  Json part = *parseJson(call, "call");
  EXPECT_EQ(call.find('\n'), std::string::npos);
  EXPECT_EQ(part.size(), 6u);
  for (std::string_view name :
       {"name", "outputs", "user_input_count", "argument_names", "input_tree", "output_tree"})
    EXPECT_EQ(part.at(std::string(name)), whole.at(std::string(name))) << name;
}

TEST(Signature, ReadsBackWhatItWrote) {
  std::string text = *signatureText(sampleFunction().entryPoint);
  Result<EntryPoint> read = readSignature(text, "f.json");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(*signatureText(*read), text);
  EXPECT_EQ(read->inputs[4].source, InputSource::UserInput);
  EXPECT_EQ(read->inputs[4].name, "x");
  EXPECT_EQ(read->inputs[4].position, 0);
  EXPECT_EQ(read->expressions.print(read->inputs[4].type.shape[0]), "s0");
  EXPECT_EQ(read->inputs[4].type.shape[1], SymInt(3));
  EXPECT_TRUE(read->inputs[5].isSymInt);
  EXPECT_EQ(read->inputs[0].position, -1);
  EXPECT_EQ(read->unusedInputs[0].type.dtype, DType::Bool);
  EXPECT_EQ(*read->constantInputs[0].value.as<bool>(), true);
  EXPECT_TRUE(read->constantInputs[1].value.isNone());
  EXPECT_EQ(read->outputs[0].destination, OutputDestination::Buffer);
  EXPECT_EQ(read->outputs[0].target, "running_mean");
  EXPECT_EQ(*read->expressions.evaluate(read->outputs[1].type.shape[0], {{"s0", 5}}), 10);
  EXPECT_EQ(read->rangeConstraints[0].range, (Range{2, std::numeric_limits<int64_t>::max()}));
  EXPECT_EQ(read->rangeConstraints[0].expression, read->inputs[4].type.shape[0]);
  EXPECT_EQ(read->argumentNames, (std::vector<std::string>{"x", "flag"}));
  EXPECT_EQ(read->inputTree.torchText, inputTreeOfTorch());
  EXPECT_EQ(read->inputTree.json, inputTreeJson);
  EXPECT_EQ(read->outputTree.torchText, "");
}

TEST(Signature, KeepsWhatAnIntegerIsCalled) {
  EntryPoint entry;
  entry.userInputCount = 1;
  EntryInput input{InputSource::UserInput,         "n", 0, {DType::I64, {}}, true,
                   entry.expressions.symbol("s0"), true};
  entry.inputs.push_back(input);
  Result<EntryPoint> read = readSignature(*signatureText(entry), "f.json");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->expressions.print(read->inputs[0].value), "s0");
  EXPECT_TRUE(read->inputs[0].isInShapes);
}

TEST(Signature, ConstantsThatAreNotReadNeedNoIndex) {
  EntryPoint entry;
  entry.unusedInputs = {{InputSource::Constant, "c", -1, {DType::F32, {2}}, false}};
  Result<EntryPoint> read = readSignature(*signatureText(entry), "f");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->unusedInputs[0].position, -1);
}

/// A signature whose only input is the constant.
std::string withConstant(const Constant &value) {
  EntryPoint entry;
  entry.userInputCount = 1;
  entry.constantInputs = {{"c", 0, value}};
  Result<std::string> text = signatureText(entry);
  return text ? *text : text.error().message;
}

TEST(Signature, KeepsConstantsOfEveryType) {
  Constant tuple{Constant::List{Constant{int64_t(1)}, Constant{Constant::List{Constant{2.5}}}}};
  tuple.isTuple = true;
  std::vector<std::pair<Constant, std::string>> constants = {
      {Constant{}, "null"},
      {Constant{int64_t(-7)}, "-7"},
      {Constant{7.0}, "7.0"},
      {Constant{0.1}, "0.1"},
      {Constant{false}, "false"},
      {Constant{std::string("a\"b")}, R"("a\"b")"},
      {Constant{HUGE_VAL}, R"({"float":"inf"})"},
      {Constant{-HUGE_VAL}, R"({"float":"-inf"})"},
      {Constant{std::nan("")}, R"({"float":"nan"})"},
      {Constant{std::complex<double>(1, -HUGE_VAL)}, R"({"complex":[1.0,{"float":"-inf"}]})"},
      {Constant{DType::BF16}, R"({"dtype":"bfloat16"})"},
      {Constant{Device{"cuda:1"}}, R"({"device":"cuda:1"})"},
      {Constant{Layout{"strided"}}, R"({"layout":"strided"})"},
      {Constant{MemoryFormat{"channels_last"}}, R"({"memory_format":"channels_last"})"},
      {tuple, R"({"tuple":[1,[2.5]]})"},
  };
  for (const auto &[value, json] : constants) {
    std::string text = withConstant(value);
    EXPECT_NE(text.find("\"value\":" + json + "}"), std::string::npos) << text;
    Result<EntryPoint> read = readSignature(text, "f");
    ASSERT_TRUE(read.has_value()) << read.error().message;
    const Constant &back = read->constantInputs[0].value;
    EXPECT_EQ(back.value.index(), value.value.index()) << json;
    EXPECT_EQ(back.isTuple, value.isTuple);
    EXPECT_EQ(withConstant(back), text);
  }
}

TEST(Signature, RefusesConstantsThatAreReferences) {
  EXPECT_EQ(withConstant(Constant{Constant::List{Constant{OpReference{"aten.add"}}}}),
            "[c] cannot be saved: got a reference to an op, expected a constant");
  EntryPoint entry;
  entry.inputTree.json = "{";
  EXPECT_EQ(signatureText(entry).error().message.find("[input tree] is not JSON"), 0u);
}

/// The message for the sample's signature with one text replaced.
std::string signatureMessageAfter(const std::string &from, const std::string &to) {
  std::string text = *signatureText(sampleFunction().entryPoint);
  size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  Result<EntryPoint> read = readSignature(text.replace(place, from.size(), to), "f.json");
  return read ? "accepted" : read.error().message;
}

TEST(Signature, NamesWhatIsWrongInAFile) {
  EXPECT_EQ(signatureMessageAfter("\"format\": 1", "\"format\": 2"),
            "[f.json] got the format 2, expected 1: another version wrote it");
  EXPECT_EQ(signatureMessageAfter("\"source\":\"buffer\"", "\"source\":\"bufer\""),
            "[f.json] inputs[2]: got the source \"bufer\", expected user_input, parameter, buffer, constant");
  EXPECT_EQ(signatureMessageAfter("\"destination\":\"buffer\"", "\"destination\":\"\""),
            "[f.json] outputs[0]: got the destination \"\", expected user_output, buffer, parameter, "
            "user_input, check");
  EXPECT_EQ(signatureMessageAfter("\"bfloat16\"", "\"bf16\""),
            "[f.json] inputs[2]: got the dtype \"bf16\", expected one of torch's");
  EXPECT_EQ(signatureMessageAfter("[\"s0\",3]", "[true,3]"),
            "[f.json] inputs[4].shape[0]: got a bool, expected an integer");
  EXPECT_EQ(signatureMessageAfter("[\"s0\",3]", "[\"s0 +\",3]").find("[f.json] inputs[4].shape[0]: "), 0u);
  EXPECT_EQ(signatureMessageAfter("\"min\":2", "\"min\":\"2\""),
            "[f.json] range_constraints[0].min: got a string, expected an integer");
  EXPECT_EQ(signatureMessageAfter("\"min\":2,\"max\":null", "\"min\":2,\"max\":1"),
            "[f.json] empty range: got 2 to 1");
  EXPECT_EQ(signatureMessageAfter("\"value\":true", "\"value\":{\"dtype\":\"f31\"}"),
            "[f.json] constant_inputs[0].value.dtype: got the dtype \"f31\", expected one of torch's");
  EXPECT_EQ(
      signatureMessageAfter("\"value\":true", "\"value\":{\"set\":\"x\"}"),
      "[f.json] constant_inputs[0].value: got the type \"set\", which is none that a constant can have");
  EXPECT_EQ(signatureMessageAfter("\"value\":true", "\"value\":{}"),
            "[f.json] constant_inputs[0].value: got 0 keys, expected one that says the type");
  EXPECT_EQ(signatureMessageAfter("\"value\":true", "\"value\":{\"complex\":[1]}"),
            "[f.json] constant_inputs[0].value.complex: got 1 parts of a complex number, expected 2");
  EXPECT_EQ(signatureMessageAfter("\"value\":true", "\"value\":{\"float\":\"1\"}"),
            "[f.json] constant_inputs[0].value: got the float \"1\", expected nan, inf or -inf");
  EXPECT_EQ(signatureMessageAfter("\"argument_names\": [", "\"argument_names\": [1,"),
            "[f.json] argument_names[0]: got an integer, expected a string");
}

TEST(Signature, NamesPositionsThatDoNotFit) {
  EXPECT_EQ(signatureMessageAfter("\"name\":\"x\",\"position\":0", "\"name\":\"x\",\"position\":5"),
            "[f.json] wrong position of a user input: got 5, expected 0 to 4");
  EXPECT_EQ(signatureMessageAfter("\"name\":\"x\",\"position\":0", "\"name\":\"x\",\"position\":-3"),
            "[f.json] wrong position of a user input: got -3, expected 0 to 4");
  EXPECT_EQ(signatureMessageAfter("\"name\":\"x\",\"position\":0", "\"name\":\"x\",\"position\":3"),
            "[f.json] the position 3 is taken by two user inputs");
  EXPECT_EQ(signatureMessageAfter("\"user_output_count\": 2", "\"user_output_count\": 3"),
            "[f.json] wrong number of user outputs: got 2, expected 3");
  EXPECT_EQ(signatureMessageAfter("\"user_output_count\": 2", "\"user_output_count\": -1"),
            "[f.json] wrong count of user inputs or outputs: got -1, expected 0 to 1048576");
  EXPECT_EQ(signatureMessageAfter("\"user_input_count\": 5", "\"user_input_count\": 9223372036854775807"),
            "[f.json] wrong count of user inputs or outputs: got 9223372036854775807, expected 0 to 1048576");
  EXPECT_EQ(
      signatureMessageAfter("\"name\":\"c_table\",\"position\":0", "\"name\":\"c_table\",\"position\":-1"),
      "[f.json] wrong index of the constant \"c_table\": got -1, expected at least 0");
  EXPECT_EQ(signatureMessageAfter(",\"target\":\"running_mean\"", ""),
            "[f.json] the output \"add_1\" updates a buffer, but names none");
  EXPECT_EQ(
      signatureMessageAfter("\"destination\":\"buffer\"", "\"destination\":\"user_input\",\"position\":9"),
      "[f.json] the output \"add_1\" updates user input 9, expected 0 to 4");
  EXPECT_EQ(signatureMessageAfter("\"shape\":[2,3]", "\"shape\":[2,-3]"),
            "[f.json] wrong size in the shape of \"head.weight\": got -3, expected at least 0");
}

TEST(Signature, NamesWhatIsWrongInATree) {
  auto outputTree = [](const std::string &tree) { return signatureMessageAfter(outputTreeJson, tree); };
  EXPECT_EQ(outputTree(R"({"kind":"set","children":[]})"),
            "[f.json] output_tree.tree: got the kind \"set\", expected leaf, none, tuple, list, dict, "
            "namedtuple, custom");
  EXPECT_EQ(outputTree(R"({"children":[]})"), "[f.json] output_tree.tree: the key \"kind\" is missing");
  EXPECT_EQ(outputTree(R"({"kind":"tuple"})"), "[f.json] output_tree.tree: the key \"children\" is missing");
  EXPECT_EQ(outputTree(R"({"kind":"list","children":[{"kind":"leaf"},7]})"),
            "[f.json] output_tree.tree.children[1]: got an integer, expected an object");
  EXPECT_EQ(outputTree(R"({"kind":"dict","children":[{"kind":"leaf"}]})"),
            "[f.json] output_tree.tree: the key \"keys\" is missing");
  EXPECT_EQ(outputTree(R"({"kind":"dict","keys":["a"],"children":[{"kind":"leaf"},{"kind":"leaf"}]})"),
            "[f.json] output_tree.tree.keys: got 1 keys, expected one for each of the 2 children");
  EXPECT_EQ(
      outputTree(R"({"kind":"dict","keys":["a",[1]],"children":[{"kind":"leaf"},{"kind":"leaf"}]})"),
      "[f.json] output_tree.tree.keys[1]: got an array or object, expected a string, a number, a bool or "
      "null");
  EXPECT_EQ(outputTree(R"({"kind":"dict","keys":[1,true],"children":[{"kind":"leaf"},{"kind":"leaf"}]})"),
            "[f.json] output_tree.tree.keys[1]: the key true stands there twice");
  EXPECT_EQ(outputTree(R"({"kind":"custom","children":[]})"),
            "[f.json] output_tree.tree: the key \"type\" is missing");
  EXPECT_EQ(outputTree(R"({"kind":"list","type":7,"children":[]})"),
            "[f.json] output_tree.tree.type: got an integer, expected a string");
  EXPECT_EQ(outputTree(R"({"kind":"namedtuple","type":"P","keys":["a",1],)"
                       R"("children":[{"kind":"leaf"},{"kind":"leaf"}]})"),
            "[f.json] output_tree.tree.keys[1]: got an integer, expected a string");
  EXPECT_EQ(outputTree(R"({"kind":"leaf"})"), "[f.json] output_tree.tree: got 1 leaves, expected 2");
  std::string deep;
  for (int level = 0; level < 100000; ++level)
    deep += R"({"kind":"list","children":[)";
  EXPECT_EQ(outputTree(deep), "[f.json] nests too deeply: expected at most 200 levels");
}

TEST(Signature, NamesWhatIsWrongInTheTreeOfArguments) {
  std::string structure =
      "got another structure, expected a tuple of the positional arguments' tuple and the "
      "keyword arguments' dict";
  EXPECT_EQ(signatureMessageAfter(R"(,"kind":"tuple"},{"children":[])", R"(,"kind":"list"},{"children":[])"),
            "[f.json] input_tree.tree: " + structure);
  EXPECT_EQ(signatureMessageAfter(inputTreeJson, R"({"kind":"leaf"})"),
            "[f.json] input_tree.tree: " + structure);
  EXPECT_EQ(signatureMessageAfter(R"({"children":[],"keys":[],"kind":"dict"})",
                                  R"({"children":[{"kind":"leaf"}],"keys":[3],"kind":"dict"})"),
            "[f.json] input_tree.tree.children[1].keys[0]: got an integer, expected a string");
  EXPECT_EQ(signatureMessageAfter(R"({"children":[],"keys":[],"kind":"dict"})",
                                  R"({"children":[{"kind":"leaf"}],"keys":["k"],"kind":"dict"})"),
            "[f.json] input_tree.tree: got 6 leaves, expected 5");
  EXPECT_EQ(signatureMessageAfter(std::string("\"tree\": ") + inputTreeJson, "\"tree\": null"), "accepted");
}

TEST(Signature, TakesNoOtherNamesOfTorchs) {
  EXPECT_EQ(signatureMessageAfter("\"value\":true", "\"value\":{\"layout\":\"hub\"}"),
            "[f.json] constant_inputs[0].value.layout: got \"hub\", expected one of strided, sparse_coo, "
            "sparse_csr, sparse_csc, sparse_bsr, sparse_bsc, _mkldnn, jagged");
  EXPECT_EQ(
      signatureMessageAfter("\"value\":true", "\"value\":{\"memory_format\":\"load\"}"),
      "[f.json] constant_inputs[0].value.memory_format: got \"load\", expected one of contiguous_format, "
      "preserve_format, channels_last, channels_last_3d");
}

TEST(Signature, IntsAreInt64) {
  EXPECT_EQ(signatureMessageAfter("\"dtype\":\"int64\",\"shape\":[],\"sym_int\":true",
                                  "\"dtype\":\"int64\",\"shape\":[0],\"sym_int\":true"),
            "[f.json] wrong type of the int \"n\": got int64 of rank 1, expected int64 of rank 0");
  EXPECT_EQ(signatureMessageAfter("\"name\":\"mm\",", "\"name\":\"mm\",\"sym_int\":true,"),
            "[f.json] wrong type of the int \"mm\": got float32 of rank 2, expected int64 of rank 0");
}

TEST(Signature, OnlyIntsOfTheUsersAreInShapes) {
  auto message = [](EntryInput input) {
    EntryPoint entry;
    entry.userInputCount = input.source == InputSource::UserInput ? 1 : 0;
    entry.inputs.push_back(std::move(input));
    Result<EntryPoint> read = readSignature(*signatureText(entry), "f.json");
    return read ? "accepted" : read.error().message;
  };
  EXPECT_EQ(message({InputSource::UserInput, "x", 0, {DType::F32, {2}}, false, {}, true}),
            "[f.json] shapes cannot depend on \"x\": expected an int of the user's inputs");
  EXPECT_EQ(message({InputSource::Parameter, "w", -1, {DType::I64, {}}, true, {}, true}),
            "[f.json] shapes cannot depend on \"w\": expected an int of the user's inputs");
}

/// A function with checks, and its status.
EntryPoint checkedFunction() {
  EntryPoint entry;
  entry.checks = {{"aten.a", "a: \"{code}\"", "model.py:3 in layer", false},
                  {"aten.b", "b{batch}", "", true}};
  entry.outputs = {{OutputDestination::Check, "status", "", -1, {DType::I32, {3}}, false}};
  return entry;
}

TEST(Signature, KeepsChecks) {
  Result<EntryPoint> read = readSignature(*signatureText(checkedFunction()), "f.json");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_EQ(read->checks.size(), 2u);
  EXPECT_EQ(read->checks[0].message, "a: \"{code}\"");
  EXPECT_EQ(read->checks[0].where, "model.py:3 in layer");
  EXPECT_FALSE(read->checks[0].isFactorization);
  EXPECT_EQ(read->checks[1].op, "aten.b");
  EXPECT_TRUE(read->checks[1].isFactorization);
}

TEST(Signature, ChecksAndTheStatusBelongTogether) {
  auto message = [](const std::function<void(EntryPoint &)> &change) {
    EntryPoint entry = checkedFunction();
    change(entry);
    Result<EntryPoint> read = readSignature(*signatureText(entry), "f.json");
    return read ? "accepted" : read.error().message;
  };
  EXPECT_EQ(message([](EntryPoint &entry) { entry.checks.clear(); }),
            "[f.json] wrong number of statuses: got 1 for 0 checks, expected 0");
  EXPECT_EQ(message([](EntryPoint &entry) { entry.outputs.clear(); }),
            "[f.json] wrong number of statuses: got 0 for 2 checks, expected 1");
  EXPECT_EQ(message([](EntryPoint &entry) { entry.outputs.push_back(entry.outputs.front()); }),
            "[f.json] wrong number of statuses: got 2 for 2 checks, expected 1");
  EXPECT_EQ(message([](EntryPoint &entry) { entry.outputs[0].type = {DType::F32, {3}}; }),
            "[f.json] wrong type of the status \"status\": got float32 of rank 1, expected int32 (3,)");
  EXPECT_EQ(message([](EntryPoint &entry) { entry.outputs[0].type.shape = {2}; }),
            "[f.json] wrong type of the status \"status\": got int32 of rank 1, expected int32 (3,)");
  std::string text = *signatureText(checkedFunction());
  size_t place = text.find("\"aten.b\"");
  Result<EntryPoint> read = readSignature(text.replace(place, 8, "7"), "f.json");
  EXPECT_EQ(read ? "accepted" : read.error().message,
            "[f.json] checks[1].op: got an integer, expected a string");
}

} // namespace
} // namespace torchere::artifact

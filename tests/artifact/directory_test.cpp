// save() and load(): what is on disk, what comes back, and that nothing half written or outside is ever
// touched.
#include "artifact/bundle.h"

#include "../base/temporary_directory.h"
#include "artifact/function_module.h"
#include "artifact/meta.h"
#include "artifact/signature.h"
#include "base/log.h"
#include "program/weight_memory.h"
#include "sample_bundle.h"
#include "vhlo/portable_artifact.h"

#include <algorithm>
#include <fcntl.h>
#include <map>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace torchere::artifact {
namespace {

namespace fs = std::filesystem;

/// Every file below `root`, by its relative name.
std::map<std::string, std::string> filesOf(const fs::path &root) {
  std::map<std::string, std::string> files;
  for (const auto &entry : fs::recursive_directory_iterator(root))
    if (entry.is_regular_file()) {
      std::ifstream file(entry.path(), std::ios::binary);
      files[entry.path().lexically_relative(root)] = std::string(std::istreambuf_iterator<char>(file), {});
    }
  return files;
}

std::vector<std::string> namesOf(const fs::path &root) {
  std::vector<std::string> names;
  for (const auto &[name, contents] : filesOf(root))
    names.push_back(name);
  return names;
}

class Directory : public testing::Test {
protected:
  void save(const Bundle &bundle, const SaveOptions &options = {}) {
    Status status = artifact::save(bundle, target, options);
    ASSERT_TRUE(status.has_value()) << status.error().message;
  }
  Bundle load(const LoadOptions &options = {}) {
    Result<Bundle> bundle = artifact::load(target, options);
    EXPECT_TRUE(bundle.has_value()) << bundle.error().message;
    return bundle ? *std::move(bundle) : Bundle();
  }
  std::string loadError() {
    Result<Bundle> bundle = artifact::load(target);
    return bundle ? "loaded" : bundle.error().message;
  }
  std::string saveError(const Bundle &bundle, const SaveOptions &options = {}) {
    Status status = artifact::save(bundle, target, options);
    return status ? "saved" : status.error().message;
  }
  std::string at(const std::string &name) { return (target / name).string(); }
  /// Replaces a text in a saved file.
  void edit(const std::string &name, const std::string &from, const std::string &to) {
    std::string text = root.get("p/" + name);
    size_t place = text.find(from);
    ASSERT_NE(place, std::string::npos) << from;
    root.put("p/" + name, text.replace(place, from.size(), to));
  }

  TemporaryDirectory root;
  fs::path target = root.path / "p";
};

TEST_F(Directory, HasTheDocumentedFiles) {
  save(sampleBundle());
  EXPECT_EQ(namesOf(target),
            (std::vector<std::string>{"constants/0", "data/block/unused", "data/head.weight",
                                      "data/running_mean", "data/tail.weight", "functions/forward.bytecode",
                                      "functions/forward.meta", "functions/forward.mlir",
                                      "functions/forward.signature.json", "manifest.json"}));
  EXPECT_EQ(root.get("p/functions/forward.mlir"), "module {\n}\n");
  EXPECT_EQ(root.get("p/functions/forward.meta"), metaText(sampleFunction().entryPoint));
  EXPECT_EQ(root.get("p/manifest.json"), R"({
 "format": 1,
 "functions": [
  "forward"
 ],
 "has_weights": true,
 "weights": [
  {"name":"block/unused","dtype":"float8_e5m2","shape":[3]},
  {"name":"head.weight","dtype":"float32","shape":[2,3]},
  {"name":"running_mean","dtype":"bfloat16","shape":[4]},
  {"name":"tail.weight","dtype":"float32","shape":[2,3],"same_as":"head.weight"}
 ],
 "constants": [
  {"name":"c_table","dtype":"int64","shape":[2]}
 ]
}
)");
  EXPECT_EQ(std::distance(fs::directory_iterator(root.path), {}), 1); // no temporary directory is left
}

TEST_F(Directory, ComesBackWhole) {
  Bundle saved = sampleBundle();
  save(saved);
  Bundle loaded = load();
  ASSERT_EQ(loaded.functions.size(), 1u);
  EXPECT_EQ(*moduleText(loaded.functions[0]), *moduleText(saved.functions[0]));
  EXPECT_EQ(*signatureText(loaded.functions[0].entryPoint), *signatureText(saved.functions[0].entryPoint));
  ASSERT_EQ(loaded.stateDict.size(), saved.stateDict.size());
  for (const auto &[name, weight] : saved.stateDict) {
    const program::Weight &read = loaded.stateDict.at(name);
    EXPECT_EQ(read.name, name);
    EXPECT_EQ(read.dtype, weight.dtype);
    EXPECT_EQ(read.shape, weight.shape);
    EXPECT_EQ(elementsOf(read), elementsOf(weight));
  }
  ASSERT_EQ(loaded.constants.size(), 1u);
  EXPECT_EQ(loaded.constants[0].name, "c_table");
  EXPECT_EQ(elementsOf(loaded.constants[0]), elementsOf(saved.constants[0]));
  EXPECT_TRUE(loaded.hasWeights);
}

TEST_F(Directory, IsTheSameToTheByteEveryTime) {
  save(sampleBundle());
  auto first = filesOf(target);
  target = root.path / "again";
  save(sampleBundle());
  EXPECT_EQ(filesOf(target), first);
  Bundle loaded = load();
  target = root.path / "loaded";
  save(loaded);
  EXPECT_EQ(filesOf(target), first);
}

TEST_F(Directory, WritesTiedWeightsOnceAndSharesThemWhenLoaded) {
  save(sampleBundle());
  struct stat head, tail;
  ASSERT_EQ(::stat(at("data/head.weight").c_str(), &head), 0);
  ASSERT_EQ(::stat(at("data/tail.weight").c_str(), &tail), 0);
  EXPECT_EQ(head.st_ino, tail.st_ino);
  EXPECT_EQ(head.st_nlink, 2u);
  Bundle loaded = load();
  EXPECT_EQ(loaded.stateDict.at("head.weight").storage, loaded.stateDict.at("tail.weight").storage);
  EXPECT_NE(loaded.stateDict.at("head.weight").storage, loaded.stateDict.at("running_mean").storage);
  // Tools that copy files break hard links, or drop the second name: the manifest still ties them.
  fs::remove(target / "data/tail.weight");
  EXPECT_EQ(load().stateDict.at("tail.weight").shape, (std::vector<int64_t>{2, 3}));
}

TEST_F(Directory, OtherViewsOfASharedStorageAreNotTied) {
  Bundle bundle = sampleBundle();
  auto storage = floatStorage(12);
  bundle.stateDict.at("head.weight") = makeWeight("head.weight", DType::F32, {2, 3}, {3, 1}, storage);
  bundle.stateDict.at("tail.weight") = makeWeight("tail.weight", DType::F32, {2, 3}, {1, 2}, storage);
  save(bundle);
  Bundle loaded = load();
  EXPECT_EQ(elementsOf(loaded.stateDict.at("tail.weight")), elementsOf(bundle.stateDict.at("tail.weight")));
  EXPECT_NE(elementsOf(loaded.stateDict.at("tail.weight")), elementsOf(loaded.stateDict.at("head.weight")));
}

TEST_F(Directory, KeepsSeveralFunctionsInOrder) {
  Bundle bundle = sampleBundle();
  bundle.functions.push_back(sampleFunction());
  bundle.functions[0].entryPoint.name = "generate";
  bundle.functions[1].entryPoint.name = "encode";
  bundle.functions[1].text = "module @encode {\n}\n";
  save(bundle);
  Bundle loaded = load();
  ASSERT_EQ(loaded.functions.size(), 2u);
  EXPECT_EQ(loaded.functions[0].entryPoint.name, "generate");
  EXPECT_EQ(loaded.functions[1].entryPoint.name, "encode");
  EXPECT_EQ(*moduleText(loaded.functions[1]), "module @encode {\n}\n");
}

TEST_F(Directory, WeightsStayReadableAfterTheFilesAreGone) {
  save(sampleBundle());
  Bundle loaded = load();
  fs::remove_all(target);
  EXPECT_EQ(elementsOf(loaded.stateDict.at("running_mean")), std::string("\1\2\3\4\5\6\7\10"));
}

TEST_F(Directory, LeavesWeightsOut) {
  save(sampleBundle(), {.saveWeights = false});
  EXPECT_FALSE(fs::exists(target / "data"));
  EXPECT_TRUE(fs::exists(target / "constants/0"));
  Bundle loaded = load();
  EXPECT_FALSE(loaded.hasWeights);
  EXPECT_EQ(loaded.stateDict.size(), 4u);
  for (const auto &[name, weight] : loaded.stateDict)
    EXPECT_FALSE(hasData(weight)) << name;
  EXPECT_EQ(loaded.constants.size(), 1u);
  target = root.path / "again";
  save(loaded);
  EXPECT_FALSE(fs::exists(target / "data"));
  // What is said to be left out is not there.
  Bundle without = sampleBundle();
  without.hasWeights = false;
  EXPECT_EQ(saveError(without), "[bundle] has 4 weights, expected none: they are said to be left out");
}

TEST_F(Directory, LoadsWithoutMappingWeights) {
  save(sampleBundle());
  fs::remove_all(target / "data");
  Bundle loaded = load({.mapWeights = false});
  EXPECT_FALSE(loaded.hasWeights);
  EXPECT_EQ(loaded.functions.size(), 1u);
}

TEST_F(Directory, WritesBytecodeAndTextIfItIsWanted) {
  save(sampleBundle());
  EXPECT_EQ(root.get("p/functions/forward.mlir"), "module {\n}\n");
  Bundle both = load();
  EXPECT_EQ(both.functions[0].bytecode, root.get("p/functions/forward.bytecode"));
  EXPECT_EQ(*moduleText(both.functions[0]), "module {\n}\n");
  target = root.path / "without";
  save(sampleBundle(), {.includeText = false});
  EXPECT_FALSE(fs::exists(target / "functions/forward.mlir"));
  EXPECT_EQ(load().functions[0].bytecode, both.functions[0].bytecode);
}

TEST_F(Directory, WritesBytecodeOfTheTarget) {
  save(sampleBundle(), {.target = {1, 2, 0}});
  Bundle loaded = load();
  EXPECT_EQ(vhlo::artifactVersion(loaded.functions[0].bytecode)->text(), "1.2.0");
  // Other bytes are made only for another version.
  EXPECT_EQ(*moduleBytecode(loaded.functions[0], {1, 2, 0}), loaded.functions[0].bytecode);
  EXPECT_EQ(vhlo::artifactVersion(*moduleBytecode(loaded.functions[0], {1, 13, 0}))->text(), "1.13.0");
  Bundle bundle = sampleBundle();
  bundle.functions[0].text = "func.func @main(%x: tensor<f32>) { %0 = stablehlo.convert %x : (tensor<f32>) "
                             "-> tensor<f8E4M3> return }";
  target = root.path / "lacking";
  auto error = artifact::save(bundle, target, {.target = {1, 2, 0}});
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().message,
            "[stablehlo.convert] StableHLO 1.2.0 has no type tensor<f8E4M3>: it came with 1.7.0");
  EXPECT_FALSE(fs::exists(target));
}

TEST_F(Directory, SaysInOldOpsWhatTheTargetLacks) {
  Bundle bundle = sampleBundle();
  bundle.functions[0].text =
      "func.func @main(%x: tensor<f32>) { %0 = stablehlo.tan %x : tensor<f32> return }";
  save(bundle, {.target = {1, 3, 0}});
  std::string text = *moduleText(load().functions[0]);
  EXPECT_NE(text.find("stablehlo.sine"), text.npos) << text;
  EXPECT_EQ(text.find("stablehlo.tan"), text.npos) << text;
}

TEST_F(Directory, ReadsTheTextWhereBytecodeIsTooNew) {
  save(sampleBundle());
  std::string bytecode = root.get("p/functions/forward.bytecode");
  root.put("p/functions/forward.bytecode", bytecode.replace(bytecode.find("1.16.0"), 6, "1.99.0"));
  Bundle loaded = load();
  EXPECT_EQ(loaded.functions[0].bytecode, "");
  EXPECT_EQ(loaded.functions[0].text, "module {\n}\n");
  fs::remove(target / "functions/forward.mlir");
  EXPECT_EQ(loadError(), "[" + at("functions/forward.bytecode") +
                             "] is of a newer StableHLO than ours: got 1.99.0, expected 1.20.0 at most");
}

TEST_F(Directory, CreatesParentsAndTakesEmptyDirectories) {
  target = root.path / "a/b/c";
  save(sampleBundle());
  target = root.path / "empty";
  fs::create_directory(target);
  Status status = artifact::save(sampleBundle(), target.string() + "/");
  EXPECT_TRUE(status.has_value()) << status.error().message;
  load();
}

TEST_F(Directory, RefusesToWriteOverSomething) {
  root.put("p/notes.txt", "mine");
  EXPECT_EQ(saveError(sampleBundle()),
            "[" + target.string() + "] is not empty: expected an empty directory, or overwrite=True");
  EXPECT_EQ(saveError(sampleBundle(), {.overwrite = true}),
            "[" + target.string() +
                "] is not overwritten: it holds \"notes.txt\", which is no part of a saved program");
  EXPECT_EQ(namesOf(target), (std::vector<std::string>{"notes.txt"}));
  root.put("file", "x");
  target = root.path / "file";
  EXPECT_EQ(saveError(sampleBundle(), {.overwrite = true}), "[" + target.string() + "] is no directory");
  EXPECT_EQ(artifact::save(sampleBundle(), "").error().message, "[save] the path is empty");
  EXPECT_EQ(artifact::save(sampleBundle(), "/").error().message,
            "[/] is the root directory, expected a directory below it");
  target = root.path / "file/below";
  EXPECT_EQ(saveError(sampleBundle()).find("[" + (root.path / "file").string()), 0u);
  EXPECT_EQ(std::distance(fs::directory_iterator(root.path), {}), 2);
}

TEST_F(Directory, OverwritesASavedProgramAndRemovesWhatItHeld) {
  Bundle old = sampleBundle();
  old.functions[0].entryPoint.name = "old";
  save(old);
  Bundle mapped = load();
  save(sampleBundle(), {.overwrite = true});
  EXPECT_FALSE(fs::exists(target / "functions/old.meta"));
  EXPECT_EQ(load().functions[0].entryPoint.name, "forward");
  EXPECT_EQ(std::distance(fs::directory_iterator(root.path), {}), 1);
  // What was loaded from the old directory is still there, and can itself be saved over the new one.
  save(mapped, {.overwrite = true});
  EXPECT_EQ(load().functions[0].entryPoint.name, "old");
}

TEST_F(Directory, OverwritesOnlyWhatAnIndexNames) {
  auto refuses = [&](const std::string &name) {
    auto before = namesOf(target);
    EXPECT_EQ(saveError(sampleBundle(), {.overwrite = true}), "[" + target.string() +
                                                                  "] is not overwritten: it holds \"" + name +
                                                                  "\", which is no part of a saved program");
    EXPECT_EQ(namesOf(target), before);
  };
  // Folders of a program's names, in what never was a program.
  for (const char *name : {"data", "constants", "functions"}) {
    fs::create_directories(target / name);
    refuses(name);
    root.put(fmt::format("p/{}/mine", name), "x");
    refuses(name);
    fs::remove_all(target);
  }
  // Other files in a program.
  for (const char *name : {"data/mine.npy", "data/block/mine", "constants/1", "functions/forward.txt", "a"}) {
    save(sampleBundle(), {.overwrite = true});
    root.put(std::string("p/") + name, "x");
    refuses(name);
    fs::remove(target / name);
  }
  fs::create_directories(target / "data/empty");
  refuses("data/empty");
  fs::remove(target / "data/empty");
  fs::create_directory_symlink("/", target / "data/link");
  refuses("data/link");
  fs::remove(target / "data/link");
  // An index that cannot be read names nothing.
  root.put("p/manifest.json", "{");
  EXPECT_EQ(
      saveError(sampleBundle(), {.overwrite = true})
          .find("[" + target.string() + "] is not overwritten: [" + at("manifest.json") + "] is not JSON: "),
      0u);
  EXPECT_EQ(std::distance(fs::directory_iterator(root.path), {}), 1);
}

TEST_F(Directory, RemovesWhatKilledSavesLeft) {
  save(sampleBundle());
  // As a kill leaves them: nothing yet, an unfinished manifest, a part, a whole program.
  fs::create_directory(root / ".p.7.0.tmp");
  root.put(".p.7.1.tmp/.manifest.json.7.2.tmp", "{");
  fs::create_directories(root / ".p.7.3.tmp/data");
  fs::copy(target, root / ".p.7.4.tmp", fs::copy_options::recursive);
  fs::copy(target, root / ".p.7.5.tmp", fs::copy_options::recursive);
  fs::remove_all(root / ".p.7.4.tmp/functions");
  root.put(".p.7.4.tmp/data/running_mean", "half");
  // Those are of others: another target, a name of another form, files that no index names, a live process.
  root.put(".q.7.0.tmp/x", "");
  root.put(".p.7.tmp/x", "");
  root.put(".p.7.6.tmp/data/mine", "");
  fs::copy(target, root / ".p.7.7.tmp", fs::copy_options::recursive);
  root.put(".p.7.7.tmp/mine", "");
  fs::copy(target, root / ".p.7.8.tmp", fs::copy_options::recursive);
  int live = ::open((root / ".p.7.8.tmp").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(live, LOCK_EX), 0);
  auto names = [&] {
    std::vector<std::string> list;
    for (const auto &entry : fs::directory_iterator(root.path))
      list.push_back(entry.path().filename());
    std::sort(list.begin(), list.end());
    return list;
  };
  std::vector<std::string> kept = {".p.7.6.tmp", ".p.7.7.tmp", ".p.7.8.tmp", ".p.7.tmp", ".q.7.0.tmp", "p"};
  save(sampleBundle(), {.overwrite = true});
  EXPECT_EQ(names(), kept);
  EXPECT_EQ(namesOf(root / ".p.7.7.tmp").size(), namesOf(target).size() + 1); // not a file of it is gone
  ::close(live);
  save(sampleBundle(), {.overwrite = true});
  kept.erase(kept.begin() + 2);
  EXPECT_EQ(names(), kept);
}

TEST_F(Directory, NamesTheTargetInErrors) {
  target = root.path / std::string(250, 'n'); // a name beside it is too long
  EXPECT_EQ(saveError(sampleBundle()), "[" + target.string() + "] cannot be created: File name too long");
}

TEST_F(Directory, SavesThroughALinkToADirectory) {
  fs::create_directory(root / "real");
  fs::create_directory_symlink("real", target);
  save(sampleBundle());
  EXPECT_TRUE(fs::is_symlink(target));
  EXPECT_TRUE(fs::exists(root / "real/manifest.json"));
}

TEST_F(Directory, LeavesNothingBehindWhenSavingFails) {
  Bundle bundle = sampleBundle();
  // "block" cannot be a file and the directory of "block/unused".
  bundle.stateDict.emplace("block", makeWeight("block", DType::F32, {1}, {1}, floatStorage(1)));
  std::string message = saveError(bundle);
  EXPECT_EQ(message, "[save] the weights 'block' and 'block/unused' would be a file and a directory of one "
                     "name: expected other names, or one file (PATH.torchere)");
  EXPECT_TRUE(fs::is_empty(root.path));
  bundle = sampleBundle();
  bundle.functions[0].entryPoint.constantInputs[0].value =
      program::Constant{program::OpReference{"aten.add"}};
  EXPECT_EQ(saveError(bundle), "[flag] cannot be saved: got a reference to an op, expected a constant");
  EXPECT_TRUE(fs::is_empty(root.path));
}

TEST_F(Directory, RefusesNamesThatLeaveIt) {
  for (const char *name : {"../x", "/x", "a/../x"}) {
    Bundle bundle = sampleBundle();
    bundle.stateDict.emplace(name, makeWeight(name, DType::F32, {1}, {1}, floatStorage(1)));
    EXPECT_EQ(saveError(bundle).find("[weight] the name \"" + std::string(name) + "\""), 0u) << name;
  }
  Bundle nul = sampleBundle();
  std::string name("a\0b", 3);
  nul.stateDict.emplace(name, makeWeight(name, DType::F32, {1}, {1}, floatStorage(1)));
  EXPECT_EQ(saveError(nul), "[weight] the name \"a\" has a NUL byte");
  Bundle function = sampleBundle();
  function.functions[0].entryPoint.name = "../f";
  EXPECT_EQ(saveError(function).find("[function] the name \"../f\" may not have \"..\" as a component"), 0u);
  function.functions[0].entryPoint.name = "a/f";
  EXPECT_EQ(saveError(function), "[function] the name \"a/f\" may not have a \"/\"");
  EXPECT_TRUE(fs::is_empty(root.path));
}

TEST_F(Directory, RefusesNamesThatLeaveItWhenLoading) {
  save(sampleBundle());
  edit("manifest.json", "\"block/unused\"", "\"../x\"");
  EXPECT_EQ(loadError(), "[weight] the name \"../x\" may not have \"..\" as a component: it could leave its "
                         "directory or name a file twice");
  edit("manifest.json", "\"../x\"", "\"/etc/passwd\"");
  EXPECT_EQ(loadError(),
            "[weight] the name \"/etc/passwd\" is absolute: expected one relative to its directory");
  edit("manifest.json", "\"/etc/passwd\"", "\"a\\u0000b\"");
  EXPECT_EQ(loadError(), "[weight] the name \"a\" has a NUL byte");
  edit("manifest.json", "\"forward\"", "\"../forward\"");
  EXPECT_EQ(loadError().find("[function] the name \"../forward\" may not have"), 0u);
}

TEST_F(Directory, RefusesLinksThatLeaveIt) {
  save(sampleBundle());
  root.put("outside", root.get("p/data/running_mean"));
  fs::remove(target / "data/running_mean");
  fs::create_symlink("../../outside", target / "data/running_mean");
  EXPECT_EQ(loadError(),
            "[" + at("data/running_mean") + "] is a link that leaves the directory " + target.string());
  fs::remove(target / "data/running_mean");
  root.put("p/data/stored", root.get("outside"));
  fs::create_symlink("stored", target / "data/running_mean");
  load(); // a link that stays inside is a file
}

TEST_F(Directory, NamesMissingAndBrokenFiles) {
  EXPECT_EQ(loadError(), "[" + target.string() +
                             "] does not exist: expected the directory or the file of a saved program");
  root.put("file", "");
  EXPECT_EQ(artifact::load(root / "file").error().message,
            "[" + (root / "file").string() + "] is no zip file, or was cut off: its end record is missing");
  fs::create_directory(target);
  EXPECT_EQ(loadError(),
            "[" + at("functions") + "] is no saved program's directory: No such file or directory");
  fs::create_directory(target / "functions");
  EXPECT_EQ(loadError(), "[" + at("functions") + "] holds no NAME.meta: expected one for each function");

  fs::remove(target / "functions");
  save(sampleBundle(), {.overwrite = true});
  std::string weight = root.get("p/data/running_mean");
  fs::remove(target / "data/running_mean");
  EXPECT_EQ(loadError(), "[running_mean] its file is missing: " + at("data/running_mean"));
  root.put("p/data/running_mean", weight.substr(0, weight.size() - 1));
  EXPECT_EQ(loadError(), "[" + at("data/running_mean") +
                             "] wrong size of data: got 7 bytes, expected 8 (the file is cut off)");
  root.put("p/data/running_mean", root.get("p/constants/0"));
  EXPECT_EQ(loadError(),
            "[" + at("data/running_mean") + "] wrong dtype: got '<i8', expected '|V2' (bfloat16)");
  root.put("p/data/running_mean", weight);
  fs::remove(target / "constants/0");
  EXPECT_EQ(loadError(), "[c_table] its file is missing: " + at("constants/0"));
}

TEST_F(Directory, NamesBrokenJson) {
  save(sampleBundle());
  for (const char *name : {"manifest.json", "functions/forward.meta", "functions/forward.signature.json"}) {
    std::string text = root.get(std::string("p/") + name);
    root.put(std::string("p/") + name, text.substr(0, text.size() / 2));
    std::string message = loadError();
    EXPECT_EQ(message.find("[" + at(name) + "] is not JSON: "), 0u) << message;
    EXPECT_NE(message.find(fmt::format("at byte {}", text.size() / 2 + 1)), std::string::npos) << message;
    root.put(std::string("p/") + name, text);
  }
  fs::remove(target / "functions/forward.signature.json");
  EXPECT_EQ(loadError(),
            "[" + at("functions/forward.signature.json") + "] cannot be opened: No such file or directory");
}

TEST_F(Directory, NamesManifestsThatAreWrong) {
  save(sampleBundle());
  std::string text = root.get("p/manifest.json");
  auto after = [&](const std::string &from, const std::string &to) {
    edit("manifest.json", from, to);
    std::string message = loadError();
    root.put("p/manifest.json", text);
    return message;
  };
  std::string start = "[" + at("manifest.json") + "] ";
  EXPECT_EQ(after("\"format\": 1", "\"format\": 7"),
            start + "got the format 7, expected 1: another version wrote it");
  EXPECT_EQ(after("\"float8_e5m2\"", "\"f8\""),
            start + "weights[0]: got the dtype \"f8\", expected one of torch's");
  EXPECT_EQ(
      after("\"same_as\":\"head.weight\"", "\"same_as\":\"none\""),
      start + "weights[3]: \"tail.weight\" is the same as \"none\", which is no earlier weight with a file");
  EXPECT_EQ(after("\"same_as\":\"head.weight\"", "\"same_as\":\"running_mean\""),
            start +
                "weights[3]: \"tail.weight\" is the same as \"running_mean\", but of another dtype or shape");
  EXPECT_EQ(after("{\"name\":\"block/unused\",\"dtype\":\"float8_e5m2\",\"shape\":[3]}",
                  "{\"name\":\"head.weight\",\"dtype\":\"float32\",\"shape\":[2,3]}"),
            start + "lists the weight \"head.weight\" twice");
  EXPECT_EQ(after("\"shape\":[4]", "\"shape\":[5]"),
            "[" + at("data/running_mean") + "] wrong shape: got (4,), expected (5,) by manifest.json");
  EXPECT_EQ(after("\"functions\": [\n  \"forward\"", "\"functions\": ["),
            "[bundle] has no functions, expected at least one");
  EXPECT_EQ(after("\"functions\": [\n  \"forward\"", "\"functions\": [\"forward\", \"forward\""),
            "[bundle] two functions are called \"forward\"");
  EXPECT_EQ(after("\"has_weights\": true", "\"has_weights\": 1"),
            start + "has_weights: got an integer, expected a bool");
}

TEST_F(Directory, NamesFilesThatDoNotBelongTogether) {
  save(sampleBundle());
  edit("functions/forward.meta", "[-1,3]", "[-1,4]");
  EXPECT_EQ(loadError(),
            "[" + at("functions/forward.meta") +
                "] does not agree with the .signature.json beside it: the types of input 4 differ");
  edit("functions/forward.meta", "[-1,4]", "[-1,3]");
  edit("functions/forward.meta", "\"name\":\"forward\"", "\"name\":\"other\"");
  EXPECT_EQ(loadError(), "[" + at("functions/forward.meta") +
                             "] describes another function: got \"other\", expected \"forward\"");
}

TEST_F(Directory, BundlesWhosePartsDoNotFitAreRefused) {
  auto message = [&](auto &&change) {
    Bundle bundle = sampleBundle();
    change(bundle);
    return saveError(bundle);
  };
  EXPECT_EQ(message([](Bundle &bundle) { bundle.functions.clear(); }),
            "[bundle] has no functions, expected at least one");
  EXPECT_EQ(message([](Bundle &bundle) { bundle.functions.push_back(sampleFunction()); }),
            "[bundle] two functions are called \"forward\"");
  EXPECT_EQ(message([](Bundle &bundle) { bundle.stateDict.erase("head.weight"); }),
            "[head.weight] the weight is missing: function \"forward\" takes it");
  EXPECT_EQ(message([](Bundle &bundle) { bundle.constants.clear(); }),
            "[c_table] constant 0 is missing: function \"forward\" takes it, and there are 0");
  EXPECT_EQ(message([](Bundle &bundle) { bundle.stateDict.at("head.weight").shape = {2, 2}; }),
            "[head.weight] wrong shape of the weight: got (2, 2), expected (2, 3) by function \"forward\"");
  EXPECT_EQ(message([](Bundle &bundle) { bundle.stateDict.at("head.weight").dtype = DType::I32; }),
            "[head.weight] wrong dtype of the weight: got int32, expected float32 by function \"forward\"");
  EXPECT_EQ(
      message([](Bundle &bundle) { bundle.stateDict.at("head.weight").storageOffset = 9; }),
      "[head.weight] lies outside its storage: got a view of shape (2, 3) at offset 9, expected it within 6 "
      "elements");
  EXPECT_EQ(
      message([](Bundle &bundle) { bundle.constants[0].storage = nullptr; }),
      "[constant 0] lies outside its storage: got a view of shape (2,) at offset 0, expected it within 0 "
      "elements");
  EXPECT_EQ(message([](Bundle &bundle) { bundle.functions[0].entryPoint.userOutputCount = 9; }),
            "[forward] wrong number of user outputs: got 2, expected 9");
  EXPECT_TRUE(fs::is_empty(root.path));
}

TEST(AddFunction, JoinsProgramsThatShareWeights) {
  Bundle first = sampleBundle(), bundle;
  Function decode = sampleFunction();
  decode.entryPoint.name = "decode";
  ASSERT_TRUE(addFunction(bundle, sampleFunction(), first.stateDict, first.constants).has_value());
  ASSERT_TRUE(addFunction(bundle, decode, first.stateDict, first.constants).has_value());
  EXPECT_EQ(bundle.stateDict.size(), first.stateDict.size());
  EXPECT_EQ(bundle.constants.size(), 1u); // equal ones are one
  EXPECT_EQ(bundle.functions[0].entryPoint.inputs[3].position, 0);
  EXPECT_EQ(bundle.functions[1].entryPoint.inputs[3].position, 0);
  EXPECT_EQ(bundle.functions[1].entryPoint.inputs[4].position, 0); // a user input stays where it is
  EXPECT_TRUE(verify(bundle).has_value());
  EXPECT_EQ(*findFunction(bundle, "decode"), 1u);
  EXPECT_EQ(findFunction(bundle, "none").error().message,
            "[none] no such function in the program: expected one of forward, decode");
}

TEST(AddFunction, RefusesAnotherWeightOfTheSameName) {
  Bundle first = sampleBundle(), second = sampleBundle(), bundle;
  second.functions[0].entryPoint.name = "decode";
  std::unordered_map<std::string, program::Weight> one = {{"w", first.stateDict.at("head.weight")}},
                                                   other = {{"w", second.stateDict.at("head.weight")}};
  ASSERT_TRUE(addFunction(bundle, sampleFunction(), one, {}).has_value());
  Status status = addFunction(bundle, second.functions[0], other, {});
  EXPECT_EQ(status.error().message,
            "[w] function \"decode\" has another weight of this name than the functions before it");
}

/// A directory with nothing of ours: what PyTorch/XLA leaves.
class TorchXlaDirectory : public Directory {
protected:
  void SetUp() override {
    save(sampleBundle());
    fs::remove(target / "manifest.json");
    fs::remove(target / "functions/forward.signature.json");
  }
};

TEST_F(TorchXlaDirectory, Loads) {
  root.put("p/data/.DS_Store", "no npy");
  edit("functions/forward.meta", "[-1,3]", "[8,3]"); // PyTorch/XLA writes the traced size
  fs::remove(target / "data/block/unused");          // raw bytes that nothing names
  Bundle loaded = load();
  ASSERT_EQ(loaded.functions.size(), 1u);
  EXPECT_EQ(loaded.functions[0].entryPoint.name, "forward");
  EXPECT_EQ(loaded.functions[0].entryPoint.inputs[0].source, program::InputSource::Parameter);
  EXPECT_EQ(loaded.stateDict.size(), 3u);
  EXPECT_EQ(loaded.stateDict.at("running_mean").dtype, DType::BF16);
  EXPECT_EQ(elementsOf(loaded.stateDict.at("head.weight")),
            elementsOf(sampleBundle().stateDict.at("head.weight")));
  ASSERT_EQ(loaded.constants.size(), 1u);
  EXPECT_EQ(loaded.constants[0].name, "constant_0");
}

TEST_F(TorchXlaDirectory, LoadsWithoutWeights) {
  fs::remove_all(target / "data");
  EXPECT_FALSE(load().hasWeights);
}

TEST_F(TorchXlaDirectory, PutsForwardFirst) {
  for (std::string name : {"a", "z"}) {
    std::string meta = root.get("p/functions/forward.meta");
    root.put("p/functions/" + name + ".meta", meta.replace(meta.find("forward"), 7, name));
    root.put("p/functions/" + name + ".mlir", "module {}");
  }
  fs::remove(target / "data/block/unused");
  Bundle loaded = load();
  ASSERT_EQ(loaded.functions.size(), 3u);
  EXPECT_EQ(loaded.functions[0].entryPoint.name, "forward");
  EXPECT_EQ(loaded.functions[1].entryPoint.name, "a");
  EXPECT_EQ(loaded.functions[2].entryPoint.name, "z");
}

TEST_F(TorchXlaDirectory, ReadsBytecodeInPreferenceToText) {
  auto named = stablehlo::Module::parse("module @bytecode {}");
  root.put("p/functions/forward.bytecode", *vhlo::serialize(*named, {.target = {1, 8, 0}}));
  fs::remove(target / "data/block/unused");
  EXPECT_EQ(*moduleText(load().functions[0]), "module @bytecode {\n}\n");
  fs::remove(target / "functions/forward.mlir");
  EXPECT_EQ(*moduleText(load().functions[0]), "module @bytecode {\n}\n");
  root.put("p/functions/forward.bytecode", "module {}");
  EXPECT_EQ(loadError(),
            "[" + at("functions/forward.bytecode") +
                "] not a portable artifact: it does not begin with the magic bytes of MLIR's bytecode");
  fs::remove(target / "functions/forward.bytecode");
  EXPECT_EQ(loadError(),
            "[" + at("functions/forward.mlir") + "] cannot be opened: No such file or directory");
}

TEST_F(TorchXlaDirectory, IsOverwritten) {
  root.put("p/data/.DS_Store", "no npy");
  EXPECT_EQ(saveError(sampleBundle(), {.overwrite = true}),
            "[" + target.string() +
                "] is not overwritten: it holds \"data/.DS_Store\", which is no part of a saved program");
  fs::remove(target / "data/.DS_Store");
  save(sampleBundle(), {.overwrite = true}); // block/unused as well, which no .meta names
  EXPECT_TRUE(fs::exists(target / "manifest.json"));
  EXPECT_EQ(std::distance(fs::directory_iterator(root.path), {}), 1);
}

TEST_F(TorchXlaDirectory, NamesWhatIsMissingOrDoesNotFit) {
  EXPECT_EQ(loadError(),
            "[" + at("data/block/unused") + "] holds raw bytes ('|V1') and nothing names their dtype");
  fs::remove(target / "data/block/unused");
  fs::remove(target / "data/head.weight");
  EXPECT_EQ(loadError(), "[head.weight] the weight is missing: function \"forward\" takes it");
  root.put("p/data/head.weight", root.get("p/constants/0"));
  EXPECT_EQ(loadError(), "[" + at("data/head.weight") + "] wrong dtype: got '<i8', expected '<f4' (float32)");
  fs::remove(target / "data/head.weight");
  fs::copy_file(target / "data/tail.weight", target / "data/head.weight");
  edit("functions/forward.meta", "[2,3]", "[3,2]");
  EXPECT_EQ(loadError(),
            "[head.weight] wrong shape of the weight: got (2, 3), expected (3, 2) by function \"forward\"");
  edit("functions/forward.meta", "[3,2]", "[2,3]");
  fs::create_symlink("/etc/hostname", target / "data/escape");
  EXPECT_EQ(loadError(),
            "[" + at("data/escape") + "] is a link that leaves the directory " + target.string());
}

} // namespace
} // namespace torchere::artifact

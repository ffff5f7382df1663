// Digests: written if they are wanted, compared when a program is loaded, and what each kind of damage is
// called.
#include "artifact/verification.h"

#include "../base/temporary_directory.h"
#include "artifact/bundle.h"
#include "base/digest.h"
#include "sample_bundle.h"

namespace torchere::artifact {
namespace {

namespace fs = std::filesystem;

class Verification : public testing::Test {
protected:
  void save(const SaveOptions &options) {
    Status status = artifact::save(sampleBundle(), target, options);
    ASSERT_TRUE(status.has_value()) << status.error().message;
  }
  std::string loadError() {
    auto bundle = load(target, {.verify = true});
    return bundle ? "loaded" : bundle.error().message;
  }
  /// What is not intact, a line each.
  std::string findings() {
    Result<std::vector<FileFinding>> list = verifyFiles(target);
    EXPECT_TRUE(list.has_value());
    std::string text;
    for (const FileFinding &finding : *list)
      if (finding.state != FileState::Intact)
        text += finding.name + ": " + finding.detail + "\n";
    return text;
  }
  std::string at(const std::string &name) { return (target / name).string(); }
  TemporaryDirectory root;
  fs::path target = root.path / "p";
};

TEST_F(Verification, AFreshProgramIsIntact) {
  save({.withDigests = true});
  Result<std::vector<FileFinding>> list = verifyFiles(target);
  ASSERT_TRUE(list.has_value());
  EXPECT_EQ(list->size(), 9u); // all but manifest.json, the second name of the tied weights too
  EXPECT_EQ(findings(), "");
  EXPECT_EQ(loadError(), "loaded");
  std::string mlir = "module {\n}\n"; // as b2sum -l 256 has it
  Digest digest;
  digest.add(std::as_bytes(std::span(mlir.data(), mlir.size())));
  EXPECT_NE(root.get("p/manifest.json")
                .find("{\"name\":\"functions/forward.mlir\",\"bytes\":11,\"blake2b\":\"" +
                      hexText(digest.finish()) + "\"}"),
            std::string::npos)
      << root.get("p/manifest.json");
  // A program that was loaded is saved with the same digests.
  Bundle loaded = *load(target);
  ASSERT_TRUE(artifact::save(loaded, root / "again", {.withDigests = true}).has_value());
  EXPECT_EQ(root.get("again/manifest.json"), root.get("p/manifest.json"));
}

TEST_F(Verification, NamesWhatIsDamaged) {
  save({.withDigests = true});
  std::string weight = root.get("p/data/running_mean");
  std::string flipped = weight;
  flipped.back() = static_cast<char>(flipped.back() ^ 1);
  root.put("p/data/running_mean", flipped);
  EXPECT_TRUE(load(target).has_value()); // nothing else tells
  std::string message = loadError();
  EXPECT_EQ(message.find("[" + at("data/running_mean") + "] wrong digest: got "), 0u) << message;
  EXPECT_EQ(message.find(" more)"), std::string::npos) << message;
  root.put("p/data/running_mean", weight + "x");
  EXPECT_EQ(loadError(), "[" + at("data/running_mean") + "] wrong size: got 137 bytes, expected 136");
  root.put("p/data/running_mean", weight);
  fs::remove(target / "constants/0");
  fs::remove(target / "functions/forward.mlir");
  EXPECT_EQ(loadError(), "[" + at("constants/0") + "] is missing (and 1 more)");
  EXPECT_EQ(findings(), "constants/0: is missing\nfunctions/forward.mlir: is missing\n");
}

TEST_F(Verification, FilesOfOthersAreSaidAndAreNoDamage) {
  save({.withDigests = true});
  root.put("p/notes.txt", "mine");
  EXPECT_EQ(findings(), "notes.txt: is no part of the program\n");
  EXPECT_EQ(loadError(), "loaded");
}

TEST_F(Verification, AFileThatWouldBeReadNeedsADigest) {
  save({.includeText = false, .withDigests = true});
  root.put("p/functions/forward.mlir", "module {}");
  EXPECT_EQ(loadError(), "[" + at("functions/forward.mlir") + "] has no digest in manifest.json");
}

TEST_F(Verification, ProgramsWithoutDigestsAreNamed) {
  save({});
  std::string message =
      "[" + target.string() +
      "] has no digests to compare with: expected a program that was saved with digests=True";
  EXPECT_EQ(loadError(), message);
  fs::remove(target / "manifest.json");
  EXPECT_EQ(verifyFiles(target).error().message, message);
  fs::remove_all(target);
  EXPECT_EQ(verifyFiles(target).error().message,
            "[" + target.string() + "] cannot be opened: No such file or directory");
}

TEST_F(Verification, ListsThatAreWrongAreNamed) {
  save({.withDigests = true});
  std::string text = root.get("p/manifest.json");
  size_t place = text.find("\"bytes\":11");
  root.put("p/manifest.json", text.replace(place, 10, "\"bytes\":\"\""));
  EXPECT_EQ(loadError(), "[" + at("manifest.json") + "] files[7].bytes: got a string, expected an integer");
}

} // namespace
} // namespace torchere::artifact

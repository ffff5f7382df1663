// Fuzz target of the readers of .meta, .signature.json and manifest.json (the first byte chooses): what a
// reader accepts must be written and read back as the same.
#include "fuzz_target.h"

#include "artifact/manifest.h"
#include "artifact/meta.h"
#include "artifact/signature.h"

#include <cstdlib>

using namespace torchere;

static void require(bool holds) {
  if (!holds)
    std::abort();
}

static void readAsSignature(std::string_view text) {
  auto entryPoint = artifact::readSignature(text, "fuzz");
  if (!entryPoint)
    return;
  auto written = artifact::signatureText(*entryPoint);
  require(written.has_value());
  auto again = artifact::readSignature(*written, "fuzz");
  require(again.has_value() && *artifact::signatureText(*again) == *written);
}

static void readAsMeta(std::string_view text) {
  auto entryPoint = artifact::readMeta(text, "fuzz");
  if (entryPoint)
    require(artifact::readMeta(artifact::metaText(*entryPoint), "fuzz").has_value());
}

static void readAsManifest(std::string_view text) {
  auto manifest = artifact::readManifest(text, "fuzz");
  if (!manifest)
    return;
  std::string written = artifact::manifestText(*manifest);
  auto again = artifact::readManifest(written, "fuzz");
  require(again.has_value() && artifact::manifestText(*again) == written);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  std::string_view text(reinterpret_cast<const char *>(data) + 1, size - 1);
  switch (data[0] % 3) {
  case 0:
    readAsSignature(text);
    break;
  case 1:
    readAsMeta(text);
    break;
  default:
    readAsManifest(text);
  }
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  using namespace program;
  EntryPoint entry;
  SymInt size = *entry.expressions.parse("2*s0 + 1");
  entry.inputs = {{InputSource::Parameter, "w", -1, {DType::F32, {2, 3}}, false},
                  {InputSource::UserInput, "x", 0, {DType::BF16, {size, 3}}, false}};
  entry.outputs = {{OutputDestination::UserOutput, "y", "", 0, {DType::F32, {size}}, false}};
  entry.constantInputs = {{"k", 1, Constant{std::complex<double>(1, 2)}}};
  entry.userInputCount = 2;
  entry.userOutputCount = 1;
  entry.rangeConstraints = {{size, {2, 100}}};
  const char *leaf = R"({"kind":"leaf"})";
  entry.inputTree = {R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": []}])",
                     fmt::format(R"({{"kind":"tuple","children":[{{"kind":"tuple","children":[{}]}},)"
                                 R"({{"kind":"dict","keys":["k"],"children":[{}]}}]}})",
                                 leaf, leaf)};
  entry.outputTree.json =
      fmt::format(R"({{"kind":"namedtuple","type":"m.Out","keys":["y"],"children":[{}]}})", leaf);
  artifact::Manifest manifest{{"forward"},
                              true,
                              {{"a", DType::F32, {2}, ""}, {"b", DType::F32, {2}, "a"}},
                              {},
                              {{"data/a", 136, std::string(64, 'd')}, {"data/b", 136, std::string(64, 'd')}}};
  return {"0" + *artifact::signatureText(entry), "1" + artifact::metaText(entry),
          "2" + artifact::manifestText(manifest)};
}

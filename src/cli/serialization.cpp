// torchere-translate --serialize, --deserialize: writes and reads portable artifacts.
#include "cli/translation.h"

#include "passes/compatibility/serialize_expanded.h"

#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace torchere::cli {

namespace {

struct Flags {
  llvm::cl::opt<std::string> target{
      "target", llvm::cl::desc("StableHLO version that --serialize targets: X.Y.Z, current or minimum"),
      llvm::cl::init(vhlo::defaultVersion.text())};
  llvm::cl::opt<bool> stripDebugInfo{"strip-debuginfo",
                                     llvm::cl::desc("Drop source lines from the output of --serialize")};
};

Result<vhlo::Version> targetOf(const Flags &flags) {
  if (flags.target == "current")
    return vhlo::currentVersion;
  if (flags.target == "minimum")
    return vhlo::minimumVersion;
  return vhlo::Version::parse(std::string(flags.target), "target");
}

struct Input {
  std::string_view bytes, name;
};

/// The input may be text, or an artifact, which is then rewritten for another version.
Result<std::string> serialize(const Input &input, const Flags &flags) {
  TORCHERE_ASSIGN(vhlo::Version target, targetOf(flags));
  TORCHERE_ASSIGN(stablehlo::Module module, vhlo::isArtifact(input.bytes)
                                                ? vhlo::deserialize(input.bytes, input.name)
                                                : stablehlo::Module::parse(input.bytes, input.name));
  return passes::serializeExpanded(module, {.target = target, .withLocations = !flags.stripDebugInfo});
}

Result<std::string> deserialize(const Input &input, const Flags &) {
  TORCHERE_ASSIGN(stablehlo::Module module, vhlo::deserialize(input.bytes, input.name));
  return module.text() + "\n";
}

using Translate = Result<std::string> (*)(const Input &, const Flags &);

/// A translation that writes the result of `translate`, or reports its error.
auto writing(Translate translate, const Flags &flags) {
  return [translate, &flags](const std::shared_ptr<llvm::SourceMgr> &sources, llvm::raw_ostream &output,
                             mlir::MLIRContext *) {
    const llvm::MemoryBuffer &buffer = *sources->getMemoryBuffer(sources->getMainFileID());
    Result<std::string> result = translate({buffer.getBuffer(), buffer.getBufferIdentifier()}, flags);
    if (result)
      output << *result;
    else
      llvm::errs() << "error: " << result.error().text() << "\n";
    return llvm::success(result.has_value());
  };
}

} // namespace

void registerSerialization() {
  static const Flags flags;
  static const mlir::TranslateRegistration serialization(
      "serialize", "Writes StableHLO as a portable artifact", writing(serialize, flags));
  static const mlir::TranslateRegistration deserialization("deserialize", "Reads a portable artifact",
                                                           writing(deserialize, flags));
}

} // namespace torchere::cli

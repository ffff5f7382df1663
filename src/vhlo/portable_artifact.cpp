// Writes and reads whole artifacts.
#include "vhlo/portable_artifact.h"

#include "vhlo/container.h"
#include "vhlo/module_reader.h"
#include "vhlo/module_writer.h"
#include "vhlo/use_lists.h"

#include "stablehlo/diagnostics.h"
#include "stablehlo/module_implementation.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

namespace torchere::vhlo {

static constexpr std::string_view producerPrefix = "StableHLO_v";

Result<std::string> serialize(const stablehlo::Module &module, const WriteOptions &options) {
  TORCHERE_ASSIGN(auto portable,
                  toPortable(module.implementation().module.get(), options.target, options.withLocations));
  std::string producer = std::string(producerPrefix) + options.target.text();
  mlir::BytecodeWriterConfig config(producer);
  config.setDesiredBytecodeVersion(bytecodeVersion(options.target));
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (mlir::failed(mlir::writeBytecodeToFile(*portable.module, stream, config)))
    return fail(ErrorCode::Internal, "[artifact] MLIR cannot write bytecode version {}",
                bytecodeVersion(options.target));
  if (portable.hasUseOrders)
    TORCHERE_TRY(sortUseLists(bytes));
  return bytes;
}

Result<stablehlo::Module> deserialize(std::string_view bytes, std::string_view name) {
  TORCHERE_ASSIGN(Container container, readContainer(bytes, name));
  auto implementation = std::make_unique<stablehlo::Module::Implementation>();
  implementation->context = stablehlo::makeContext();
  stablehlo::DiagnosticText diagnostics(*implementation->context);
  TORCHERE_ASSIGN(implementation->module, readModule(implementation->context.get(), container, name));
  if (mlir::failed(mlir::verify(*implementation->module)))
    return invalidArgument("[{}] not valid StableHLO: {}", name, diagnostics.take());
  return stablehlo::Module(std::move(implementation));
}

bool isArtifact(std::string_view bytes) {
  return bytes.substr(0, 4) == "ML\xefR";
}

Result<Version> artifactVersion(std::string_view bytes, std::string_view name) {
  TORCHERE_ASSIGN(Container header, readHeader(bytes, name));
  if (header.producer.substr(0, producerPrefix.size()) != producerPrefix)
    return invalidArgument(
        "[{}] not a portable artifact: got bytecode of producer \"{}\", expected \"{}X.Y.Z\"", name,
        header.producer, producerPrefix);
  return Version::parse(header.producer.substr(producerPrefix.size()), name);
}

} // namespace torchere::vhlo

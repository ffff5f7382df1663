// torchere._core: the extension module, made of one part for each folder bound.
#include "base/log.h"
#include "bindings/bindings.h"

NB_MODULE(_core, module) {
  using namespace torchere::bindings;
  torchere::readLogLevel(); // an invalid level is reported whether or not anything is logged
  // Objects that torch or a user's module keeps until the interpreter ends are not leaks of ours.
  nb::set_leak_warnings(false);
  module.doc() = "The C++ core of Torchère.";
  bindErrors(module);
  bindPasses(module);
  bindInterpreter(module);
  bindSchema(module);
  bindProgram(module);
  bindFunctionalization(module);
  bindExporter(module);
  bindArtifact(module);
  bindSavedModel(module);
  bindRuntime(module);
  bindSession(module);
}

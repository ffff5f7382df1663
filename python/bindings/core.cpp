// torchere._core: the extension module, made of one part for each folder bound.
#include "bindings/bindings.h"

NB_MODULE(_core, module) {
  using namespace torchere::bindings;
  // Objects that torch or a user's module keeps until the interpreter has ended are no leaks of ours.
  nb::set_leak_warnings(false);
  module.doc() = "The C++ core of Torchère.";
  bindErrors(module);
  bindPasses(module);
  bindInterpreter(module);
  bindProgram(module);
  bindExporter(module);
  bindArtifact(module);
  bindRuntime(module);
  bindSession(module);
}

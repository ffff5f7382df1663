// y = x + x for x of [batch, 2], batch from 1 to 1000: a program with one executable for each batch.
#pragma once

#include "session/session.h"

#include <memory>

namespace torchere::session {

inline std::shared_ptr<artifact::Bundle> makeDouble() {
  artifact::Function function;
  program::EntryPoint &entryPoint = function.entryPoint;
  entryPoint.name = "forward";
  entryPoint.userInputCount = entryPoint.userOutputCount = 1;
  program::TensorSignature type{DType::F32, {*entryPoint.expressions.parse("batch"), program::SymInt(2)}};
  entryPoint.inputs.push_back({program::InputSource::UserInput, "x", 0, type, false});
  entryPoint.outputs.push_back({program::OutputDestination::UserOutput, "", "", 0, type, false});
  entryPoint.rangeConstraints.push_back({*entryPoint.expressions.parse("batch"), {1, 1000}});
  function.text = R"(
module {
  func.func public @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
    %0 = stablehlo.add %x, %x : tensor<?x2xf32>
    return %0 : tensor<?x2xf32>
  }
})";
  auto bundle = std::make_shared<artifact::Bundle>();
  bundle->functions.push_back(std::move(function));
  return bundle;
}

} // namespace torchere::session

// Writes the programs.
#include "saved_programs.h"

#include "../session/function_builder.h"

#include <cstdio>
#include <cstdlib>
#include <stdlib.h>

namespace torchere::capi {

using program::InputSource;
using program::OutputDestination;
using session::FunctionBuilder;

static artifact::Bundle makeCounter() {
  artifact::Bundle bundle;
  bundle.functions.push_back(FunctionBuilder("add")
                                 .input(InputSource::Buffer, "count", {"2"})
                                 .input(InputSource::UserInput, "x", {"2"})
                                 .output(OutputDestination::Buffer, "count", {"2"})
                                 .output(OutputDestination::UserOutput, "", {"2"})
                                 .build(R"(
module {
  func.func public @main(%count: tensor<2xf32>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %0 = stablehlo.add %count, %x : tensor<2xf32>
    return %0, %0 : tensor<2xf32>, tensor<2xf32>
  }
})"));
  bundle.functions.push_back(FunctionBuilder("peek")
                                 .input(InputSource::Buffer, "count", {"2"})
                                 .output(OutputDestination::UserOutput, "", {"2"})
                                 .build(R"(
module {
  func.func public @main(%count: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.negate %count : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
})"));
  bundle.stateDict["count"] = session::makeWeight("count", {2}, {1}, session::makeStorage({10, 20}));
  return bundle;
}

static artifact::Bundle makeDynamic() {
  artifact::Bundle bundle;
  artifact::Function function = FunctionBuilder("forward")
                                    .input(InputSource::Parameter, "w", {"2"})
                                    .input(InputSource::UserInput, "x", {"batch", "2"})
                                    .output(OutputDestination::UserOutput, "mul", {"batch", "2"})
                                    .output(OutputDestination::UserOutput, "cat", {"2*batch", "2"})
                                    .range("batch", 1, 8)
                                    .build(R"(
module {
  func.func public @main(%w: tensor<2xf32>, %x: tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>) {
    %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
    %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.constant dense<2> : tensor<1xi32>
    %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %4 = stablehlo.dynamic_broadcast_in_dim %w, %3, dims = [1] : (tensor<2xf32>, tensor<2xi32>) -> tensor<?x2xf32>
    %5 = stablehlo.multiply %x, %4 : tensor<?x2xf32>
    %6 = stablehlo.concatenate %5, %x, dim = 0 : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
    return %5, %6 : tensor<?x2xf32>, tensor<?x2xf32>
  }
})");
  program::EntryPoint &entryPoint = function.entryPoint;
  program::EntryInput n;
  n.name = "n";
  n.position = 1;
  n.type.dtype = DType::I64;
  n.isSymInt = true;
  n.value = *entryPoint.expressions.parse("n");
  entryPoint.unusedInputs.push_back(std::move(n));
  entryPoint.constantInputs.push_back({"mode", 2, program::Constant{std::string("mean")}});
  entryPoint.constantOutputs.push_back({2, program::Constant{std::string("mean")}});
  entryPoint.userInputCount = entryPoint.userOutputCount = 3;
  const char *leaf = R"({"kind": "leaf"})";
  auto tree = [&](const char *keys) {
    return fmt::format(R"({{"kind": "dict", "keys": {}, "children": [{}, {}, {}]}})", keys, leaf, leaf, leaf);
  };
  entryPoint.outputTree.json = tree(R"(["y", "doubled", "mode"])");
  bundle.functions.push_back(std::move(function));
  bundle.stateDict["w"] = session::makeWeight("w", {2}, {1}, session::makeStorage({3, 5}));
  return bundle;
}

static artifact::Bundle makeIdentity() {
  artifact::Bundle bundle;
  bundle.functions.push_back(FunctionBuilder("forward")
                                 .input(InputSource::UserInput, "x", {"2"})
                                 .output(OutputDestination::UserOutput, "", {"2"})
                                 .build(R"(
module {
  func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
})"));
  return bundle;
}

static artifact::Bundle makeChecked() {
  artifact::Bundle bundle;
  bundle.functions.push_back(FunctionBuilder("forward")
                                 .input(InputSource::UserInput, "x", {"2"})
                                 .output(OutputDestination::UserOutput, "", {"2"})
                                 .output(OutputDestination::Check, "", {"3"})
                                 .build(R"(
module {
  func.func public @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<3xi32>) {
    %0 = stablehlo.slice %x [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    %1 = stablehlo.convert %0 : (tensor<1xf32>) -> tensor<1xi32>
    %2 = stablehlo.constant dense<0> : tensor<2xi32>
    %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<1xi32>, tensor<2xi32>) -> tensor<3xi32>
    return %x, %3 : tensor<2xf32>, tensor<3xi32>
  }
})"));
  program::EntryPoint &entryPoint = bundle.functions.back().entryPoint;
  entryPoint.outputs.back().type.dtype = DType::I32;
  entryPoint.checks = {{"aten.linalg_inv.default", "singular", "model.py:3", true}};
  return bundle;
}

static artifact::Bundle makeMutating() {
  artifact::Bundle bundle;
  bundle.functions.push_back(FunctionBuilder("forward")
                                 .input(InputSource::UserInput, "x", {"2"})
                                 .output(OutputDestination::UserInput, "x", {"2"})
                                 .output(OutputDestination::UserOutput, "", {"2"})
                                 .build(R"(
module {
  func.func public @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %0 = stablehlo.add %x, %x : tensor<2xf32>
    %1 = stablehlo.constant dense<1.0> : tensor<2xf32>
    %2 = stablehlo.add %x, %1 : tensor<2xf32>
    return %0, %2 : tensor<2xf32>, tensor<2xf32>
  }
})"));
  return bundle;
}

static void write(artifact::Bundle bundle, const std::string &path) {
  if (auto saved = artifact::save(bundle, path); !saved) {
    std::fprintf(stderr, "%s\n", saved.error().text().c_str());
    std::abort();
  }
}

std::string relayPlugin() {
  return RELAY_PLUGIN;
}

static std::filesystem::path makeFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "torchere_capi_XXXXXX").string();
  if (!::mkdtemp(name.data()))
    std::abort();
  return name;
}

SavedPrograms::SavedPrograms() : folder(makeFolder()) {
  write(makeCounter(), path("counter"));
  write(makeDynamic(), path("dynamic"));
  write(makeIdentity(), path("identity"));
  write(makeChecked(), path("checked"));
  write(makeMutating(), path("mutating"));
}

SavedPrograms::~SavedPrograms() {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

} // namespace torchere::capi

// The module of a function: in memory, as text, as bytecode, and one made of another.
#include "artifact/function_module.h"

#include "vhlo/portable_artifact.h"

#include <array>
#include <gtest/gtest.h>
#include <thread>

namespace torchere::artifact {
namespace {

const std::string text = R"(module {
  func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.tan %arg0 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
)";
constexpr vhlo::Version version = {1, 13, 0};

Function inMemory(const std::string &source) {
  Function function;
  function.module = std::make_shared<const stablehlo::SharedModule>(*stablehlo::Module::parse(source));
  return function;
}

Function asText(const std::string &source) {
  Function function;
  function.text = source;
  return function;
}

TEST(FunctionModule, InMemoryIsNotReadAgain) {
  Function function = inMemory(text);
  EXPECT_EQ(*readModule(function), function.module);
  EXPECT_NE(*readModule(asText(text)), *readModule(asText(text)));
  function.bytecode = "nonsense";
  EXPECT_EQ(*readModule(function), function.module);
}

TEST(FunctionModule, TextAndBytecodeAreThoseOfTheReadModule) {
  Function function = inMemory(text), read = asText(text);
  EXPECT_EQ(*moduleText(function), text);
  for (vhlo::Version target : {version, vhlo::Version{1, 3, 0}}) // the older one has no tan
    EXPECT_EQ(*moduleBytecode(function, target), *moduleBytecode(read, target));
  EXPECT_EQ(*moduleText(function), text); // which expansions leave alone
  EXPECT_TRUE(function.text.empty() && function.bytecode.empty());
}

TEST(FunctionModule, LocationsAreWrittenWhereAsked) {
  std::string located = text;
  located.replace(located.find("\n    return"), 1, " loc(\"model.py\":3:1)\n");
  for (bool printsLocations : {false, true}) {
    Function function = inMemory(located);
    function.printsLocations = printsLocations;
    EXPECT_EQ(moduleText(function)->find("model.py") != std::string::npos, printsLocations);
    auto bytecode = moduleBytecode(function, version);
    ASSERT_TRUE(bytecode) << bytecode.error().text();
    std::string read = vhlo::deserialize(*bytecode)->text(true);
    EXPECT_EQ(read.find("model.py") != std::string::npos, printsLocations) << read;
  }
}

TEST(FunctionModule, ThreadsTakeTurns) {
  const Function function = inMemory(text);
  const std::string bytecode = *moduleBytecode(asText(text), version);
  std::array<int, 4> right{};
  std::vector<std::thread> threads;
  for (int &count : right)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round)
        count += *moduleBytecode(function, version) == bytecode && *moduleText(function) == text;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, (std::array<int, 4>{50, 50, 50, 50}));
}

} // namespace
} // namespace torchere::artifact

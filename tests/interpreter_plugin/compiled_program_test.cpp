// CompiledProgram: when a stored executable is loaded, and when it is compiled again.
#include "pjrt_server/compiled_program.h"

#include <gtest/gtest.h>

namespace torchere::pjrt_server {
namespace {

int compiled = 0, loaded = 0;

class EmptyProgram final : public Program {
public:
  const interpreter::EntryPoint &entry() const final { return point; }
  Result<ResultLists> run(const ArgumentLists &) const final { return ResultLists(); }
  std::string stored() const final { return "a plan"; }

private:
  interpreter::EntryPoint point{"main", {}, {}};
};

Engine engineWith(decltype(Engine::load) load) {
  compiled = loaded = 0;
  Engine engine;
  engine.platform = "test";
  engine.stored = "test 1\n";
  engine.compile = [](std::string_view, const pjrt::CompileOptions &,
                      const ClientOptions &) -> Result<std::unique_ptr<const Program>> {
    ++compiled;
    return std::make_unique<const EmptyProgram>();
  };
  engine.load = load;
  return engine;
}

Result<std::unique_ptr<const Program>> loadPlan(std::string_view stored, std::string_view code,
                                                const pjrt::CompileOptions &, const ClientOptions &) {
  ++loaded;
  EXPECT_EQ(stored, "a plan");
  EXPECT_EQ(code, "code");
  return std::make_unique<const EmptyProgram>();
}

TEST(CompiledProgram, IsLoadedWithoutBeingCompiled) {
  Engine engine = engineWith(loadPlan);
  auto program = CompiledProgram::compile(engine, {}, "code", "");
  ASSERT_TRUE(program) << program.error().text();
  auto again = CompiledProgram::deserialize(engine, {}, (*program)->serialize());
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(compiled, 1);
  EXPECT_EQ(loaded, 1);
  EXPECT_EQ((*again)->code(), "code");
  EXPECT_EQ((*again)->fingerprint(), (*program)->fingerprint());
  EXPECT_EQ((*again)->serialize(), (*program)->serialize());
}

TEST(CompiledProgram, IsCompiledWhereTheEngineDoesNotLoad) {
  Engine engine = engineWith(nullptr);
  std::string bytes = (*CompiledProgram::compile(engine, {}, "code", ""))->serialize();
  EXPECT_TRUE(CompiledProgram::deserialize(engine, {}, bytes));
  EXPECT_EQ(compiled, 2);
  engine =
      engineWith([](std::string_view, std::string_view, const pjrt::CompileOptions &,
                    const ClientOptions &) -> Result<std::unique_ptr<const Program>> { return nullptr; });
  EXPECT_TRUE(CompiledProgram::deserialize(engine, {}, bytes)); // another build's
  EXPECT_EQ(compiled, 1);
}

TEST(CompiledProgram, IsRefusedWhereTheEngineRefuses) {
  Engine engine = engineWith([](std::string_view, std::string_view, const pjrt::CompileOptions &,
                                const ClientOptions &) -> Result<std::unique_ptr<const Program>> {
    return invalidArgument("[plan] damaged");
  });
  std::string bytes = (*CompiledProgram::compile(engine, {}, "code", ""))->serialize();
  EXPECT_EQ(CompiledProgram::deserialize(engine, {}, bytes).error().message, "[plan] damaged");
  EXPECT_EQ(compiled, 1);
}

TEST(CompiledProgram, OtherOptionsStandInPlaceOfTheStoredOnes) {
  Engine engine = engineWith([](std::string_view, std::string_view, const pjrt::CompileOptions &options,
                                const ClientOptions &) -> Result<std::unique_ptr<const Program>> {
    EXPECT_EQ(options.replicaCount, 2);
    return nullptr;
  });
  std::string bytes = (*CompiledProgram::compile(engine, {}, "code", ""))->serialize();
  std::string two("\x1a\x02\x20\x02", 4); // build options with two replicas
  auto program = CompiledProgram::deserialize(engine, {}, bytes, two);
  ASSERT_TRUE(program) << program.error().text();
  EXPECT_EQ((*program)->processCount(), 2u);
}

} // namespace
} // namespace torchere::pjrt_server

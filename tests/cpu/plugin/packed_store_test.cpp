// Packed weights on disk: the file's form, what is refused, and programs that find what others have packed.
#include "cpu/plugin/packed_store.h"

#include "../../base/temporary_directory.h"
#include "base/log.h"
#include "cpu/plugin/open_program.h"

#include <gtest/gtest.h>

#include <cstring>
#include <sys/stat.h>
#include <thread>

namespace torchere::cpu {
namespace {

namespace fs = std::filesystem;
using interpreter::Tensor;

Digest::Value digestOf(std::string_view text) {
  return Digest().addField(text).finish();
}

std::string refusal(std::string_view file, uint64_t size) {
  auto parsed = parsePackedHeader(std::as_bytes(std::span(file)), digestOf("key"), size, "file");
  return parsed ? "" : parsed.error().message;
}

TEST(PackedFile, GivesBackItsHeader) {
  SectionLayout layout(std::vector<int64_t>{1, 64, 0, 65});
  EXPECT_EQ(layout.offsets, (std::vector<uint64_t>{4096, 4160, 4224, 4224}));
  EXPECT_EQ(layout.fileSize, 4352u);
  PackedHeader header{digestOf("key"), digestOf("seed"), digestOf("weights"), digestOf("sections")};
  std::string file = makePackedHeader(header, layout.fileSize) + std::string(256, 'x');
  auto parsed = parsePackedHeader(std::as_bytes(std::span(file)), header.key, layout.fileSize, "file");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->seed, header.seed);
  EXPECT_EQ(parsed->weights, header.weights);
  EXPECT_EQ(parsed->sections, header.sections);
}

TEST(PackedFile, TellsWhatIsWrong) {
  std::string file = makePackedHeader({digestOf("key"), {}, {}, {}}, 4160) + std::string(64, 'x');
  EXPECT_EQ(refusal(file, 4160), "");
  EXPECT_EQ(refusal(file.substr(0, 4095), 4160),
            "[file] shorter than its header: got 4095 bytes, expected at least 4096");
  EXPECT_EQ(refusal("", 4160), "[file] shorter than its header: got 0 bytes, expected at least 4096");
  EXPECT_EQ(refusal(file.substr(0, 4159), 4160),
            "[file] cut short or extended: got 4159 bytes, expected 4160");
  EXPECT_EQ(refusal(file + "x", 4160), "[file] cut short or extended: got 4161 bytes, expected 4160");
  EXPECT_EQ(refusal(file, 4224), "[file] for other sizes: got 4160 bytes, expected 4224");
  auto changed = [&](size_t at) {
    std::string other = file;
    other[at] = static_cast<char>(other[at] ^ 1);
    return refusal(other, 4160);
  };
  EXPECT_EQ(changed(0), "[file] holds no packed weights: its first bytes are others");
  EXPECT_EQ(changed(8), "[file] another layout: got version 0, expected 1");
  EXPECT_EQ(changed(17), "[file] for other sizes: got 4416 bytes, expected 4160");
  EXPECT_TRUE(changed(24).starts_with("[file] stored under another key: got ")) << changed(24);
  for (size_t at : {12, 56, 88, 120, 152, 183, 184, 4095})
    EXPECT_EQ(changed(at), "[file] damaged: the digest of its header does not fit") << at;
}

/// What is logged while it works, at the level of information.
template <class Work> std::string logOf(Work work) {
  setLogLevel(LogLevel::Debug);
  testing::internal::CaptureStderr();
  work();
  setLogLevel(LogLevel::Warning);
  return testing::internal::GetCapturedStderr();
}

bool has(const std::string &text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

class PackedStoreTest : public testing::Test {
protected:
  PackedSubject subject() const {
    PackedSubject made{"main", digestOf("key"), {}, {5, 100}};
    made.weights.push_back(std::as_bytes(std::span(weights)));
    return made;
  }
  void put(PackedStore &store) const {
    std::vector<std::span<const std::byte>> sections{std::as_bytes(std::span(first)),
                                                     std::as_bytes(std::span(second))};
    store.store(subject(), sections, context);
  }
  /// Of what is found, both sections; "-" for nothing.
  std::string get(PackedStore &store) const {
    auto mapped = store.load(subject(), context);
    if (!mapped)
      return "-";
    EXPECT_EQ(mapped->sections.size(), 2u);
    auto textOf = [&](size_t section, size_t size) {
      return std::string(reinterpret_cast<const char *>(mapped->sections[section]), size);
    };
    return textOf(0, 5) + textOf(1, 100);
  }
  std::string fileName() const { return "packed/" + hexText(digestOf("key")) + ".packed"; }

  mutable ThreadPool pool{2};
  Context context{pool, Isa::Baseline};
  std::string weights = std::string(9000, 'w'), first = "first", second = std::string(100, '2');
  TemporaryDirectory directory;
  fs::path folder = directory / "packed";
};

TEST_F(PackedStoreTest, GivesWhatWasStored) {
  PackedStore store(folder), other(folder);
  EXPECT_EQ(get(store), "-");
  EXPECT_FALSE(fs::exists(folder)); // looking makes nothing
  put(store);
  EXPECT_EQ(get(other), first + second);
  struct stat status = {};
  ASSERT_EQ(::stat((directory / fileName()).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  EXPECT_EQ(status.st_size, 4096 + 64 + 128);
  second[99] = 'x';
  put(store);
  EXPECT_EQ(get(other), first + second);
}

TEST_F(PackedStoreTest, MapsWhatNobodyCanWrite) {
  PackedStore store(folder);
  put(store);
  auto mapped = store.load(subject(), context);
  ASSERT_TRUE(mapped);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(mapped->sections[1]) % memoryAlignment, 0u);
  auto *place = const_cast<volatile std::byte *>(mapped->sections[0]);
  EXPECT_DEATH(*place = std::byte{0}, ""); // by a signal, which sanitizers take
}

TEST_F(PackedStoreTest, OtherWeightsAreNotMet) {
  PackedStore store(folder);
  put(store);
  for (size_t at : {0, 4500, 8999}) {
    weights[at] = 'x';
    EXPECT_TRUE(has(logOf([&] { EXPECT_EQ(get(store), "-"); }), "was packed from other weights"));
    weights[at] = 'w';
    EXPECT_EQ(get(store), first + second);
  }
}

TEST_F(PackedStoreTest, DamagedFilesAreRemoved) {
  PackedStore store(folder);
  put(store);
  std::string whole = directory.get(fileName());
  auto refuse = [&](const std::string &file, std::string_view message) {
    directory.put(fileName(), file);
    std::string log = logOf([&] { EXPECT_EQ(get(store), "-"); });
    EXPECT_TRUE(has(log, "torchere warning [cache] removed: [") && has(log, message)) << log;
    EXPECT_FALSE(fs::exists(directory / fileName()));
  };
  refuse("", "shorter than its header");
  refuse(whole.substr(0, 4095), "shorter than its header");
  refuse(whole.substr(0, whole.size() - 1), "cut short or extended");
  refuse(whole + "x", "cut short or extended");
  for (size_t at : {4096u, 4100u, 4160u, 4259u}) {
    std::string other = whole;
    other[at] = static_cast<char>(other[at] ^ 4);
    refuse(other, "damaged: the digest of its contents does not fit");
  }
  std::string zeros = whole; // as a crash of the system may leave it
  std::fill(zeros.begin() + 4096, zeros.end(), '\0');
  refuse(zeros, "damaged: the digest of its contents does not fit");
  put(store);
  EXPECT_EQ(get(store), first + second);
}

TEST_F(PackedStoreTest, KeepsItsBound) {
  PackedStore small(folder, 4096 + 64 + 127);
  EXPECT_TRUE(has(logOf([&] { put(small); }), "an entry larger than the bound"));
  EXPECT_EQ(get(small), "-");
  PackedStore store(folder, 4096 + 64 + 128);
  put(store);
  EXPECT_EQ(get(store), first + second);
}

TEST_F(PackedStoreTest, UnsafeFoldersAreNotUsed) {
  PackedStore store(folder);
  put(store);
  ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
  std::string log = logOf([&] { EXPECT_EQ(get(store), "-"); });
  EXPECT_TRUE(has(log, "got mode 0777, expected 0700; the cache of packed weights is not used")) << log;
}

/// A product with a weight, and one with what is computed from weights.
constexpr const char *twoProducts = R"(
func.func @main(%x: tensor<3x24xf32>, %w: tensor<24x24xf32> {torchere.weight = true},
                %s: tensor<24xf32> {torchere.weight = true}) -> tensor<3x24xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<3x24xf32>, tensor<24x24xf32>) -> tensor<3x24xf32>
  %1 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<24xf32>) -> tensor<24x24xf32>
  %2 = stablehlo.multiply %w, %1 : tensor<24x24xf32>
  %3 = stablehlo.dot_general %0, %2, contracting_dims = [1] x [0] : (tensor<3x24xf32>, tensor<24x24xf32>) -> tensor<3x24xf32>
  %4 = stablehlo.multiply %s, %s : tensor<24xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [1] : (tensor<24xf32>) -> tensor<3x24xf32>
  %6 = stablehlo.add %3, %5 : tensor<3x24xf32>
  return %6 : tensor<3x24xf32>
})";
/// The product alone: nothing is computed from weights.
constexpr const char *oneProduct = R"(
func.func @main(%x: tensor<3x24xf32>, %w: tensor<24x24xf32> {torchere.weight = true}) -> tensor<3x24xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<3x24xf32>, tensor<24x24xf32>) -> tensor<3x24xf32>
  return %0 : tensor<3x24xf32>
})";

struct Filled {
  Filled(std::vector<int64_t> shape, float first)
      : tensor(*Tensor::create(ElementType::F32, std::move(shape))) {
    auto *elements = reinterpret_cast<float *>(tensor.writableBytes().data());
    for (size_t i = 0; i < tensor.bytes().size() / sizeof(float); ++i)
      elements[i] = first + 0.25f * static_cast<float>(i % 7);
  }
  Tensor tensor;
  Lifetime lifetime;
};

/// As another process: everything is compiled and loaded anew.
class Process {
public:
  Process(std::string_view code, const fs::path &folder) {
    auto compiled = compileModule([&](ModuleUse) { return readModule(code); }, {});
    EXPECT_TRUE(compiled && compiled->plan);
    auto store = folder.empty() ? nullptr : std::make_shared<PackedStore>(folder);
    program = std::make_unique<CpuProgram>(*std::move(compiled), interpreter::ProcessCounts{},
                                           Context{pool, Isa::Baseline}, std::make_shared<PlanFamily>(store));
  }
  std::vector<float> run(float weight = 1) {
    Filled x({3, 24}, 0.5f), w({24, 24}, weight), s({24}, -1);
    return run({&x, &w, &s});
  }
  std::vector<float> run(const std::vector<const Filled *> &arrays) {
    pjrt_server::ArgumentLists arguments(1);
    for (const Filled *each : arrays)
      if (arguments[0].size() < program->entry().arguments.size())
        arguments[0].push_back({&each->tensor, false, &each->lifetime});
    auto results = program->run(arguments);
    EXPECT_TRUE(results) << results.error().text();
    auto bytes = (*results)[0][0].bytes();
    const auto *values = reinterpret_cast<const float *>(bytes.data());
    return {values, values + bytes.size() / sizeof(float)};
  }

private:
  ThreadPool pool{2};
  std::unique_ptr<CpuProgram> program;
};

class PackedPrograms : public testing::TestWithParam<const char *> {
protected:
  std::vector<float> expected(float weight = 1) const { return Process(GetParam(), {}).run(weight); }
  size_t fileCount() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  TemporaryDirectory directory;
  fs::path folder = directory / "packed";
};

TEST_P(PackedPrograms, AnotherProcessPacksNothing) {
  std::string first = logOf([&] { EXPECT_EQ(Process(GetParam(), folder).run(), expected()); });
  EXPECT_TRUE(has(first, "computed and packed weights in") && has(first, "bytes of packed weights in"));
  std::string second = logOf([&] {
    Process process(GetParam(), folder);
    EXPECT_EQ(process.run(), expected());
  });
  EXPECT_TRUE(has(second, "[main] mapped ")) << second;
  EXPECT_FALSE(has(second, "[main] stored ")) << second;
  EXPECT_EQ(fileCount(), 1u);
}

TEST_P(PackedPrograms, LaterCallsReadTheMapping) {
  Process(GetParam(), folder).run();
  Process process(GetParam(), folder);
  Filled x({3, 24}, 0.5f), w({24, 24}, 1), s({24}, -1);
  for (int call = 0; call < 3; ++call)
    EXPECT_EQ(process.run({&x, &w, &s}), expected());
  fs::remove_all(folder); // what is mapped stays
  EXPECT_EQ(process.run({&x, &w, &s}), expected());
}

TEST_P(PackedPrograms, ChangedWeightsAreOthers) {
  Process(GetParam(), folder).run();
  Process process(GetParam(), folder);
  for (float weight = 2; weight < 9; ++weight)
    EXPECT_EQ(process.run(weight), expected(weight));
  EXPECT_EQ(process.run(), expected());
  EXPECT_EQ(fileCount(), 5u); // no more than four of a program
}

/// In the middle of a weight, which the key does not read.
TEST_P(PackedPrograms, OneElementIsEnough) {
  Filled x({3, 24}, 0.5f), w({24, 24}, 1), s({24}, -1);
  Process(GetParam(), folder).run({&x, &w, &s});
  Filled other({24, 24}, 1);
  reinterpret_cast<float *>(other.tensor.writableBytes().data())[200] += 1;
  std::string log = logOf([&] {
    EXPECT_EQ(Process(GetParam(), folder).run({&x, &other, &s}),
              Process(GetParam(), {}).run({&x, &other, &s}));
  });
  EXPECT_TRUE(has(log, "was packed from other weights") && has(log, "[main] stored ")) << log;
  EXPECT_EQ(fileCount(), 1u); // replaced
}

TEST_P(PackedPrograms, DamagedFilesArePackedAgain) {
  Process(GetParam(), folder).run();
  fs::path file = fs::directory_iterator(folder)->path();
  std::string name = "packed/" + file.filename().string(), whole = directory.get(name);
  for (size_t at : {size_t{30}, size_t{5000}, whole.size() - 70}) {
    std::string other = whole;
    other[at] = static_cast<char>(other[at] ^ 64);
    directory.put(name, other);
    EXPECT_EQ(Process(GetParam(), folder).run(), expected());
    std::string log = logOf([&] { EXPECT_EQ(Process(GetParam(), folder).run(), expected()); });
    EXPECT_TRUE(has(log, "[main] mapped ")) << log;
  }
}

TEST_P(PackedPrograms, WorkWithoutTheFolder) {
  directory.put("file", "no folder");
  for (int call = 0; call < 2; ++call)
    EXPECT_EQ(Process(GetParam(), directory / "file/below").run(), expected());
}

TEST_P(PackedPrograms, MayStartAtOnce) {
  std::vector<std::thread> threads;
  std::vector<float> right = expected();
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int call = 0; call < 5; ++call)
        EXPECT_EQ(Process(GetParam(), folder).run(), right);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(fileCount(), 1u);
}

INSTANTIATE_TEST_SUITE_P(, PackedPrograms, testing::Values(twoProducts, oneProduct));

/// What is packed depends on no open size here: another process may begin with another one.
TEST(PackedStore, PlansOfSeveralSizesFindTheSame) {
  TemporaryDirectory directory;
  std::string code = oneProduct;
  for (size_t at; (at = code.find("3x24xf32")) != std::string::npos;)
    code.replace(at, 1, "?");
  Filled w({24, 24}, 1);
  ThreadPool pool(2);
  for (int64_t rows : {3, 5, 3}) {
    auto module = readModule(code);
    ASSERT_TRUE(module) << module.error().text();
    auto entry = interpreter::describeEntry(*module, interpreter::OpenSizes::Allowed);
    ASSERT_TRUE(entry) << entry.error().text();
    auto store = std::make_shared<PackedStore>(directory / "packed");
    OpenProgram program(OpenModule(*std::move(module), *std::move(entry), Target()), {pool, Isa::Baseline},
                        std::make_shared<PlanFamily>(store));
    Filled x({rows, 24}, 0.5f);
    std::string log = logOf([&] {
      ASSERT_TRUE(program.run({{{&x.tensor, false, &x.lifetime}, {&w.tensor, false, &w.lifetime}}}));
    });
    bool isFirst = !has(log, "[main] mapped ");
    EXPECT_EQ(isFirst, has(log, "[main] stored ")) << log;
    EXPECT_EQ(std::distance(fs::directory_iterator(directory / "packed"), fs::directory_iterator()), 1);
    Filled more({rows + 1, 24}, 0.5f); // of the same process
    log = logOf([&] {
      ASSERT_TRUE(program.run({{{&more.tensor, false, &more.lifetime}, {&w.tensor, false, &w.lifetime}}}));
    });
    EXPECT_FALSE(has(log, "stored") || has(log, "mapped") || has(log, "computed and packed")) << log;
  }
}

TEST(PackedStore, IsChosenByOptionsOrTheEnvironment) {
  pjrt_server::ClientOptions options;
  ::unsetenv("TORCHERE_CPU_PACKED_CACHE");
  EXPECT_EQ(PackedStore::choose(options), nullptr);
  ::setenv("TORCHERE_CPU_PACKED_CACHE", "/one", 1);
  auto one = PackedStore::choose(options);
  EXPECT_NE(one, nullptr);
  EXPECT_EQ(PackedStore::choose(options), one);
  options.packedCache = "/other";
  EXPECT_NE(PackedStore::choose(options), one);
  options.packedCache = "";
  ::setenv("TORCHERE_CPU_PACKED_CACHE_SIZE", "2G", 1);
  EXPECT_NE(PackedStore::choose(options), one);
  ::setenv("TORCHERE_CPU_PACKED_CACHE_SIZE", "much", 1);
  EXPECT_TRUE(has(logOf([&] { EXPECT_EQ(PackedStore::choose(options), one); }),
                  "is no bound: got \"much\", expected a size such as 500M or 2G"));
  ::unsetenv("TORCHERE_CPU_PACKED_CACHE_SIZE");
  ::setenv("TORCHERE_CPU_PACKED_CACHE", "folder", 1);
  EXPECT_TRUE(has(logOf([&] { EXPECT_EQ(PackedStore::choose(options), nullptr); }),
                  "is no absolute path: got \"folder\""));
  ::unsetenv("TORCHERE_CPU_PACKED_CACHE");
}

} // namespace
} // namespace torchere::cpu

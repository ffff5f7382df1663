// Kernels as the runtime's side of XLA's FFI sees them: what a handler is given, and what it may call back.
#include "ffi/call_site.h"

#include "ffi/api_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <thread>

namespace torchere::ffi {

namespace {

abi::Error *errorOf(const abi::CallFrame &frame, int code, const char *message) {
  abi::ErrorCreateArgs args;
  args.code = code;
  args.message = message;
  return frame.api->errorCreate(&args);
}

/// What every handler does when it is registered.
bool answersMetadata(abi::CallFrame *frame, int major = abi::majorVersion) {
  if (!frame->extensions)
    return false;
  auto *extension = reinterpret_cast<abi::MetadataExtension *>(frame->extensions);
  extension->metadata->version.major = major;
  extension->metadata->version.minor = abi::minorVersion;
  return true;
}

std::string textOf(const abi::ByteSpan &span) {
  return {span.data, span.size};
}

std::unique_ptr<const CallSite> siteOf(const abi::HandlerBundle &kernel,
                                       std::unique_ptr<Attributes> attributes = nullptr) {
  if (!attributes)
    attributes = std::make_unique<Attributes>();
  auto site = CallSite::create("test.kernel", kernel, std::move(attributes));
  EXPECT_TRUE(site) << site.error().text();
  return site ? *std::move(site) : nullptr;
}

std::string errorOf(const Status &status) {
  return status ? "" : status.error().message;
}

abi::Error *doubled(abi::CallFrame *frame) {
  if (answersMetadata(frame))
    return nullptr;
  const auto &from = *static_cast<abi::Buffer *>(frame->operands.values[0]);
  const auto &to = *static_cast<abi::Buffer *>(frame->results.values[0]);
  if (from.type != abi::DataType::F32 || from.rank != 2 || from.dimensions[1] != 3)
    return errorOf(*frame, static_cast<int>(ErrorCode::OutOfRange), "not a matrix of three columns");
  for (int64_t i = 0; i < from.dimensions[0] * from.dimensions[1]; ++i)
    static_cast<float *>(to.data)[i] = 2 * static_cast<float *>(from.data)[i];
  return nullptr;
}

Argument argument(ElementType type, const std::vector<int64_t> &shape, void *memory) {
  return {type, shape, static_cast<std::byte *>(memory)};
}

TEST(CallSite, PassesBuffersAndErrors) {
  auto site = siteOf({.execute = doubled});
  float from[6] = {1, 2, 3, 4, 5, 6}, to[6] = {};
  std::vector<int64_t> shape = {2, 3}, other = {3, 2};
  Argument given = argument(ElementType::F32, shape, from), made = argument(ElementType::F32, shape, to);
  ASSERT_TRUE(site->run({&given, 1}, {&made, 1}, {}));
  EXPECT_EQ(to[5], 12);
  given.shape = other;
  Status status = site->run({&given, 1}, {&made, 1}, {});
  EXPECT_EQ(errorOf(status), "[test.kernel] not a matrix of three columns");
  EXPECT_EQ(status.error().code, ErrorCode::OutOfRange);
}

std::string described(const abi::Attributes &attributes) {
  std::string text;
  for (int64_t i = 0; i < attributes.size; ++i) {
    text += textOf(*attributes.names[i]) + "=";
    switch (attributes.kinds[i]) {
    case abi::AttributeKind::Scalar: {
      auto &scalar = *static_cast<abi::Scalar *>(attributes.values[i]);
      int32_t value;
      std::memcpy(&value, scalar.value, sizeof value);
      text += fmt::format("scalar {} {};", static_cast<int>(scalar.type), value);
      break;
    }
    case abi::AttributeKind::Array: {
      auto &array = *static_cast<abi::Array *>(attributes.values[i]);
      text += fmt::format("array {} {};", static_cast<int>(array.type), array.size);
      break;
    }
    case abi::AttributeKind::String:
      text += "string " + textOf(*static_cast<abi::ByteSpan *>(attributes.values[i])) + ";";
      break;
    case abi::AttributeKind::Dictionary:
      text += "{" + described(*static_cast<abi::Attributes *>(attributes.values[i])) + "};";
      break;
    }
  }
  return text;
}

abi::Error *describing(abi::CallFrame *frame) {
  return errorOf(*frame, 13, described(frame->attributes).c_str());
}

TEST(CallSite, PassesAttributesByName) {
  auto attributes = std::make_unique<Attributes>();
  int32_t number = 7;
  attributes->addString("z", "text");
  Attributes &inner = attributes->addDictionary("m");
  inner.addScalar("y", ElementType::I32, std::as_bytes(std::span(&number, 1)));
  inner.addString("x", "");
  attributes->addArray("a", ElementType::I16, std::vector<std::byte>(6));
  auto site = siteOf({.execute = describing}, std::move(attributes));
  EXPECT_EQ(errorOf(site->run({}, {}, {})),
            "[test.kernel] a=array 3 3;m={x=string ;y=scalar 4 7;};z=string text;");
}

int deleted = 0;
abi::TypeId stateType{};

/// Sets a state with the number of the stage.
abi::Error *setting(abi::CallFrame *frame) {
  abi::StateArgs args;
  args.context = frame->context;
  args.stage = frame->stage;
  args.typeId = &stateType;
  args.state = new int(static_cast<int>(frame->stage));
  return frame->api->stateSet(&args);
}

abi::Error *summing(abi::CallFrame *frame) {
  int sum = 0;
  for (abi::Stage stage : {abi::Stage::Instantiate, abi::Stage::Prepare, abi::Stage::Initialize}) {
    abi::StateArgs args;
    args.context = frame->context;
    args.stage = stage;
    args.typeId = &stateType;
    if (abi::Error *error = frame->api->stateGet(&args))
      return error;
    sum = 10 * sum + *static_cast<int *>(args.state);
  }
  return errorOf(*frame, 13, std::to_string(sum).c_str());
}

TEST(CallSite, KeepsStatesOfStages) {
  abi::TypeInfo info;
  info.deleter = [](void *object) {
    delete static_cast<int *>(object);
    ++deleted;
  };
  abi::TypeRegisterArgs args;
  args.name = {"test.state", 10};
  args.typeId = &stateType;
  args.info = &info;
  ASSERT_EQ(apiTable().typeRegister(&args), nullptr);
  EXPECT_NE(stateType.id, 0);
  auto site = siteOf({setting, setting, setting, summing});
  deleted = 0;
  for (int run = 1; run <= 2; ++run) {
    EXPECT_EQ(errorOf(site->run({}, {}, {})), "[test.kernel] 12"); // 0, 1, 2
    EXPECT_EQ(deleted, 2 * run);
  }
  site.reset();
  EXPECT_EQ(deleted, 5);
  site = siteOf({.execute = summing});
  EXPECT_EQ(errorOf(site->run({}, {}, {})), "[test.kernel] the stage's state is not set");
  auto failing = CallSite::create("test.failing", {.instantiate = describing, .execute = doubled},
                                  std::make_unique<Attributes>());
  EXPECT_EQ(failing ? "" : failing.error().message, "[test.failing] ");
}

/// Adds up 1 to 100 in tasks, and is done when they are.
abi::Error *inTasks(abi::CallFrame *frame) {
  struct Work {
    const abi::Api *api;
    abi::Future *future;
    int *sum;
    std::atomic<int> left = 100;
    std::atomic<int> total = 0;
  };
  struct Part {
    Work *work;
    int number;
  };
  abi::FutureCreateArgs created;
  if (abi::Error *error = frame->api->futureCreate(&created))
    return error;
  frame->future = created.future;
  auto *sum = static_cast<int *>(static_cast<abi::Buffer *>(frame->results.values[0])->data);
  auto *work = new Work{frame->api, created.future, sum};
  for (int number = 1; number <= 100; ++number) {
    abi::ThreadPoolScheduleArgs args;
    args.context = frame->context;
    args.data = new Part{work, number};
    args.task = [](void *data) {
      std::unique_ptr<Part> part(static_cast<Part *>(data));
      Work *work = part->work;
      work->total += part->number;
      if (--work->left != 0)
        return;
      *work->sum = work->total;
      abi::FutureSetAvailableArgs args;
      args.future = work->future;
      work->api->futureSetAvailable(&args);
      delete work;
    };
    if (abi::Error *error = frame->api->threadPoolSchedule(&args))
      return error;
  }
  return nullptr;
}

TEST(CallSite, WaitsForWhatRunsInOtherThreads) {
  auto site = siteOf({.execute = inTasks});
  std::vector<int64_t> shape;
  auto run = [&] {
    for (int times = 0; times < 20; ++times) {
      int sum = 0;
      Argument made = argument(ElementType::I32, shape, &sum);
      ASSERT_TRUE(site->run({}, {&made, 1}, {.threads = 3}));
      EXPECT_EQ(sum, 5050);
    }
  };
  std::jthread other(run);
  run();
}

abi::Error *asking(abi::CallFrame *frame) {
  abi::DeviceOrdinalGetArgs device;
  device.context = frame->context;
  int64_t threads = 0;
  abi::ThreadPoolNumThreadsArgs counting;
  counting.context = frame->context;
  counting.count = &threads;
  abi::MemoryAllocateArgs memory;
  memory.context = frame->context;
  memory.size = 100;
  memory.alignment = 256;
  if (frame->api->deviceOrdinalGet(&device) || frame->api->threadPoolNumThreads(&counting) ||
      frame->api->memoryAllocate(&memory))
    return errorOf(*frame, 13, "refused");
  bool isAligned = reinterpret_cast<uintptr_t>(memory.data) % 256 == 0;
  std::memset(memory.data, 1, 100);
  abi::MemoryFreeArgs release;
  release.context = frame->context;
  release.size = 100;
  release.data = memory.data;
  frame->api->memoryFree(&release);
  abi::StreamGetArgs stream;
  stream.context = frame->context;
  abi::Error *refused = frame->api->streamGet(&stream);
  abi::ErrorGetMessageArgs message;
  message.error = refused;
  frame->api->errorGetMessage(&message);
  std::string text = fmt::format("device {}, threads {}, {}, {}", device.ordinal, threads,
                                 isAligned ? "aligned" : "not aligned", message.message);
  abi::ErrorDestroyArgs destroyed;
  destroyed.error = refused;
  frame->api->errorDestroy(&destroyed);
  return errorOf(*frame, 99, text.c_str());
}

TEST(CallSite, AnswersWhereItRuns) {
  auto site = siteOf({.execute = asking});
  Status status = site->run({}, {}, {.threads = 5, .device = 3});
  EXPECT_EQ(errorOf(status), "[test.kernel] device 3, threads 5, aligned, a processor has no streams");
  EXPECT_EQ(status.error().code, ErrorCode::Unknown); // 99 is no code
}

TEST(CallSite, RefusesShortStructures) {
  abi::StateArgs args;
  args.structSize = 40; // of the ABI before stages had states
  abi::Error *error = apiTable().stateGet(&args);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(takeError(error).message, "structure of arguments too short: got 40 bytes, expected at least 48");
}

abi::Error *ofAnotherVersion(abi::CallFrame *frame) {
  return answersMetadata(frame, 1) ? nullptr : errorOf(*frame, 13, "called");
}

TEST(Registry, RefusesWhatItCannotCall) {
  Registry &registry = Registry::instance();
  EXPECT_EQ(errorOf(registry.addKernel("", {.execute = doubled})), "a kernel's target: got an empty name");
  EXPECT_EQ(errorOf(registry.addKernel("r.none", {})),
            "[r.none] a kernel without a handler for its execution");
  EXPECT_EQ(errorOf(registry.addKernel("r.new", {.execute = ofAnotherVersion})),
            "[r.new] a kernel of another version of XLA's FFI: got 1.3, expected 0.x");
  EXPECT_FALSE(registry.findKernel("r.new"));
  EXPECT_TRUE(registry.addKernel("r.one", {.execute = doubled}));
  EXPECT_TRUE(registry.addKernel("r.one", {.execute = doubled}));
  EXPECT_EQ(errorOf(registry.addKernel("r.one", {doubled, nullptr, nullptr, doubled})),
            "[r.one] another kernel is registered for the target already");
  EXPECT_EQ(registry.findKernel("r.one")->execute, doubled);
}

TEST(Registry, GivesTypesTheirIds) {
  Registry &registry = Registry::instance();
  int64_t first = *registry.addType("r.first", 0, nullptr);
  EXPECT_EQ(*registry.addType("r.first", 0, nullptr), first);
  EXPECT_NE(*registry.addType("r.second", 0, nullptr), first);
  EXPECT_EQ(*registry.addType("r.third", 17, nullptr), 17); // that of another registry
  auto errorAt = [&](const char *name, int64_t id) {
    Result<int64_t> added = registry.addType(name, id, nullptr);
    return added ? "" : added.error().message;
  };
  EXPECT_EQ(errorAt("r.third", 18), "[r.third] the type is registered already: got id 18, expected 17");
  EXPECT_EQ(errorAt("r.fourth", 17), "[r.fourth] another type has its id, 17");
}

} // namespace

} // namespace torchere::ffi

// The engine's kernels: GFLOP/s beside the peak of fused multiply-adds that is measured just before, GB/s
// beside that of a copy. Prints a table; arguments are the number of threads, the instruction set, and a part
// of the names of the rows that are wanted.
#include "base/huge_pages.h"
#include "cpu/kernels/attention.h"
#include "cpu/kernels/convolution.h"
#include "cpu/kernels/gemm.h"
#include "cpu/kernels/isa_dispatch.h"
#include "cpu/kernels/machine_peak.h"
#include "cpu/kernels/normalization.h"
#include "cpu/vector/vector_plan.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace torchere::cpu {
namespace {

using Clock = std::chrono::steady_clock;

/// The least seconds of a call, of as many as `span` seconds hold.
double seconds(const std::function<void()> &body, double span = 0.15) {
  body();
  double best = 1e9, total = 0;
  for (int i = 0; i < 5 || total < span; ++i) {
    auto begin = Clock::now();
    body();
    double taken = std::chrono::duration<double>(Clock::now() - begin).count();
    best = std::min(best, taken);
    total += taken;
  }
  return best;
}

/// Memory on large pages, as programs have it for their arena and their packed weights. What is freed last
/// was taken last.
struct Memory {
  explicit Memory(int64_t floats) : data(arena() + top()), begin(top()) {
    top() += (floats * 4 + 127) / 64 * 16;
    if (top() > kArenaFloats) {
      std::fprintf(stderr, "no memory for %ld floats\n", long(floats));
      std::exit(1);
    }
    for (int64_t i = 0; i < floats; ++i)
      data[i] = static_cast<float>(i * 2654435761u % 1000) / 1000 - 0.5f;
  }
  /// Elements of a type: those of 16 bits are normal numbers below 1.
  Memory(int64_t elements, DType type) : Memory(elements * static_cast<int64_t>(byteSize(type)) / 4 + 1) {
    for (int64_t i = 0; byteSize(type) == 2 && i < elements; ++i)
      reinterpret_cast<uint16_t *>(data)[i] = static_cast<uint16_t>(0x3000 + i * 40503 % 1024);
  }
  ~Memory() { top() = begin; }
  Memory(const Memory &) = delete;
  float *const data;

private:
  static constexpr int64_t kArenaFloats = int64_t(192) << 20;
  static float *arena() {
    static float *const memory = HugePageAllocator<float>().allocate(kArenaFloats);
    return memory;
  }
  static int64_t &top() {
    static int64_t floats = 0;
    return floats;
  }
  const int64_t begin;
};

constexpr int64_t kColdFloats = int64_t(16) << 20; ///< more than the last cache holds

struct Product {
  int64_t m, n, k;
  Activation activation;
  DType type = DType::F32;
};

class Bench {
public:
  Bench(int threads, Isa isa, std::string wanted)
      : pool_(threads), context_{pool_, isa}, wanted_(std::move(wanted)) {}
  void run();

private:
  void measurePeaks();
  void report(const std::string &name, double flops, double bytes, const std::function<void()> &body);
  void forks();
  void gemm(const Product &s, bool cold);
  void gemms();
  void convolutions();
  void rows();
  void attentions();
  void vectors();

  ThreadPool pool_;
  Context context_;
  std::string wanted_;
  double bandwidth_ = 0;
};

void Bench::report(const std::string &name, double flops, double bytes, const std::function<void()> &body) {
  if (name.find(wanted_) == std::string::npos)
    return;
  // Noise only slows: the least time of each, in turns, because processors change their frequency and virtual
  // ones their neighbours.
  double time = 1e9, peak = 0;
  for (int i = 0; i < (flops > 0 ? 25 : 1); ++i) {
    if (flops > 0)
      peak = std::max(peak, measureFlops(context_));
    time = std::min(time, seconds(body, flops > 0 ? 0.02 : 0.15));
  }
  std::printf("%-34s %9.1f us", name.c_str(), time * 1e6);
  if (flops > 0)
    std::printf("  %7.1f GFLOP/s %5.1f%% of peak", flops / time * 1e-9, flops / time / peak * 100);
  if (bytes > 0)
    std::printf("  %6.1f GB/s %5.1f%% of copy", bytes / time * 1e-9, bytes / time / bandwidth_ * 100);
  std::printf("\n");
}

void Bench::measurePeaks() {
  MachinePeak peak = measurePeak(context_);
  bandwidth_ = peak.bandwidth;
  std::printf("%s, %d threads: peak of a tile in the L1 cache %.1f GFLOP/s, copy %.1f GB/s\n",
              std::string(isaName(context_.isa)).c_str(), pool_.threads(), peak.flops * 1e-9,
              bandwidth_ * 1e-9);
}

void Bench::gemm(const Product &s, bool cold) {
  PackedLayout layout = packedLayout(s.type, context_.isa, s.m, s.k, s.n);
  auto size = static_cast<int64_t>(byteSize(s.type));
  Memory a(s.m * s.k, s.type), b(s.k * s.n, s.type), c(s.m * s.n), bias(s.n);
  // As in a model, whose weights no cache holds, each call has other weights.
  int64_t floats = layout.bytes() / 4, copies = cold ? divideUp(kColdFloats, floats) : 1, next = 0;
  Memory packed(floats * copies);
  for (int64_t i = 0; i < copies; ++i)
    packMatrix(context_, layout, b.data, 1, s.k, packed.data + i * floats);
  GemmArgs args;
  args.layout = layout;
  args.m = s.m;
  args.a = a.data;
  args.aRowStride = s.k;
  args.c = c.data;
  args.cType = size == 1 ? DType::I32 : s.type;
  args.cRowStride = s.n;
  args.epilogue.bias = dtypeInfo(s.type).isFloatingPoint ? bias.data : nullptr;
  args.epilogue.activation = s.activation;
  char name[64];
  std::snprintf(name, sizeof name, "gemm %s%ldx%ldx%ld%s",
                s.type == DType::F32 ? "" : std::string(dtypeInfo(s.type).shortName).append(" ").c_str(),
                long(s.m), long(s.n), long(s.k), cold ? " cold" : "");
  report(name, 2.0 * s.m * s.n * s.k, s.m <= 16 ? double(size) * s.n * s.k : 0, [&] {
    args.packedB = packed.data + next++ % copies * floats;
    cpu::gemm(context_, args);
  });
}

void Bench::gemms() {
  for (Product s : {Product{128, 768, 768, Activation::None},
                    Product{128, 3072, 768, Activation::Gelu},
                    Product{128, 768, 3072, Activation::None},
                    Product{197, 768, 768, Activation::None},
                    Product{64, 1024, 1024, Activation::Relu},
                    Product{1, 768, 768, Activation::None},
                    Product{1, 1024, 256, Activation::None},
                    Product{1, 2048, 768, Activation::None},
                    Product{1, 50257, 768, Activation::None},
                    Product{8, 4096, 1024, Activation::Relu},
                    Product{8, 2048, 512, Activation::None},
                    Product{16, 384, 128, Activation::None},
                    Product{3136, 64, 64, Activation::Relu},
                    Product{512, 512, 512, Activation::None},
                    Product{128, 2048, 768, Activation::None},
                    Product{128, 768, 2048, Activation::None},
                    Product{128, 32000, 768, Activation::None},
                    Product{1500, 384, 384, Activation::None},
                    Product{1500, 1536, 384, Activation::Gelu},
                    Product{1500, 384, 1536, Activation::None},
                    Product{1, 2048, 768, Activation::None, DType::BF16},
                    Product{1, 32000, 768, Activation::None, DType::BF16},
                    Product{4, 2048, 768, Activation::None, DType::BF16},
                    Product{16, 2048, 768, Activation::None, DType::BF16},
                    Product{128, 2048, 768, Activation::None, DType::BF16},
                    Product{128, 768, 2048, Activation::None, DType::BF16},
                    Product{1, 2048, 768, Activation::None, DType::F16},
                    Product{1, 32000, 768, Activation::None, DType::F16},
                    Product{128, 2048, 768, Activation::None, DType::F16},
                    Product{1, 2048, 768, Activation::None, DType::I8},
                    Product{1, 32000, 768, Activation::None, DType::I8},
                    Product{128, 2048, 768, Activation::None, DType::I8},
                    Product{128, 768, 2048, Activation::None, DType::I8},
                    Product{128, 2048, 768, Activation::None, DType::I32},
                    Product{1, 2048, 768, Activation::None, DType::I32}})
    for (bool cold : {false, true})
      gemm(s, cold);
}

void Bench::convolutions() {
  struct Case {
    int64_t in, out, size, kernel, stride, groups;
    bool planar, winograd;
  };
  for (Case s : {Case{64, 64, 56, 3, 1, 1, false, false},    Case{128, 128, 28, 3, 1, 1, false, false},
                 Case{256, 256, 14, 3, 1, 1, false, false},  Case{512, 512, 7, 3, 1, 1, false, false},
                 Case{64, 256, 56, 1, 1, 1, false, false},   Case{256, 64, 56, 1, 1, 1, false, false},
                 Case{128, 512, 28, 1, 1, 1, false, false},  Case{512, 128, 28, 1, 1, 1, false, false},
                 Case{256, 1024, 14, 1, 1, 1, false, false}, Case{1024, 256, 14, 1, 1, 1, false, false},
                 Case{512, 2048, 7, 1, 1, 1, false, false},  Case{2048, 512, 7, 1, 1, 1, false, false},
                 Case{256, 512, 56, 1, 2, 1, false, false},  Case{32, 48, 112, 1, 1, 1, false, false},
                 Case{104, 104, 28, 1, 1, 1, false, false},  Case{208, 208, 14, 1, 1, 1, false, false},
                 Case{440, 440, 7, 1, 1, 1, false, false},   Case{512, 512, 14, 3, 2, 1, false, false},
                 Case{3, 64, 224, 7, 2, 1, true, false},     Case{3, 32, 224, 3, 2, 1, true, false},
                 Case{3, 64, 224, 3, 1, 1, true, false},     Case{128, 256, 56, 3, 2, 1, false, false},
                 Case{208, 208, 14, 3, 1, 26, false, false}, Case{104, 104, 56, 3, 2, 13, false, false},
                 Case{128, 128, 56, 3, 1, 32, false, false}, Case{256, 256, 28, 3, 1, 16, false, false},
                 Case{96, 96, 112, 3, 2, 96, false, false},  Case{672, 672, 14, 5, 1, 672, false, false},
                 Case{64, 64, 56, 3, 1, 1, false, true},     Case{128, 128, 28, 3, 1, 1, false, true},
                 Case{256, 256, 14, 3, 1, 1, false, true},   Case{512, 512, 7, 3, 1, 1, false, true}}) {
    ConvolutionShape shape;
    shape.inputChannels = s.in;
    shape.outputChannels = s.out;
    shape.inputHeight = shape.inputWidth = s.size;
    shape.groups = s.groups;
    shape.kernel[0] = shape.kernel[1] = s.kernel;
    shape.stride[0] = shape.stride[1] = s.stride;
    shape.padding[0] = shape.padding[1] = s.kernel / 2;
    shape.outputHeight = shape.outputWidth = (s.size + 2 * (s.kernel / 2) - s.kernel) / s.stride + 1;
    ConvolutionPlan plan = planConvolution(shape, context_.isa, s.planar, s.winograd);
    if (s.winograd && plan.kind != ConvolutionKind::Winograd2 && plan.kind != ConvolutionKind::Winograd4)
      continue;
    int lanes = floatLanes(context_.isa);
    BlockedTensor input{nullptr, 1, s.in, s.size, s.size, plan.inputHalo(), lanes};
    BlockedTensor output{nullptr, 1, s.out, shape.outputHeight, shape.outputWidth, {}, lanes};
    int64_t perGroup = s.in / s.groups, taps = s.kernel * s.kernel;
    Memory x(std::max(input.elements(), s.in * s.size * s.size)), y(output.elements());
    Memory weights(s.out * perGroup * taps), packed(plan.weightElements()), bias(output.blocks() * lanes);
    Memory workspace(plan.workspaceBytes(input.halo) / 4 + 16);
    packConvolution(context_, plan, weights.data, {perGroup * taps, taps, s.kernel, 1}, packed.data);
    input.data = x.data;
    output.data = y.data;
    ConvolutionArgs args;
    args.plan = plan;
    args.input = input;
    args.planar = {x.data, {s.in * s.size * s.size, s.size * s.size, s.size, 1}};
    args.weights = packed.data;
    args.output = output;
    args.epilogue.bias = bias.data;
    args.epilogue.activation = Activation::Relu;
    args.workspace = workspace.data;
    char name[64];
    std::snprintf(name, sizeof name, "%s %ld->%ld %ldx%ld k%ld s%ld",
                  s.winograd      ? "winograd"
                  : perGroup == 1 ? "depthwise"
                  : s.groups > 1  ? "grouped"
                                  : "conv",
                  long(s.in), long(s.out), long(s.size), long(s.size), long(s.kernel), long(s.stride));
    double flops = 2.0 * double(s.out * perGroup * taps) * double(shape.outputHeight * shape.outputWidth);
    report(name, flops, 0, [&] { convolve(context_, args); });
  }
}

void Bench::rows() {
  Memory x(1536 * 768), y(1536 * 768), scale(768), bias(768);
  report("softmax 1536x128", 0, 8.0 * 1536 * 128,
         [&] { softmax(context_, {{DType::F32, 1536, 128, x.data, 128, y.data, 128}, false}); });
  report("layer norm 128x768", 0, 8.0 * 128 * 768, [&] {
    normalize(context_,
              {{DType::F32, 128, 768, x.data, 768, y.data, 768}, true, 1e-5, scale.data, bias.data});
  });
}

void Bench::attentions() {
  struct Case {
    int64_t heads, keyHeads, queries, keys;
    bool causal;
  };
  for (Case s : {Case{12, 12, 128, 128, false}, Case{12, 12, 197, 197, false}, Case{6, 6, 1500, 1500, false},
                 Case{32, 8, 512, 512, true}, Case{12, 12, 1, 512, true}, Case{32, 8, 1, 2048, true}}) {
    const int64_t size = 64;
    Memory q(s.heads * s.queries * size), k(s.keyHeads * s.keys * size), v(s.keyHeads * s.keys * size);
    Memory output(s.heads * s.queries * size);
    AttentionArgs args;
    args.queryHeads = s.heads;
    args.keyHeads = s.keyHeads;
    args.queries = s.queries;
    args.keys = s.keys;
    args.headSize = args.valueSize = size;
    args.q = {q.data, {0, s.queries * size, size}};
    args.k = {k.data, {0, s.keys * size, size}};
    args.v = {v.data, {0, s.keys * size, size}};
    args.output = output.data;
    args.outputStrides[1] = s.queries * size;
    args.outputStrides[2] = size;
    args.scale = 0.125f;
    args.causal = s.causal;
    args.causalOffset = s.keys - s.queries;
    char name[64];
    std::snprintf(name, sizeof name, "attention %ld/%ldx%ldx%ldx64%s", long(s.heads), long(s.keyHeads),
                  long(s.queries), long(s.keys), s.causal ? " causal" : "");
    double flops = 4.0 * double(s.heads * s.queries * s.keys * size) * (s.causal && s.queries > 1 ? 0.5 : 1);
    report(name, flops, s.queries == 1 ? 8.0 * double(s.keyHeads * s.keys * size) : 0,
           [&] { attention(context_, args); });
  }
}

void Bench::vectors() {
  const int64_t count = 128 * 3072;
  Memory x(count), y(count);
  for (VectorOp op : {VectorOp::Abs, VectorOp::Exponential, VectorOp::Tanh, VectorOp::Erf, VectorOp::Gelu,
                      VectorOp::Log, VectorOp::Sine, VectorOp::Logistic}) {
    VectorBuilder builder;
    builder.output(builder.apply(op, builder.input(DType::F32)), DType::F32);
    auto program = builder.finish();
    VectorPlan plan(*program, context_.isa, {1, {count}, {{1}}, {{1}}});
    const void *from = x.data;
    void *to = y.data;
    report("vector op " + std::to_string(static_cast<int>(op)) + " of 393216", 0, 8.0 * count,
           [&] { plan.run(context_, &from, &to); });
  }
}

/// An empty job: what each parallel step costs beyond its work.
void Bench::forks() {
  const int count = 1000;
  double time = seconds([&] {
    for (int i = 0; i < count; ++i)
      pool_.parallelFor(pool_.threads(), [](int64_t) {});
  });
  std::printf("%-34s %9.2f us\n", "fork and join", time / count * 1e6);
}

void Bench::run() {
  measurePeaks();
  forks();
  gemms();
  convolutions();
  rows();
  attentions();
  vectors();
}

} // namespace
} // namespace torchere::cpu

int main(int count, char **arguments) {
  using namespace torchere::cpu;
  int threads = count > 1 ? std::atoi(arguments[1]) : 2;
  auto isa = count > 2 ? isaFromName(arguments[2]) : chosenIsa();
  if (!isa || !isSupported(*isa)) {
    std::fprintf(stderr, "%s\n", isa ? "not supported here" : isa.error().message.c_str());
    return 1;
  }
  Bench(threads, *isa, count > 3 ? arguments[3] : "").run();
}

// Implements the storing of plans: the table of the steps that are stored.
#include "cpu/execute/stored_plan.h"

#include "cpu/execute/cell_step.h"
#include "cpu/execute/control_steps.h"
#include "cpu/execute/copy_step.h"
#include "cpu/execute/gathered_sum_step.h"
#include "cpu/execute/interpolation_step.h"
#include "cpu/execute/loop_program.h"
#include "cpu/execute/regroup_step.h"
#include "cpu/execute/stored_fields.h"
#include "cpu/execute/vector_step.h"

namespace torchere::cpu {

namespace {

/// Lists of steps in steps are at most so deep.
constexpr int mostDepth = 200;

struct StoredClass {
  const char *key;
  void (*write)(ArchiveWriter &writer, const Step &step);
  Result<std::unique_ptr<const Step>> (*read)(ArchiveReader &reader, const PlanLimits &limits);
};

template <class T> constexpr StoredClass storedClass() {
  return {&storedClassOf<T>,
          [](ArchiveWriter &writer, const Step &step) { writer.put(static_cast<const T &>(step)); },
          [](ArchiveReader &reader, const PlanLimits &limits) -> Result<std::unique_ptr<const Step>> {
            auto step = std::make_unique<T>();
            reader.get(*step);
            if (!reader.hasFailed())
              TORCHERE_TRY(step->restore(limits));
            return step;
          }};
}

/// A step is stored with the number of its row.
constexpr StoredClass storedClasses[] = {
    storedClass<AttentionStep>(),
    storedClass<BisectionStep>(),
    storedClass<BlockedLayoutStep>(),
    storedClass<BranchStep>(),
    storedClass<CellStep>(),
    storedClass<ChannelChoiceStep>(),
    storedClass<ChannelNormStep>(),
    storedClass<CholeskyStep>(),
    storedClass<ComputedPadStep>(),
    storedClass<ComputedSliceStep>(),
    storedClass<ComplexProductStep>(),
    storedClass<ConvolutionPairStep>(),
    storedClass<ConvolutionStep>(),
    storedClass<CopyStep>(),
    storedClass<CountedLoopStep>(),
    storedClass<EigenStep>(),
    storedClass<ExchangeStep>(),
    storedClass<ExtremumStep>(),
    storedClass<FftStep>(),
    storedClass<FoldStep>(),
    storedClass<GatherStep>(),
    storedClass<GatheredSumStep>(),
    storedClass<GlobalAverageStep>(),
    storedClass<GroupNormStep>(),
    storedClass<InterpolationStep>(),
    storedClass<JoinedStep>(),
    storedClass<LoopProgramStep>(),
    storedClass<LoopStep>(),
    storedClass<LuStep>(),
    storedClass<MatmulStep>(),
    storedClass<NormStep>(),
    storedClass<ParallelStep>(),
    storedClass<PoolingStep>(),
    storedClass<QrStep>(),
    storedClass<RandomBitsStep>(),
    storedClass<RandomWordsStep>(),
    storedClass<ReduceStep>(),
    storedClass<ReflectorsStep>(),
    storedClass<RegroupStep>(),
    storedClass<RunningStep>(),
    storedClass<ScatterFoldStep>(),
    storedClass<ScatterStep>(),
    storedClass<SingularStep>(),
    storedClass<SliceStep>(),
    storedClass<SoftmaxStep>(),
    storedClass<SortStep>(),
    storedClass<TriangularSolveStep>(),
    storedClass<UnfoldedConvolutionStep>(),
    storedClass<UpsamplingStep>(),
    storedClass<VectorStep>(),
    storedClass<WeightGradientStep>(),
    storedClass<WindowExtremumStep>(),
    storedClass<WindowScatterStep>(),
    storedClass<WindowStep>(),
};

} // namespace

size_t storedClassCount() {
  return std::size(storedClasses);
}

void PlanWriter::putStep(const Step &step) {
  auto found = std::find_if(std::begin(storedClasses), std::end(storedClasses),
                            [&](const StoredClass &each) { return each.key == step.storedClass(); });
  if (found == std::end(storedClasses) || depth == mostDepth) {
    status = fail(ErrorCode::Unimplemented, "[{}] a step that is not stored", step.name());
    return;
  }
  put(static_cast<uint16_t>(found - std::begin(storedClasses)));
  auto origin = plan->origins.find(&step);
  put(origin == plan->origins.end() ? StepOrigin() : origin->second);
  ++depth;
  found->write(*this, step);
  --depth;
}

void PlanWriter::putPlan(const Plan &given) {
  plan = &given;
  put(given.buffers);
  put(given.arenaBytes);
  put(given.results);
  put(given.writtenArguments);
  for (const Buffer &buffer : given.buffers)
    if (buffer.home == Home::Constant)
      putBytes(given.constants[buffer.index].get(), static_cast<size_t>(buffer.bytes));
  put(given.steps);
}

bool PlanReader::check(Status holds) {
  if (!holds)
    refuse(std::move(holds).error());
  return !hasFailed();
}

std::unique_ptr<const Step> PlanReader::getStep() {
  size_t number = steps++;
  uint16_t row = 0;
  StepOrigin origin;
  get(row);
  get(origin);
  if (hasFailed() ||
      !check(expectWithin("the kind of a step", {row}, 0, int64_t(std::size(storedClasses)) - 1)) ||
      !check(expect(depth < mostDepth, "steps in steps: expected at most {} of them", mostDepth)))
    return nullptr;
  size_t before = accesses.count();
  ++depth;
  Result<std::unique_ptr<const Step>> step = storedClasses[row].read(*this, *limits);
  --depth;
  if (!step)
    refuse(invalidArgument("step {}, of {}: {}", number, origin.op, step.error().message).value());
  if (hasFailed())
    return nullptr;
  depth > 0 ? accesses.close(step->get(), before) : accesses.clear();
  plan->origins.emplace(step->get(), std::move(origin));
  return *std::move(step);
}

/// Each constant has a buffer, in their order.
void PlanReader::getConstants(Plan &made) {
  for (const Buffer &buffer : made.buffers) {
    if (buffer.home != Home::Constant)
      continue;
    if (!check(expectEqual("a constant", buffer.index, made.constants.size())) ||
        !check(expectWithin("bytes of a constant", {buffer.bytes}, 0, mostElements)))
      return;
    std::string_view bytes = getBytes(static_cast<size_t>(buffer.bytes));
    if (hasFailed())
      return;
    Result<Memory> memory = allocateMemory(buffer.bytes);
    if (!memory)
      return refuse(std::move(memory).error());
    std::copy_n(reinterpret_cast<const std::byte *>(bytes.data()), bytes.size(), memory->get());
    made.constants.push_back(*std::move(memory));
  }
}

void PlanReader::getPlan(Plan &made, std::vector<bool> isGone) {
  get(made.buffers);
  get(made.arenaBytes);
  get(made.results);
  get(made.writtenArguments);
  if (hasFailed())
    return;
  getConstants(made);
  if (hasFailed() ||
      !check(expectEqual("arguments of a plan", made.writtenArguments.size(), isGone.size())) ||
      !check(verifyBuffers(made)))
    return;
  PlanLimits here(made, isa, std::move(isGone), accesses);
  plan = &made;
  limits = &here;
  steps = 0;
  get(made.steps);
  limits = nullptr;
}

} // namespace torchere::cpu

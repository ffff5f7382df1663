// Implements sorts of lines: a line's elements are collected, its order found, and the results written in it.
#include "cpu/vector/line_sort.h"

#include "cpu/kernels/elements.h"
#include "cpu/vector/lane_buffers.h"
#include "cpu/vector/lane_program.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

namespace torchere::cpu {
namespace {

constexpr int64_t kPartElements = 4096;
constexpr int64_t kMaxParts = 64;
constexpr int64_t kKeyLanes = 512;
// More elements than these are found sooner by sorting all.
constexpr int64_t kMaxLeading = 1024;
constexpr int64_t kLeadingShare = 8;

class LineSorter {
public:
  LineSorter(const Context &context, const LineSortArgs &args);
  void run(int64_t line);

private:
  void collect();
  void locate(int64_t line);
  void order();
  bool orderByColumns();
  bool orderLeading();
  const void *keysOf(size_t column);
  void makeScratch(int64_t count);
  void merge(std::span<uint32_t> positions);
  bool comesBefore(uint32_t left, uint32_t right);
  void write();

  const LineSortArgs &args_;
  int64_t length_;
  std::optional<LaneProgram> comparator_;
  std::vector<std::optional<LaneProgram>> keyPrograms_;
  std::vector<int64_t> from_, to_;        ///< offsets of the line, by operand
  std::vector<std::vector<char>> copies_; ///< by operand, of lines that do not lie so
  std::vector<const char *> lines_;       ///< by operand, the elements one after another
  std::vector<char> keys_;
  std::unique_ptr<uint64_t[]> scratch_; ///< for the order of keys, of so many elements
  int64_t scratchCount_ = 0;
  std::vector<uint32_t> order_, merged_;
  std::vector<const void *> inputs_;
};

LineSorter::LineSorter(const Context &context, const LineSortArgs &args)
    : args_(args), length_(args.dims[args.dimension]), from_(args.operands.size()), to_(args.operands.size()),
      copies_(args.operands.size()), lines_(args.operands.size()), inputs_(2 * args.operands.size()) {
  if (args.plan->comparator)
    comparator_.emplace(*args.plan->comparator, context.isa, 1);
  for (const SortColumn &column : args.plan->columns) {
    keyPrograms_.emplace_back();
    if (column.program)
      keyPrograms_.back().emplace(*column.program, context.isa, kKeyLanes);
  }
}

/// For so many elements at least. Nothing is written that no order needs.
void LineSorter::makeScratch(int64_t count) {
  if (count <= scratchCount_)
    return;
  scratchCount_ = count;
  scratch_ = std::make_unique_for_overwrite<uint64_t[]>(static_cast<size_t>(keyOrderScratch(count) / 8 + 1));
}

void LineSorter::locate(int64_t line) {
  std::fill(from_.begin(), from_.end(), 0);
  std::fill(to_.begin(), to_.end(), 0);
  for (int i = args_.rank - 1; i >= 0; --i) {
    if (i == args_.dimension)
      continue;
    int64_t at = line % args_.dims[i];
    line /= args_.dims[i];
    for (size_t operand = 0; operand < from_.size(); ++operand) {
      from_[operand] += at * args_.operands[operand].inputStrides[i];
      to_[operand] += at * args_.operands[operand].outputStrides[i];
    }
  }
}

void LineSorter::collect() {
  for (size_t i = 0; i < lines_.size(); ++i) {
    const SortOperand &operand = args_.operands[i];
    int64_t stride = operand.inputStrides[args_.dimension];
    if (stride == 1) {
      lines_[i] = static_cast<const char *>(operand.input) + from_[i] * operand.elementSize;
      continue;
    }
    copies_[i].resize(static_cast<size_t>(length_ * operand.elementSize));
    lines_[i] = copies_[i].data();
    withElement(operand.elementSize, [&](auto element) {
      using T = decltype(element);
      const T *from = static_cast<const T *>(operand.input) + from_[i];
      for (int64_t at = 0; at < length_; ++at)
        std::memcpy(copies_[i].data() + at * int64_t(sizeof(T)), from + at * stride, sizeof(T));
    });
  }
}

const void *LineSorter::keysOf(size_t index) {
  const SortColumn &column = args_.plan->columns[index];
  if (!keyPrograms_[index])
    return lines_[column.operand];
  auto size = static_cast<int64_t>(byteSize(column.key.type));
  keys_.resize(static_cast<size_t>(length_ * 8));
  for (int64_t first = 0; first < length_; first += kKeyLanes) {
    for (size_t i = 0; i < lines_.size(); ++i)
      inputs_[2 * i] = inputs_[2 * i + 1] = lines_[i] + first * args_.operands[i].elementSize;
    void *output = keys_.data() + first * size;
    keyPrograms_[index]->run(inputs_.data(), &output, std::min(kKeyLanes, length_ - first));
  }
  return keys_.data();
}

/// The leading elements alone.
bool LineSorter::orderLeading() {
  if (args_.plan->columns.size() != 1 || args_.leading < 1 || args_.leading > kMaxLeading ||
      args_.leading * kLeadingShare > length_)
    return false;
  order_.resize(static_cast<size_t>(args_.leading));
  makeScratch(args_.leading);
  return firstByKey(args_.plan->columns[0].key, keysOf(0), length_, args_.leading, order_.data(),
                    scratch_.get());
}

void LineSorter::order() {
  if (orderLeading())
    return;
  order_.resize(static_cast<size_t>(length_));
  std::iota(order_.begin(), order_.end(), 0);
  if (orderByColumns() || !comparator_)
    return;
  std::iota(order_.begin(), order_.end(), 0);
  merged_.resize(order_.size());
  merge(order_);
}

bool LineSorter::orderByColumns() {
  if (!args_.plan->columns.empty())
    makeScratch(length_);
  for (size_t i = args_.plan->columns.size(); i-- > 0;)
    if (!orderByKey(args_.plan->columns[i].key, keysOf(i), length_, order_.data(), scratch_.get()))
      return false;
  return !args_.plan->columns.empty();
}

bool LineSorter::comesBefore(uint32_t left, uint32_t right) {
  for (size_t i = 0; i < lines_.size(); ++i) {
    inputs_[2 * i] = lines_[i] + static_cast<int64_t>(left) * args_.operands[i].elementSize;
    inputs_[2 * i + 1] = lines_[i] + static_cast<int64_t>(right) * args_.operands[i].elementSize;
  }
  uint8_t result = 0;
  void *output = &result;
  comparator_->run(inputs_.data(), &output, 1);
  return result != 0;
}

/// The right one of two equal elements never comes first.
void LineSorter::merge(std::span<uint32_t> positions) {
  if (positions.size() < 2)
    return;
  size_t half = positions.size() / 2;
  merge(positions.first(half));
  merge(positions.subspan(half));
  std::copy(positions.begin(), positions.end(), merged_.begin());
  size_t left = 0, right = half;
  for (uint32_t &position : positions) {
    bool takesRight = left == half;
    if (!takesRight && right < positions.size())
      takesRight = comesBefore(merged_[right], merged_[left]);
    position = takesRight ? merged_[right++] : merged_[left++];
  }
}

void LineSorter::write() {
  for (size_t i = 0; i < lines_.size(); ++i) {
    const SortOperand &operand = args_.operands[i];
    withElement(operand.elementSize, [&](auto element) {
      using T = decltype(element);
      T *to = static_cast<T *>(operand.output) + to_[i];
      int64_t stride = operand.outputStrides[args_.dimension];
      for (int64_t at = 0; at < args_.leading; ++at)
        std::memcpy(to + at * stride, lines_[i] + order_[at] * sizeof(T), sizeof(T));
    });
  }
}

void LineSorter::run(int64_t line) {
  locate(line);
  collect();
  order();
  write();
}

} // namespace

void sortLines(const Context &context, const LineSortArgs &args) {
  int64_t lines = 1, length = args.dims[args.dimension];
  for (int i = 0; i < args.rank; ++i)
    lines *= i == args.dimension ? 1 : args.dims[i];
  if (lines * length == 0)
    return;
  int64_t parts = std::clamp<int64_t>(lines * length / kPartElements, 1, std::min(lines, kMaxParts));
  context.pool.parallelFor(parts, [&](int64_t part) {
    LineSorter sorter(context, args);
    for (int64_t line = lines * part / parts; line < lines * (part + 1) / parts; ++line)
      sorter.run(line);
  });
}

} // namespace torchere::cpu

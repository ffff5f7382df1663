// Folds: outputs are lanes, which go through their windows together.
#include "cpu/vector/folding.h"

#include "cpu/kernels/elements.h"
#include "cpu/vector/lane_buffers.h"
#include "cpu/vector/lane_program.h"

#include <algorithm>

namespace torchere::cpu {
namespace {

constexpr int64_t kLanes = 512;
constexpr int64_t kPartElements = 4096;
constexpr int64_t kMaxParts = 64;

int64_t product(const int64_t *dims, int rank) {
  int64_t count = 1;
  for (int i = 0; i < rank; ++i)
    count *= dims[i];
  return count;
}

/// An operand's part of a tile.
struct Lanes {
  int64_t size = 0;
  bool contiguous = false;
  std::vector<int64_t> from, to; ///< offsets by lane
  std::vector<char> joined, next, elements;
  int64_t window = 0; ///< offset of the window's current element
};

class Folder {
public:
  Folder(const Context &context, const FoldArgs &args);
  void runTile(int64_t begin, int64_t end);

private:
  void locate(int64_t begin, int64_t end);
  void locateOperand(size_t operand, int64_t begin);
  void begin();
  void join();
  void keep();
  const void *elementsOf(size_t operand);
  bool advance();

  const FoldArgs &args_;
  LaneProgram program_;
  std::vector<Lanes> lanes_;
  CaptureLanes captures_;
  std::vector<const void *> inputs_;
  std::vector<void *> outputs_;
  int64_t position_[kMaxRank] = {}; ///< in the window
  int64_t count_ = 0;
};

Folder::Folder(const Context &context, const FoldArgs &args)
    : args_(args), program_(*args.program, context.isa, kLanes), lanes_(args.operands.size()),
      captures_(args.captures, args.captureTypes, kLanes),
      inputs_(2 * args.operands.size() + captures_.count()), outputs_(args.operands.size()) {
  for (size_t i = 0; i < lanes_.size(); ++i) {
    Lanes &lanes = lanes_[i];
    lanes.size = static_cast<int64_t>(byteSize(args.operands[i].type));
    lanes.from.resize(kLanes);
    lanes.to.resize(kLanes);
    for (std::vector<char> *buffer : {&lanes.joined, &lanes.next, &lanes.elements})
      buffer->resize(static_cast<size_t>(kLanes * lanes.size));
  }
  for (size_t i = 0; i < captures_.count(); ++i)
    inputs_[2 * lanes_.size() + i] = captures_.at(i);
}

void Folder::locateOperand(size_t operand, int64_t begin) {
  const FoldOperand &of = args_.operands[operand];
  Lanes &lanes = lanes_[operand];
  int64_t at[kMaxRank] = {}, from = 0, to = 0, rest = begin;
  for (int i = args_.rank - 1; i >= 0; --i) {
    at[i] = rest % args_.dims[i];
    rest /= args_.dims[i];
    from += at[i] * of.inputStrides[i];
    to += at[i] * of.outputStrides[i];
  }
  lanes.contiguous = true;
  for (int64_t lane = 0; lane < count_; ++lane) {
    lanes.from[lane] = from;
    lanes.to[lane] = to;
    lanes.contiguous &= from == lanes.from[0] + lane;
    for (int i = args_.rank - 1; i >= 0; --i) {
      from += of.inputStrides[i];
      to += of.outputStrides[i];
      if (++at[i] < args_.dims[i])
        break;
      from -= args_.dims[i] * of.inputStrides[i];
      to -= args_.dims[i] * of.outputStrides[i];
      at[i] = 0;
    }
  }
}

void Folder::locate(int64_t begin, int64_t end) {
  count_ = end - begin;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    locateOperand(i, begin);
    lanes_[i].window = 0;
  }
  std::fill(position_, position_ + kMaxRank, 0);
}

const void *Folder::elementsOf(size_t operand) {
  Lanes &lanes = lanes_[operand];
  const char *input = static_cast<const char *>(args_.operands[operand].input) + lanes.window * lanes.size;
  if (lanes.contiguous)
    return input + lanes.from[0] * lanes.size;
  gatherElements(lanes.size, input, lanes.from.data(), lanes.elements.data(), count_);
  return lanes.elements.data();
}

void Folder::begin() {
  for (size_t i = 0; i < lanes_.size(); ++i) {
    Lanes &lanes = lanes_[i];
    const void *initial = args_.operands[i].initial;
    if (!initial) {
      std::memcpy(lanes.joined.data(), elementsOf(i), static_cast<size_t>(count_ * lanes.size));
      continue;
    }
    for (int64_t lane = 0; lane < count_; ++lane)
      std::memcpy(lanes.joined.data() + lane * lanes.size, initial, static_cast<size_t>(lanes.size));
  }
}

void Folder::join() {
  for (size_t i = 0; i < lanes_.size(); ++i) {
    inputs_[i] = lanes_[i].joined.data();
    inputs_[lanes_.size() + i] = elementsOf(i);
    outputs_[i] = lanes_[i].next.data();
  }
  program_.run(inputs_.data(), outputs_.data(), count_);
  for (Lanes &lanes : lanes_)
    std::swap(lanes.joined, lanes.next);
}

void Folder::keep() {
  for (size_t i = 0; i < lanes_.size(); ++i) {
    Lanes &lanes = lanes_[i];
    char *output = static_cast<char *>(args_.operands[i].output);
    if (args_.running)
      output += lanes.window * lanes.size;
    scatterElements(lanes.size, lanes.joined.data(), output,
                    args_.running ? lanes.from.data() : lanes.to.data(), count_);
  }
}

bool Folder::advance() {
  for (int i = args_.windowRank - 1; i >= 0; --i) {
    bool isInside = ++position_[i] < args_.windowDims[i];
    for (size_t operand = 0; operand < lanes_.size(); ++operand) {
      int64_t stride = args_.operands[operand].windowStrides[i];
      lanes_[operand].window += isInside ? stride : stride - args_.windowDims[i] * stride;
    }
    if (isInside)
      return true;
    position_[i] = 0;
  }
  return false;
}

void Folder::runTile(int64_t first, int64_t end) {
  locate(first, end);
  begin();
  bool hasFirst = !args_.operands.front().initial;
  do {
    if (!hasFirst)
      join();
    hasFirst = false;
    if (args_.running)
      keep();
  } while (advance());
  if (!args_.running)
    keep();
}

void foldLanes(const Context &context, const FoldArgs &args) {
  int64_t outputs = product(args.dims, args.rank), window = product(args.windowDims, args.windowRank);
  if (outputs == 0)
    return;
  int64_t tiles = (outputs + kLanes - 1) / kLanes;
  // More tiles of fewer lanes where windows are long.
  int64_t wanted = std::clamp<int64_t>(outputs * window / kPartElements, 1, 16);
  tiles = std::max(tiles, std::min(wanted, (outputs + 31) / 32));
  int64_t parts = std::clamp<int64_t>(outputs * window / kPartElements, 1, std::min(tiles, kMaxParts));
  context.pool.parallelFor(parts, [&](int64_t part) {
    Folder folder(context, args);
    for (int64_t tile = tiles * part / parts; tile < tiles * (part + 1) / parts; ++tile)
      folder.runTile(outputs * tile / tiles, outputs * (tile + 1) / tiles);
  });
}

/// Joins dimensions of the window that all operands walk as one.
void mergeWindow(FoldArgs &args) {
  int rank = 0;
  for (int i = 0; i < args.windowRank; ++i) {
    int64_t size = args.windowDims[i];
    if (size == 1)
      continue;
    bool joins = rank > 0;
    for (const FoldOperand &operand : args.operands)
      joins = joins && operand.windowStrides[rank - 1] == operand.windowStrides[i] * size;
    if (!joins)
      args.windowDims[rank++] = 1;
    args.windowDims[rank - 1] *= size;
    for (FoldOperand &operand : args.operands)
      operand.windowStrides[rank - 1] = operand.windowStrides[i];
  }
  args.windowRank = rank;
}

/// The window's outermost dimension in pieces, each as a lane of its own; then these are joined.
void foldPieces(const Context &context, const FoldArgs &args, int64_t pieces) {
  int64_t length = args.windowDims[0] / pieces, rest = args.windowDims[0] % pieces;
  int64_t outputs = product(args.dims, args.rank), perOutput = pieces + (rest != 0);
  FoldArgs parts = args, last = args, whole = args;
  std::vector<std::vector<char>> memory;
  parts.dims[parts.rank++] = pieces;
  parts.windowDims[0] = length;
  last.windowDims[0] = rest;
  whole.windowRank = 1;
  whole.windowDims[0] = perOutput;
  for (size_t i = 0; i < args.operands.size(); ++i) {
    auto size = static_cast<int64_t>(byteSize(args.operands[i].type));
    memory.emplace_back(static_cast<size_t>(outputs * perOutput * size));
    FoldOperand &part = parts.operands[i], &end = last.operands[i], &all = whole.operands[i];
    int64_t step = args.operands[i].windowStrides[0], stride = perOutput;
    part.initial = end.initial = nullptr;
    part.output = memory.back().data();
    part.inputStrides[args.rank] = length * step;
    part.outputStrides[args.rank] = 1;
    end.input = static_cast<const char *>(end.input) + pieces * length * step * size;
    end.output = memory.back().data() + pieces * size;
    all.input = memory.back().data();
    all.windowStrides[0] = 1;
    for (int d = args.rank - 1; d >= 0; stride *= args.dims[d--])
      part.outputStrides[d] = end.outputStrides[d] = all.inputStrides[d] = stride;
  }
  foldLanes(context, parts);
  if (rest != 0)
    foldLanes(context, last);
  foldLanes(context, whole);
}

} // namespace

void fold(const Context &context, const FoldArgs &given) {
  FoldArgs args = given;
  int64_t outputs = product(args.dims, args.rank);
  if (!args.running)
    mergeWindow(args);
  bool isLong = !args.running && args.windowRank > 0 && outputs < 64 && args.windowDims[0] >= 256 &&
                args.rank < kMaxRank;
  if (isLong && outputs > 0)
    return foldPieces(context, args, std::min<int64_t>(args.windowDims[0] / 16, kLanes));
  foldLanes(context, args);
}

} // namespace torchere::cpu

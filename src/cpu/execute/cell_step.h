// CellStep: a product of few rows and the vector program on its columns, as cells of recurrent layers have
// them, in one job of the pool, with the slices that it reads and writes.
#pragma once

#include "cpu/execute/matmul_step.h"
#include "cpu/execute/slice_step.h"
#include "cpu/execute/vector_step.h"
#include "cpu/vector/lstm_cell.h"

#include <tuple>

namespace torchere::cpu {

/// The product's columns are runs, each as wide as the vector program's operands: a cell's gates. A part of
/// the job computes a piece of every run and then the program on it, while that is in the thread's cache.
class CellStep final : public StoredStep<CellStep> {
public:
  /// Null if the program is not one on pieces of the product's columns, or `slice` does not read what is
  /// added to the product, or what the program reads. Nothing else may need the slice.
  static std::unique_ptr<const Step> create(const Step &product, const Step &vector, const Step *slice,
                                            Isa isa);
  /// The same cell, which writes a result into the slice as well; null if the slice is not all of one, or
  /// something else in its way.
  std::unique_ptr<const Step> writing(const SliceStep &slice, Isa isa) const;
  CellStep() = default;
  static auto fields(auto &step) { return std::tie(step.product, step.vector, step.slice, step.written); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return lstm ? "LSTM cell" : "cell"; }
  double flops() const final { return product.flops(); }
  bool packs(BufferId buffer) const final { return product.packs(buffer) && !vector.reads(buffer); }
  Status prepare(const Frame &frame) const final { return product.prepare(frame); }
  void addPackings(std::vector<Packing> &packings) const final { product.addPackings(packings); }

private:
  bool derive(Isa isa);
  bool takesRuns(int64_t width) const;
  /// What the slice is.
  enum class SliceUse : uint8_t { Residual, Bias, Input };
  bool takesSlice();
  void placeSlice(const Frame &frame, GemmArgs &args, std::vector<const void *> &inputs) const;
  bool takesWrite();
  std::vector<View> productViews() const;
  std::optional<LstmCell> lstmCell() const;
  void runLstmCell(const Context &context, const void *const *inputs, void *const *outputs) const;
  void writePiece(int64_t piece, const void *result, std::byte *place) const;

  MatmulStep product;
  VectorStep vector;
  std::optional<SliceStep> slice;   ///< of the layer's inputs: read where it lies
  std::optional<SliceStep> written; ///< of the layer's results
  SliceUse sliceUse = SliceUse::Residual;
  size_t writtenOutput = 0; ///< of the program
  int64_t runs = 1;         ///< of columns, one a gate
  int64_t pieces = 1;       ///< of a run
  VectorPlan onPiece;
  std::optional<LstmCell> lstm;                 ///< what the program is, which then has a kernel
  std::vector<int64_t> inputSteps, outputSteps; ///< by operand: bytes from a piece to the next
};

} // namespace torchere::cpu

// CellStep: a product of few rows and the vector program on its columns, as cells of recurrent layers have
// them, in one job of the pool.
#pragma once

#include "cpu/execute/matmul_step.h"
#include "cpu/execute/slice_step.h"
#include "cpu/execute/vector_step.h"

#include <tuple>

namespace torchere::cpu {

/// The product's columns are runs, each as wide as the vector program's operands: a cell's gates. A part of
/// the job computes a piece of every run and then the program on it, while that is in the thread's cache.
class CellStep final : public StoredStep<CellStep> {
public:
  /// Null if the program is not one on pieces of the product's columns, or `slice` does not read what is
  /// added to the product. Nothing but the product may need the slice.
  static std::unique_ptr<const Step> create(const Step &product, const Step &vector, const Step *slice,
                                            Isa isa);
  CellStep() = default;
  static auto fields(auto &step) { return std::tie(step.product, step.vector, step.slice); }
  Status restore(const PlanLimits &limits);
  Status run(const Frame &frame) const final;
  std::string_view name() const final { return "cell"; }
  double flops() const final { return product.flops(); }
  bool packs(BufferId buffer) const final { return product.packs(buffer) && !vector.reads(buffer); }
  Status prepare(const Frame &frame) const final { return product.prepare(frame); }
  void addPackings(std::vector<Packing> &packings) const final { product.addPackings(packings); }

private:
  bool derive(Isa isa);
  bool takesRuns(int64_t width) const;
  bool takesSlice() const;

  MatmulStep product;
  VectorStep vector;
  std::optional<SliceStep> slice; ///< of the layer's inputs: read where it lies
  int64_t runs = 1;               ///< of columns, one a gate
  int64_t pieces = 1;             ///< of a run
  VectorPlan onPiece;
  std::vector<int64_t> inputSteps, outputSteps; ///< by operand: bytes from a piece to the next
};

} // namespace torchere::cpu

// Plans as bytes, and back.
#pragma once

#include "cpu/plan/archive.h"
#include "cpu/plan/limits.h"

namespace torchere::cpu {

/// How many classes of steps there are that are stored.
size_t storedClassCount();

class PlanWriter final : public ArchiveWriter {
public:
  void putPlan(const Plan &plan);
  /// Unimplemented if a step is of a class that is not stored: it holds a part of the module.
  Status finish() const { return status; }

protected:
  void putStep(const Step &step) final;

private:
  const Plan *plan = nullptr;
  int depth = 0;
  Status status;
};

/// Trusts nothing that it reads: what a plan's steps touch lies where it may.
class PlanReader final : public ArchiveReader {
public:
  PlanReader(std::string_view bytes, Isa isa) : ArchiveReader(bytes), isa(isa) {}
  /// `isGone`: by argument of the plan, as for PlanLimits.
  void getPlan(Plan &plan, std::vector<bool> isGone);
  /// Whether it holds; otherwise what is read is refused.
  bool check(Status holds);

protected:
  std::unique_ptr<const Step> getStep() final;

private:
  void getConstants(Plan &plan);

  Isa isa;
  Plan *plan = nullptr;
  const PlanLimits *limits = nullptr;
  AccessLog accesses; ///< of the steps that the outermost one runs
  int depth = 0;
  size_t steps = 0;
};

} // namespace torchere::cpu

// NumberArguments: the Python numbers of a program as arguments of its function, for exports that inline none
// but 0 and 1.
#pragma once

#include "exporter/signature.h"
#include "lowering/context.h"

#include <deque>
#include <map>
#include <string>

namespace torchere::exporter {

class NumberArguments final : public lowering::NumberSource {
public:
  /// Adds arguments to the plan and to the function's block, after the other constants.
  NumberArguments(SignaturePlan &plan, mlir::Block &entry) : plan(plan), entry(entry) {}

  mlir::Value argumentFor(const lowering::Scalar &number, mlir::DenseElementsAttr value,
                          mlir::OpBuilder &builder) override;

private:
  mlir::Value add(mlir::DenseElementsAttr value, mlir::MLIRContext *context);

  SignaturePlan &plan;
  mlir::Block &entry;
  std::map<const void *, mlir::Value> known; ///< by the attribute, of which MLIR has one for equal values
  std::deque<program::Weight> weights;       ///< the plan points to them
};

} // namespace torchere::exporter

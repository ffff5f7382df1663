// markDonations: sets the attribute on the entry function's arguments.
#include "passes/prepare/donation.h"

#include "stablehlo/argument_attributes.h"
#include "stablehlo/module_implementation.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace torchere::passes {

Status markDonations(stablehlo::Module &module, std::span<const Donation> donations) {
  if (donations.empty())
    return {};
  mlir::ModuleOp op = *module.implementation().module;
  auto function = op.lookupSymbol<mlir::func::FuncOp>("main");
  if (!function)
    return invalidArgument("[module] no function to be called: expected @main");
  mlir::Builder builder(op.getContext());
  for (const Donation &donation : donations) {
    if (donation.argument >= function.getNumArguments() || donation.result >= function.getNumResults())
      return invalidArgument(
          "[main] no such argument and result to donate: got {} and {}, expected less than {} and {}",
          donation.argument, donation.result, function.getNumArguments(), function.getNumResults());
    function.setArgAttr(static_cast<unsigned>(donation.argument), stablehlo::aliasingAttribute,
                        builder.getI32IntegerAttr(static_cast<int32_t>(donation.result)));
  }
  return {};
}

} // namespace torchere::passes

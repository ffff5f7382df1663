// Implements compilation: the module is read, brought into a simple form, and planned.
#include "cpu/frontend/compile.h"

#include "cpu/frontend/collectives.h"
#include "cpu/frontend/elementwise.h"
#include "cpu/frontend/evaluated_module.h"
#include "cpu/frontend/expansion/expansion.h"
#include "cpu/frontend/flattening.h"
#include "cpu/frontend/fusion/fusion.h"
#include "cpu/frontend/fusion/kernel_call.h"
#include "cpu/frontend/fusion/pattern.h"
#include "cpu/frontend/loop_invariants.h"
#include "cpu/frontend/loop_rows.h"
#include "cpu/frontend/marked_loops.h"
#include "cpu/frontend/parallel_loops.h"
#include "cpu/frontend/planner.h"
#include "cpu/frontend/running_sums.h"
#include "cpu/frontend/size_limits.h"
#include "cpu/frontend/weight_program.h"
#include "interpreter/registered_call.h"
#include "passes/chlo/legalization.h"
#include "passes/chlo/top_k_calls.h"
#include "passes/compatibility/composite_calls.h"
#include "passes/simplify/simplify.h"
#include "stablehlo/diagnostics.h"
#include "stablehlo/element_type_conversion.h"
#include "stablehlo/module_implementation.h"
#include "vhlo/portable_artifact.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace torchere::cpu {

namespace {

/// More calls than this are not a program's but a recursion's.
constexpr int maxInlinedCalls = 100000;

/// Calls of the engine's kernels are its own: their operands are not checked.
Status refuseKernelCalls(ModuleOp module) {
  std::string found;
  module.walk([&](stablehlo::CustomCallOp call) {
    if (isKernelCall(call))
      found = call.getCallTargetName();
  });
  return found.empty() ? Status()
                       : invalidArgument("[stablehlo.custom_call] a target of the engine's own: got '{}', "
                                         "expected no name that begins with '{}'",
                                         found, kernelPrefix.str());
}

Status replaceCall(func::CallOp call, SymbolTable &symbols) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  if (!callee || !llvm::hasSingleElement(callee.getBody()))
    return fail(ErrorCode::Unimplemented, "a call of {}, which has no body", call.getCallee().str());
  IRMapping mapping;
  mapping.map(callee.getArguments(), call.getOperands());
  OpBuilder builder(call);
  for (Operation &op : callee.front().without_terminator())
    builder.clone(op, mapping);
  for (auto [value, given] :
       llvm::zip_equal(call.getResults(), callee.front().getTerminator()->getOperands()))
    value.replaceAllUsesWith(mapping.lookupOrDefault(given));
  call.erase();
  return {};
}

/// The entry function becomes one without calls.
Status inlineCalls(ModuleOp module, func::FuncOp entry) {
  SymbolTable symbols(module);
  for (int count = 0;;) { // as often as calls are nested
    SmallVector<func::CallOp> calls;
    entry.walk([&](func::CallOp call) { calls.push_back(call); });
    if (calls.empty())
      return {};
    for (func::CallOp call : calls) {
      if (count++ == maxInlinedCalls)
        return fail(ErrorCode::Unimplemented, "calls that do not end");
      TORCHERE_TRY(replaceCall(call, symbols));
    }
  }
}

bool isPlain(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && !tensor.getEncoding() &&
         (tensor.getElementType().isIntOrFloat() || isa<ComplexType>(tensor.getElementType())) &&
         stablehlo::storedTypeOf(tensor.getElementType());
}

/// All values are static tensors of numbers, and regions have one block.
Status checkPlain(func::FuncOp function) {
  std::string found;
  function.walk([&](Operation *op) {
    for (Region &region : op->getRegions()) {
      if (!llvm::hasSingleElement(region))
        found = "regions of several blocks";
      else if (!llvm::all_of(region.getArgumentTypes(), isPlain))
        found = "values that are no static tensors of numbers";
    }
    if (op != function.getOperation() && !llvm::all_of(op->getResultTypes(), isPlain))
      found = fmt::format("results of {} that are no static tensors of numbers",
                          op->getName().getStringRef().str());
    return found.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return found.empty() ? Status() : fail(ErrorCode::Unimplemented, "{}", found);
}

/// The entry function becomes the module's only one, without calls, tokens and tuples.
Result<func::FuncOp> flattenEntry(stablehlo::Module &module, StringRef name) {
  ModuleOp op = *module.implementation().module;
  stablehlo::DiagnosticText diagnostics(*op.getContext());
  if (failed(passes::legalizeChlo(op)))
    return fail(ErrorCode::Unimplemented, "{}", diagnostics.take());
  passes::replaceTopKCalls(op);
  for (auto function : op.getOps<func::FuncOp>())
    if (failed(passes::replaceComposites(function, {})))
      return fail(ErrorCode::Unimplemented, "{}", diagnostics.take());
  auto entry = op.lookupSymbol<func::FuncOp>(name);
  if (!entry || entry.isExternal())
    return fail(ErrorCode::Unimplemented, "an entry without a body");
  TORCHERE_TRY(inlineCalls(op, entry));
  for (auto function : llvm::make_early_inc_range(op.getOps<func::FuncOp>()))
    if (function != entry)
      function.erase();
  TORCHERE_TRY(flattenValues(entry));
  return entry;
}

/// Brings the entry function into the form that the planner takes.
Result<func::FuncOp> simplifyEntry(stablehlo::Module &module, StringRef name, const Target &target) {
  func::FuncOp entry;
  if (target.isFlat) {
    entry = module.implementation().module->lookupSymbol<func::FuncOp>(name);
  } else {
    TORCHERE_ASSIGN(entry, flattenEntry(module, name));
  }
  TORCHERE_TRY(checkSizes(entry));
  replaceMarkedLoops(entry);
  expand(entry);
  if (target.processes.replicas * target.processes.partitions > 1) {
    TORCHERE_TRY(checkPlain(entry));
    TORCHERE_TRY(lowerCollectives(entry, target.processes, target.process));
  }
  TORCHERE_TRY(passes::simplify(module));
  TORCHERE_TRY(checkPlain(entry));
  TORCHERE_TRY(checkSizes(entry)); // of what ops were expanded to
  replaceRunningSums(entry);
  freeLoopInvariants(entry);
  cutLoopRows(entry);
  fuse(entry, target.isa);
  return entry;
}

} // namespace

Result<stablehlo::Module> readModule(std::string_view code) {
  Result<stablehlo::Module> module =
      vhlo::isArtifact(code) ? vhlo::deserialize(code, "program") : interpreter::parseModule(code, "program");
  if (!module)
    return module;
  ModuleOp op = *module->implementation().module;
  TORCHERE_TRY(refuseKernelCalls(op));
  if (auto main = op.lookupSymbol<func::FuncOp>("main"))
    replaceEntryTokens(main);
  return module;
}

bool flattenOpen(stablehlo::Module &module, std::string_view entry) {
  Result<func::FuncOp> function = flattenEntry(module, entry);
  if (!function || !checkSizes(*function) || !passes::simplify(module))
    return false;
  joinCommonValues(*function); // once, not for each plan
  return true;
}

/// Asks for the sizes of what values are computed from, so that values inside of a fusion have no other
/// users.
static void liftSizes(func::FuncOp function) {
  function.walk([](stablehlo::GetDimensionSizeOp size) {
    mlir::Value value = size.getOperand();
    for (Operation *op = value.getDefiningOp(); op && isElementwise(op); op = value.getDefiningOp()) {
      auto isOfItsShape = [&](mlir::Value operand) {
        return operand.getType() == value.getType() && !splatOf(operand);
      };
      auto found = llvm::find_if(op->getOperands(), isOfItsShape);
      if (found == op->operand_end())
        break;
      value = *found;
    }
    size->setOperand(0, value);
  });
}

void fuseOpen(stablehlo::Module &module, std::string_view entry) {
  auto function = module.implementation().module->lookupSymbol<func::FuncOp>(entry);
  liftSizes(function);
  fuseOpen(function);
  (void)passes::simplify(module); // the sizes of what is called
}

/// Makes the plans of the module, which keeps the ops that steps evaluate.
static Status planModule(CompiledModule &compiled, stablehlo::Module module, const Target &target) {
  TORCHERE_ASSIGN(func::FuncOp entry, simplifyEntry(module, compiled.entry.name, target));
  compiled.module = std::make_shared<EvaluatedModule>(std::move(module), target.mutex);
  std::vector<bool> isDonated;
  for (const interpreter::EntryArgument &argument : compiled.entry.arguments)
    isDonated.push_back(argument.isDonated);
  compiled.isWeight = weightsOf(entry, isDonated);
  func::FuncOp weights = splitWeights(entry, compiled.isWeight);
  placeLoopsTogether(entry);
  Planner planner(compiled.module, target.isa, std::move(isDonated));
  std::vector<bool> isWeight = compiled.isWeight;
  isWeight.resize(entry.getNumArguments(), true); // values of the weight program
  planner.setWeights(std::move(isWeight));
  planner.setProcess(target.process);
  TORCHERE_ASSIGN(compiled.plan, planner.plan(entry));
  return planWeights(compiled, weights, planner.weightCopies(), target);
}

Result<CompiledModule> compileModule(const ModuleSource &read, const Target &target) {
  TORCHERE_ASSIGN(stablehlo::Module module, read(ModuleUse::Plan));
  CompiledModule compiled;
  TORCHERE_ASSIGN(compiled.entry, interpreter::describeEntry(module));
  Status planned = planModule(compiled, std::move(module), target);
  if (planned)
    return compiled;
  TORCHERE_ASSIGN(module, read(ModuleUse::Interpretation));
  TORCHERE_TRY(interpreter::checkCustomCalls(*module.implementation().module));
  compiled.plan.reset();
  compiled.module = std::make_shared<EvaluatedModule>(std::move(module), target.mutex);
  compiled.reason = planned.error().text();
  return compiled;
}

Result<std::vector<std::vector<interpreter::Tensor>>>
interpretWhole(const CompiledModule &compiled, interpreter::ProcessCounts processes,
               std::vector<std::vector<interpreter::Tensor>> inputs) {
  std::unique_lock guard = compiled.module->lock();
  return interpreter::interpretProcesses(compiled.module->module(), processes, std::move(inputs));
}

} // namespace torchere::cpu

// The exporter: plan the signature, check coverage, lower, verify.
#include "exporter/exporter.h"

#include "exporter/composite.h"
#include "exporter/coverage.h"
#include "exporter/custom_call.h"
#include "exporter/function_builder.h"
#include "exporter/lowering_registry.h"
#include "exporter/marks.h"
#include "exporter/text_functions.h"
#include "lowering/op_families.h"
#include "passes/chlo/legalization.h"
#include "passes/precision/product_precision.h"
#include "stablehlo/diagnostics.h"
#include "stablehlo/module_implementation.h"

#include <chrono>

namespace torchere::exporter {

namespace {

class Stopwatch {
public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

private:
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

Status lower(const program::Program &program, const Options &options, SignaturePlan &plan,
             mlir::ModuleOp module) {
  TORCHERE_TRY(FunctionBuilder(program, options, plan, module).build());
  // Lowerings emit CHLO for special functions; artifacts contain only StableHLO.
  stablehlo::DiagnosticText diagnostics(*module.getContext());
  if (mlir::failed(passes::legalizeChlo(module)))
    return fail(ErrorCode::Unimplemented, "[exporter] an op has no expansion: {}", diagnostics.take());
  return {};
}

/// Whether the program has ops that name others.
bool writesLocations(const program::Program &program) {
  auto isWriter = [](const program::Node &node) {
    return node.kind == program::NodeKind::Call && node.op() == "xla.write_mlir_debuginfo.default";
  };
  return llvm::any_of(program.graph.nodes, isWriter) ||
         llvm::any_of(program.subgraphs,
                      [&](const program::Graph &graph) { return llvm::any_of(graph.nodes, isWriter); });
}

} // namespace

Result<Exported> exportProgram(const program::Program &program, const Options &options) {
  Stopwatch lowering;
  TORCHERE_TRY(checkComposites(options.composites));
  if (!options.precision.empty())
    TORCHERE_TRY(passes::checkPrecision(options.precision));
  TORCHERE_TRY(program.verify());
  TORCHERE_TRY(checkCoverage(program, options.customOpNamespaces));
  TORCHERE_ASSIGN(SignaturePlan plan, planSignature(program, options));
  auto implementation = std::make_unique<stablehlo::Module::Implementation>();
  implementation->context = stablehlo::makeContext();
  mlir::MLIRContext *context = implementation->context.get();
  implementation->module = mlir::ModuleOp::create(mlir::UnknownLoc::get(context), options.name);
  TORCHERE_TRY(lower(program, options, plan, *implementation->module));
  Timings timings;
  timings.lower = lowering.seconds();

  Stopwatch verifying;
  stablehlo::Module module(std::move(implementation));
  if (!options.precision.empty())
    TORCHERE_TRY(passes::setProductPrecision(module, options.precision));
  TORCHERE_TRY(module.verify());
  timings.verify = verifying.seconds();
  return Exported{std::make_shared<const stablehlo::SharedModule>(std::move(module)),
                  std::move(plan.entryPoint),
                  std::move(plan.stateDict),
                  std::move(plan.constants),
                  timings,
                  std::move(plan.leftOut),
                  options.nodeMetadata || writesLocations(program)};
}

std::vector<Operator> listOperators() {
  std::vector<Operator> operators;
  std::map<std::string, std::string> families = lowering::familiesOfRows();
  for (const auto &[name, row] : lowering::OpTable::instance().rows())
    operators.push_back({name, row.schema.source, families[name]});
  return operators;
}

Result<std::vector<std::string>> loadLowerings(const std::filesystem::path &library) {
  return LoweringRegistry::instance().load(library);
}

std::map<std::string, std::string> loadedLowerings() {
  return LoweringRegistry::instance().schemas();
}

std::set<std::string> ownOps() {
  return {std::string(markOp), std::string(statedCallOp), std::string(textOp)};
}

} // namespace torchere::exporter

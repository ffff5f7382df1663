// Implements the interpreter's entry point.
#include "interpreter/interpreter.h"

#include "interpreter/check_dialect.h"
#include "interpreter/evaluator.h"
#include "interpreter/instrumentation_dialect.h"
#include "interpreter/mlir_values.h"
#include "stablehlo/module_implementation.h"

namespace torchere::interpreter {

Result<stablehlo::Module> parseModule(std::string_view text, std::string_view name) {
  std::shared_ptr<mlir::MLIRContext> context = stablehlo::makeContext();
  context->loadDialect<CheckDialect, InterpreterDialect>();
  return stablehlo::parseModule(std::move(context), text, name);
}

Result<std::vector<Tensor>> interpret(const stablehlo::Module &module, std::vector<Tensor> inputs,
                                      const Options &options) {
  Evaluator evaluator(*module.implementation().module, options);
  TORCHERE_ASSIGN(Values results, evaluator.runEntry(Values(std::make_move_iterator(inputs.begin()),
                                                            std::make_move_iterator(inputs.end()))));
  std::vector<Tensor> tensors;
  for (const Value &result : results) {
    if (!result.isTensor())
      return fail(ErrorCode::Unimplemented, "[interpret] the program returns {}, which cannot be handed out",
                  typeText(result));
    tensors.push_back(result.tensor());
  }
  return tensors;
}

} // namespace torchere::interpreter

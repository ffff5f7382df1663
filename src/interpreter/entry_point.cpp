// Implements the description of entry points and their execution in several processes.
#include "interpreter/entry_point.h"

#include "interpreter/evaluator.h"
#include "interpreter/mlir_values.h"
#include "stablehlo/argument_attributes.h"
#include "stablehlo/element_type_conversion.h"
#include "stablehlo/module_implementation.h"
#include "stablehlo/text_of.h"

using namespace mlir;

namespace torchere::interpreter {

bool TensorType::isStatic() const {
  return !llvm::is_contained(shape, unknownSize);
}

std::string TensorType::text() const {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += size == unknownSize ? "?x" : fmt::format("{}x", size);
  return fmt::format("{}{}>", text, elementTypeInfo(elementType).name);
}

bool EntryPoint::isOpen() const {
  return llvm::any_of(arguments, [](const EntryArgument &argument) {
    return argument.isInShapes || !argument.type.isStatic();
  });
}

Result<int64_t> TensorType::byteSize() const {
  int64_t size = elementTypeInfo(elementType).bytes();
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(size, extent, &size))
      return fail(ErrorCode::ResourceExhausted, "no memory for a {}", text());
  return size;
}

static Result<TensorType> describe(Type type, StringRef what, size_t index) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  std::optional<ElementType> elementType =
      tensor ? stablehlo::storedTypeOf(tensor.getElementType()) : std::optional<ElementType>();
  if (!elementType)
    return fail(ErrorCode::Unimplemented, "{} {} is a {}, expected a tensor", what.str(), index,
                stablehlo::textOf(type));
  Index shape;
  for (int64_t size : tensor.getShape())
    shape.push_back(ShapedType::isDynamic(size) ? unknownSize : size);
  return TensorType{*elementType, std::move(shape)};
}

static Result<EntryArgument> describeArgument(func::FuncOp function, unsigned index,
                                              const std::vector<TensorType> &results, OpenSizes openSizes) {
  EntryArgument argument;
  TORCHERE_ASSIGN(argument.type, describe(function.getArgumentTypes()[index], "argument", index));
  if (!argument.type.isStatic() && openSizes == OpenSizes::Refused)
    return fail(ErrorCode::Unimplemented,
                "argument {} is a {}, expected sizes that are known: refine its shapes first", index,
                argument.type.text());
  argument.isDonated = function.getArgAttr(index, stablehlo::donorAttribute) != nullptr;
  argument.isInShapes = function.getArgAttr(index, stablehlo::sizeAttribute) != nullptr;
  if (argument.isInShapes && !(argument.type.shape.empty() && isInteger(argument.type.elementType)))
    return invalidArgument("argument {} is a {} that sizes depend on, expected a 0-d integer", index,
                           argument.type.text());
  if (auto alias = function.getArgAttrOfType<IntegerAttr>(index, stablehlo::aliasingAttribute)) {
    uint64_t result = alias.getValue().getLimitedValue();
    if (result >= results.size())
      return invalidArgument("argument {} aliases result {} of {}", index, result, results.size());
    if (results[result] != argument.type)
      return invalidArgument("argument {} is a {} and aliases result {}, a {}", index, argument.type.text(),
                             result, results[result].text());
    argument.aliasingResult = result;
    argument.isDonated = true;
  }
  return argument;
}

static Result<EntryPoint> describeFunction(func::FuncOp function, OpenSizes openSizes) {
  EntryPoint entry;
  entry.name = function.getName().str();
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    TORCHERE_ASSIGN(TensorType result, describe(type, "result", index));
    entry.results.push_back(std::move(result));
  }
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    TORCHERE_ASSIGN(EntryArgument argument, describeArgument(function, index, entry.results, openSizes));
    entry.arguments.push_back(std::move(argument));
  }
  return entry;
}

/// What GSPMD and Shardy emit: an attribute of the function or an op, or a custom call.
static bool isSharded(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        auto speaksOfSharding = [](NamedAttribute attribute) {
          return attribute.getName() == "mhlo.sharding" || attribute.getName() == "sdy.sharding";
        };
        // Not getAttrs(), which makes a dictionary of all properties.
        bool found = llvm::any_of(op->getDiscardableAttrs(), speaksOfSharding);
        for (StringRef name : {"arg_attrs", "res_attrs"})
          if (auto lists =
                  isa<func::FuncOp, func::CallOp>(op) ? op->getAttrOfType<ArrayAttr>(name) : ArrayAttr())
            for (auto list : lists.getAsRange<DictionaryAttr>())
              found |= llvm::any_of(list, speaksOfSharding);
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

Result<EntryPoint> describeEntry(const stablehlo::Module &module, OpenSizes openSizes) {
  Evaluator evaluator(*module.implementation().module, {});
  TORCHERE_ASSIGN(func::FuncOp function, evaluator.findEntry());
  Result<EntryPoint> entry = describeFunction(function, openSizes);
  if (!entry)
    return fail(entry.error().code, "[{}] {}", function.getName().str(), entry.error().message);
  entry->isSharded = isSharded(*module.implementation().module);
  return entry;
}

static Result<std::vector<Tensor>> takeTensors(Values::iterator first, size_t count) {
  std::vector<Tensor> tensors;
  for (size_t index = 0; index < count; ++index, ++first) {
    if (!first->isTensor())
      return fail(ErrorCode::Unimplemented, "[interpret] the program returns {}, which cannot be handed out",
                  typeText(*first));
    tensors.push_back(first->tensor());
  }
  return tensors;
}

Result<std::vector<std::vector<Tensor>>> interpretProcesses(const stablehlo::Module &module,
                                                            ProcessCounts counts,
                                                            std::vector<std::vector<Tensor>> inputs) {
  Evaluator evaluator(*module.implementation().module, {});
  TORCHERE_ASSIGN(func::FuncOp entry, evaluator.findEntry());
  std::vector<Values> arguments;
  for (std::vector<Tensor> &given : inputs)
    arguments.emplace_back(std::make_move_iterator(given.begin()), std::make_move_iterator(given.end()));
  TORCHERE_ASSIGN(Values values,
                  evaluator.runEntryInProcesses(counts.replicas, counts.partitions, std::move(arguments)));
  std::vector<std::vector<Tensor>> results;
  size_t count = entry.getNumResults();
  for (size_t process = 0; process < inputs.size(); ++process) {
    TORCHERE_ASSIGN(std::vector<Tensor> tensors,
                    takeTensors(values.begin() + static_cast<std::ptrdiff_t>(process * count), count));
    results.push_back(std::move(tensors));
  }
  return results;
}

} // namespace torchere::interpreter

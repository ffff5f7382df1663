// A function's module for the sizes of one call, for compilers other than a PJRT plugin's.
#include "session/static_module.h"

#include "artifact/function_module.h"
#include "passes/prepare/prepare.h"
#include "session/call_signature.h"
#include "stablehlo/result_shapes.h"
#include "vhlo/portable_artifact.h"

namespace torchere::session {

using program::EntryInput;
using program::EntryPoint;
using program::InputSource;

/// The shape of an argument in this call. Weights have static types.
static passes::ArgumentShape shapeOf(const EntryInput &input, std::span<const Input> inputs) {
  passes::ArgumentShape shape;
  if (input.source != InputSource::UserInput) {
    for (program::SymInt size : input.type.shape)
      shape.sizes.push_back(size.constant());
    return shape;
  }
  const Input &value = inputs[static_cast<size_t>(input.position)];
  if (const auto *tensor = std::get_if<TensorView>(&value))
    shape.sizes.assign(tensor->shape.begin(), tensor->shape.end());
  if (input.isInShapes)
    shape.value = *std::get<program::Constant>(value).as<int64_t>();
  return shape;
}

static Result<StaticModule> makeStatic(stablehlo::Module module, const EntryPoint &entryPoint,
                                       const passes::Target &target, bool withLocations) {
  TORCHERE_TRY(passes::prepareFor(module, target));
  TORCHERE_ASSIGN(std::vector<std::vector<int64_t>> shapes, stablehlo::resultShapes(module));
  if (shapes.size() != entryPoint.outputs.size())
    return fail(ErrorCode::DataLoss, "[{}] wrong number of results of the module: got {}, expected {}",
                entryPoint.name, shapes.size(), entryPoint.outputs.size());
  StaticModule made;
  for (size_t index = 0; index < shapes.size(); ++index)
    made.results.push_back({entryPoint.outputs[index].type.dtype, std::move(shapes[index])});
  TORCHERE_ASSIGN(made.bytecode,
                  vhlo::serialize(module, {.target = *target.version, .withLocations = withLocations}));
  return made;
}

Result<StaticModule> staticModule(const artifact::Function &function, std::span<const Input> inputs,
                                  const vhlo::Version &version, const PluginTraits &traits) {
  const EntryPoint &entryPoint = function.entryPoint;
  CallSignature signature(entryPoint);
  Sizes sizes;
  TORCHERE_TRY(signature.check(inputs, sizes));
  TORCHERE_TRY(signature.checkSizes(sizes));
  passes::Target target = {.version = version, .traits = traits};
  if (signature.isDynamic()) {
    target.shapes.emplace();
    for (const EntryInput &input : entryPoint.inputs)
      target.shapes->push_back(shapeOf(input, inputs));
  }
  TORCHERE_ASSIGN(auto shared, artifact::readModule(function));
  return shared->read([&](const stablehlo::Module &module) {
    return makeStatic(module.clone(), entryPoint, target, artifact::hasLocations(function));
  });
}

} // namespace torchere::session

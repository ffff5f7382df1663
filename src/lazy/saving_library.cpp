// What torchere.lazy.save() calls: torch.ops.torchere_lazy.save and the functions that tell values apart.
#include "lazy/lowered_program.h"
#include "lazy/result.h"
#include "lazy/saving.h"
#include "lazy/tensor.h"
#include "lazy/values.h"
#include "lazy/view.h"

#include <ATen/FunctionalTensorWrapper.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <set>

namespace torchere::lazy {

/// "i:5", "f:0.5", "b:1", "s:mean", "n:": how Python passes a leaf that is no tensor.
static program::Constant constantOf(const std::string &text) {
  program::Constant constant;
  std::string rest = text.substr(std::min<size_t>(text.size(), 2));
  switch (text.empty() ? 'n' : text[0]) {
  case 'i':
    constant.value = static_cast<int64_t>(std::stoll(rest));
    break;
  case 'f':
    constant.value = std::stod(rest);
    break;
  case 'b':
    constant.value = rest == "1";
    break;
  case 's':
    constant.value = rest;
    break;
  default:
    break;
  }
  return constant;
}

/// A leaf of arguments or results; an empty text stands for the next tensor.
static bool isTensor(const std::string &leaf) {
  return leaf.empty();
}

/// The same values under wrappers of their own: what is written to the tensors does not change them.
static std::vector<at::Tensor> snapshot(at::TensorList tensors) {
  std::vector<at::Tensor> made;
  for (Value &value : valuesOf(tensors))
    made.push_back(wrapped(tensorOf(std::move(value))));
  return made;
}

/// A number for each value, equal for the same one. They are only good while the tensors live.
static std::vector<int64_t> identities(at::TensorList tensors) {
  std::vector<int64_t> numbers;
  for (const Value &value : valuesOf(tensors))
    numbers.push_back(static_cast<int64_t>(reinterpret_cast<uintptr_t>(value.node.get()) |
                                           static_cast<uint64_t>(value.result) << 48));
  return numbers;
}

/// The tensor that another is a view of, which lives with it; the tensor itself if it is none.
static at::Tensor baseOf(const at::Tensor &tensor) {
  const c10::Storage &storage = tensor.unsafeGetTensorImpl()->unsafe_storage();
  return static_cast<at::functionalization::FunctionalStorageImpl *>(storage.unsafeGetStorageImpl())->base();
}

/// Whether a view has all elements of its base, each in its place: what `detach` gives, and a parameter's
/// data.
static bool isWhole(const at::Tensor &tensor) {
  const at::FunctionalTensorWrapper *wrapper =
      at::functionalization::impl::unsafeGetFunctionalWrapper(tensor);
  const at::Tensor &value = wrapper->value(), base = baseOf(tensor);
  return haveLayouts(wrapper->view_metas()) && value.scalar_type() == base.scalar_type() &&
         value.sizes() == base.sizes() && value.strides() == base.strides() &&
         value.storage_offset() == base.storage_offset();
}

/// What the tensors are views of, each under a wrapper of its own.
static std::vector<at::Tensor> bases(at::TensorList tensors) {
  std::vector<at::Tensor> made;
  for (const at::Tensor &tensor : tensors)
    made.push_back(wrapped(baseOf(tensor)));
  return made;
}

static std::vector<int64_t> areWhole(at::TensorList tensors) {
  std::vector<int64_t> whole;
  for (const at::Tensor &tensor : tensors)
    whole.push_back(isWhole(tensor));
  return whole;
}

/// What pending values are shown by other tensors than these, one text for each.
static std::vector<std::string> otherResults(at::TensorList known, int64_t device) {
  std::vector<Value> values = valuesOf(known);
  for (const at::Tensor &tensor : known)
    if (at::functionalization::impl::isFunctionalTensor(tensor))
      values.push_back(implementationOf(baseOf(tensor))->value());
  std::vector<std::string> others;
  Device::get(static_cast<c10::DeviceIndex>(device)).readPending({}, [&](const Graph &graph) {
    std::set<uint32_t> positions;
    for (const Value &value : values)
      if (value.node->state == Node::State::Pending)
        positions.insert(value.node->position);
    for (auto [node, result] : graph.results)
      if (positions.insert(node).second)
        others.push_back(fmt::format("a result of {}{}", graph.calls[node]->op->name,
                                     graph.lines[node] ? ", made at " + graph.lines[node]->text() : ""));
  });
  return others;
}

namespace {

/// The parts of a step as the dispatcher passes them.
struct StepParts {
  c10::List<std::string> weightNames;
  c10::List<bool> areParameters;
  c10::List<std::string> leafNames; ///< of the arguments' leaves
  c10::List<std::string> argumentLeaves;
  c10::List<std::string> resultLeaves;
  c10::List<int64_t> baseOwners; ///< whose bases follow the weights
  c10::List<int64_t> written;    ///< the index of a weight, or -1 - the index of an argument
};

} // namespace

static SavedArgument argumentOf(Device &device, const std::string &leaf, std::vector<Value>::iterator &next) {
  SavedArgument argument;
  if (!isTensor(leaf)) {
    argument.constant = constantOf(leaf);
    return argument;
  }
  argument.array = device.arrayOf(*next);
  argument.type = next->type();
  TORCH_CHECK(argument.array, "[lazy.save] an argument is not computed: expected sync() before the step");
  ++next;
  return argument;
}

static program::Argument resultOf(const std::string &leaf) {
  program::Argument result{program::NotGiven{}};
  if (isTensor(leaf))
    return result;
  program::Constant constant = constantOf(leaf);
  if (const auto *integer = constant.as<int64_t>())
    return {*integer};
  if (const auto *number = constant.as<double>())
    return {*number};
  if (const auto *flag = constant.as<bool>())
    return {*flag};
  TORCH_CHECK(constant.isNone(), "[lazy.save] a result is text: got '", leaf.substr(2),
              "', expected tensors, numbers and None");
  return {};
}

static SavedStep stepOf(const StepParts &parts, Device &device, const std::vector<Value> &weights,
                        std::vector<Value> &arguments) {
  SavedStep step;
  size_t count = parts.weightNames.size();
  for (size_t i = 0; i < weights.size(); ++i) {
    session::DeviceTensor array = device.arrayOf(weights[i]);
    TORCH_CHECK(array, "[lazy.save] a weight is not computed: expected sync() before the step");
    if (i < count)
      step.weights.push_back(
          {parts.weightNames.get(i), parts.areParameters.get(i), {std::move(array)}, weights[i].type()});
    else
      step.weights.at(static_cast<size_t>(parts.baseOwners.get(i - count)))
          .arrays.push_back(std::move(array));
  }
  auto next = arguments.begin();
  for (const std::string &leaf : parts.argumentLeaves.vec())
    step.arguments.push_back(argumentOf(device, leaf, next));
  for (size_t i = 0; i < step.arguments.size(); ++i)
    step.arguments[i].name = parts.leafNames.get(i);
  for (int64_t index : parts.written.vec())
    step.writes.push_back(index < 0 ? SavedWrite{true, static_cast<size_t>(-1 - index)}
                                    : SavedWrite{false, static_cast<size_t>(index)});
  for (const std::string &leaf : parts.resultLeaves.vec())
    step.results.push_back(resultOf(leaf));
  return step;
}

/// `weights` are followed by the bases of those that are views of the whole of one. `outputs` are the written
/// values, then the results that are tensors.
static void save(std::string folder, at::TensorList weights, c10::List<std::string> weightNames,
                 c10::List<bool> areParameters, c10::List<int64_t> baseOwners, at::TensorList arguments,
                 c10::List<std::string> leafNames, c10::List<std::string> argumentLeaves,
                 at::TensorList outputs, c10::List<int64_t> written, c10::List<std::string> resultLeaves,
                 c10::List<std::string> trees, c10::List<std::string> argumentNames, bool overwrite) {
  std::vector<Value> chosen = valuesOf(outputs), captured = valuesOf(weights), given = valuesOf(arguments);
  TORCH_CHECK(!chosen.empty(), "[lazy.save] the step returns no tensor and writes none: expected one");
  Device &device = chosen.front().node->device;
  StepParts parts{weightNames, areParameters, leafNames, argumentLeaves, resultLeaves, baseOwners, written};
  SavedStep step = stepOf(parts, device, captured, given);
  step.inputTree = {trees.get(0), trees.get(1)};
  step.outputTree = {trees.get(2), trees.get(3)};
  step.argumentNames = argumentNames.vec();
  Result<program::Program> program;
  device.readPending(chosen, [&](const Graph &graph) { program = writeStep(step, graph); });
  auto bundle = valueOf(lowered(valueOf(std::move(program))));
  artifact::SaveOptions options;
  options.overwrite = overwrite;
  Status saved = artifact::save(*bundle, folder, options);
  TORCH_CHECK(saved.has_value(), saved.error().text());
}

TORCH_LIBRARY_FRAGMENT(torchere_lazy, library) {
  library.def("snapshot(Tensor[] tensors) -> Tensor[]", &snapshot);
  library.def("identities(Tensor[] tensors) -> int[]", &identities);
  library.def("bases(Tensor[] tensors) -> Tensor[]", &bases);
  library.def("are_whole(Tensor[] tensors) -> int[]", &areWhole);
  library.def("other_results(Tensor[] known, int device) -> str[]", &otherResults);
  library.def("save(str folder, Tensor[] weights, str[] weight_names, bool[] are_parameters, "
              "int[] base_owners, Tensor[] arguments, str[] leaf_names, str[] argument_leaves, Tensor[] "
              "outputs, int[] written, "
              "str[] result_leaves, str[] trees, str[] argument_names, bool overwrite) -> ()",
              &save);
}

} // namespace torchere::lazy

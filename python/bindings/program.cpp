// torchere._core's part for src/program: the builder that a walk over an FX graph fills, and the resulting
// program.
#include "bindings/bindings.h"
#include "bindings/constants.h"
#include "bindings/program_nodes.h"
#include "bindings/torch_values.h"
#include "program/builder.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <map>

namespace torchere::bindings {

using namespace program;

/// The storage without data that stands for one of torch's: the same for all programs, so that those with the
/// same weight can be joined. It keeps torch's alive, and with it the identity. The GIL is the lock.
template <class Make> static std::shared_ptr<Storage> findWithoutData(uintptr_t identity, Make make) {
  static std::map<uintptr_t, std::weak_ptr<Storage>> known;
  std::erase_if(known, [](const auto &entry) { return entry.second.expired(); });
  std::shared_ptr<Storage> storage = known[identity].lock();
  if (!storage)
    known[identity] = storage = make();
  return storage;
}

/// Converts for a program::Builder. Graph 0 is the main one, graph i + 1 is Program::subgraphs[i].
class ProgramBuilder {
public:
  explicit ProgramBuilder(nb::object vocabulary)
      : vocabularyObject(vocabulary), reader(nb::cast<const TorchVocabulary &>(vocabulary), builder),
        graphs{builder.main()}, nodeMaps(1) {}

  uint32_t addSubgraph(uint32_t parent, std::string name) {
    graphs.push_back(builder.addSubgraph(graphs.at(parent), std::move(name)));
    nodeMaps.emplace_back();
    return static_cast<uint32_t>(graphs.size() - 1);
  }

  void addPlaceholder(uint32_t graph, nb::handle node, const std::string &name, nb::handle value) {
    Type type = unwrap(reader.readType(value, name));
    remember(graph, node, graphs.at(graph).placeholder(type, builder.label({.name = name})));
  }

  void addCall(uint32_t graph, nb::handle node, const std::string &name, std::string_view op,
               std::string_view schema, nb::tuple args, nb::dict kwargs, nb::handle value,
               uint32_t stackTrace, uint32_t moduleStack) {
    Label label{name, stackTrace, moduleStack, {}};
    try {
      readCall(graph, node, op, schema, args, kwargs, value, label);
    } catch (ErrorException &exception) {
      Node place;
      place.label = &label;
      if (exception.error.where.empty())
        exception.error.where = builder.program().place(place);
      throw;
    }
  }

  void addGetAttr(uint32_t graph, nb::handle node, const std::string &name, std::string_view attribute,
                  uint32_t child, uint32_t stackTrace, uint32_t moduleStack) {
    const Label *label = builder.label({name, stackTrace, moduleStack, {}});
    remember(graph, node, graphs.at(graph).graph(attribute, graphs.at(child), label));
  }

  void bind(uint32_t graph, nb::handle node, nb::handle value) {
    remember(graph, node, readArgument(graph, value, "bind", "value"));
  }

  void bindElement(uint32_t graph, nb::handle node, nb::handle list, uint32_t index) {
    Argument value = readArgument(graph, list, "bind_element", "list");
    const auto *elements = value.as<Argument::List>();
    if (!elements || index >= elements->size())
      throw nb::index_error("bind_element: no list of so many elements");
    remember(graph, node, (*elements)[index]);
  }

  void setOutputs(uint32_t graph, nb::handle outputs) {
    Argument value = readArgument(graph, outputs, "output", "outputs");
    if (const auto *items = value.as<Argument::List>())
      graphs.at(graph).setOutputs({items->begin(), items->size()});
    else
      graphs.at(graph).setOutputs({&value, 1}, /*isBare=*/true);
  }

  uint32_t addStackTrace(std::string text) { return builder.addStackTrace(std::move(text)); }

  uint32_t addModuleStack(const std::vector<std::pair<std::string, std::string>> &frames) {
    std::vector<ModuleFrame> stack;
    for (const auto &[path, className] : frames)
      stack.push_back({path, className});
    return builder.addModuleStack(std::move(stack));
  }

  void addInput(InputKind kind, std::string name, std::string target, bool persistent) {
    builder.program().inputs.push_back({kind, std::move(name), std::move(target), persistent, std::nullopt});
  }

  /// Makes the last input a constant: the value that the program was captured with.
  void setInputConstant(nb::handle value) {
    InputSpec &input = builder.program().inputs.back();
    if (std::optional<std::string> text = enumText(value))
      input.constant = Constant{*std::move(text)};
    else
      input.constant = unwrap(reader.readArgument(value, {}, input.name, "value")).constant();
  }

  /// Specs come in the order of the main graph's outputs, which must have been set.
  void addOutput(OutputKind kind, std::string target) { unwrap(builder.addOutput(kind, std::move(target))); }

  uint32_t addStorage(uintptr_t data, size_t byteSize, nb::object owner, uintptr_t identity) {
    auto make = [&] {
      return std::make_shared<Storage>(
          Storage{keepAlive(std::move(owner)), reinterpret_cast<const std::byte *>(data), byteSize});
    };
    storages.push_back(data == 0 && identity != 0 ? findWithoutData(identity, make) : make());
    return static_cast<uint32_t>(storages.size() - 1);
  }

  void addWeight(bool isConstant, std::string name, nb::handle dtype, std::vector<int64_t> shape,
                 std::vector<int64_t> strides, int64_t storageOffset, uint32_t storage) {
    Weight weight{name,
                  unwrap(reader.readDType(dtype, name)),
                  std::move(shape),
                  std::move(strides),
                  storageOffset,
                  storages.at(storage)};
    Program &program = builder.program();
    (isConstant ? program.constants : program.stateDict).insert_or_assign(std::move(name), std::move(weight));
  }

  void addRangeConstraint(const std::string &expression, std::optional<int64_t> least,
                          std::optional<int64_t> most) {
    Program &program = builder.program();
    RangeConstraint constraint{unwrap(program.expressions.parse(expression)), Range{}};
    constraint.range.min = least.value_or(constraint.range.min);
    constraint.range.max = most.value_or(constraint.range.max);
    program.rangeConstraints.push_back(constraint);
  }

  void setTrees(TreeSpec inputTree, TreeSpec outputTree, std::vector<std::string> argumentNames) {
    Program &program = builder.program();
    program.inputTree = std::move(inputTree);
    program.outputTree = std::move(outputTree);
    program.argumentNames = std::move(argumentNames);
  }

  void setDimensionNames(std::map<std::string, std::string> names) {
    builder.program().dimensionNames = std::move(names);
  }

  /// Verifies and returns the program; the builder is empty afterwards.
  std::shared_ptr<Program> finish() {
    auto program = std::make_shared<Program>(builder.finish());
    unwrap(program->verify());
    return program;
  }

private:
  void readCall(uint32_t graph, nb::handle node, std::string_view op, std::string_view schema, nb::tuple args,
                nb::dict kwargs, nb::handle value, const Label &label) {
    std::string name(label.name);
    const Op *known = schema.empty() ? nullptr : unwrap(builder.program().ops->intern(op, schema));
    std::vector<Argument> positional;
    for (size_t i = 0; i < args.size(); ++i) {
      bool isNamed = known && i < known->argumentNames.size();
      positional.push_back(
          readArgument(graph, args[i], name, isNamed ? known->argumentNames[i] : std::to_string(i)));
    }
    std::vector<KeywordArgument> keywords;
    for (auto [key, argument] : kwargs) {
      std::string keyword = nb::cast<std::string>(key);
      Argument read = readArgument(graph, argument, name, keyword);
      keywords.push_back({std::move(keyword), read});
    }
    Type type = unwrap(reader.readType(value, name));
    remember(graph, node, unwrap(graphs.at(graph).call(op, schema, positional, keywords, type, label)));
  }

  Argument readArgument(uint32_t graph, nb::handle value, const std::string &node, const std::string &name) {
    return unwrap(reader.readArgument(value, nodeMaps.at(graph), node, name));
  }

  void remember(uint32_t graph, nb::handle node, NodeId id) {
    remember(graph, node, Argument{NodeReference{id}});
  }
  void remember(uint32_t graph, nb::handle node, const Argument &value) {
    nodeMaps.at(graph).insert_or_assign(node.ptr(), value);
  }

  nb::object vocabularyObject;
  Builder builder;
  TorchValueReader reader;
  std::vector<GraphBuilder> graphs;
  std::vector<NodeMap> nodeMaps;
  std::vector<std::shared_ptr<const Storage>> storages;
};

static std::map<std::string, size_t> countOps(const Program &program) {
  std::map<std::string, size_t> counts;
  auto count = [&](const Graph &graph) {
    for (const Node &node : graph.nodes)
      if (node.kind == NodeKind::Call)
        ++counts[node.op()];
  };
  count(program.graph);
  for (const Graph &graph : program.subgraphs)
    count(graph);
  return counts;
}

/// (name, op, argument names, source place) of each node of the main graph.
static nb::list listNodes(const Program &program) {
  nb::list nodes;
  for (const Node &node : program.graph.nodes) {
    nb::list names;
    for (const NamedArgument &argument : node.given())
      names.append(argument.name);
    nodes.append(nb::make_tuple(node.name(), node.op(), nb::tuple(names), program.place(node)));
  }
  return nodes;
}

/// name -> (dtype, shape, strides, storage offset, address of the storage) of the state dict or the
/// constants.
static nb::dict listWeights(const std::unordered_map<std::string, Weight> &weights) {
  nb::dict listed;
  for (const auto &[name, weight] : weights)
    listed[nb::str(name.c_str())] =
        nb::make_tuple(std::string(dtypeInfo(weight.dtype).torchName), weight.shape, weight.strides,
                       weight.storageOffset, reinterpret_cast<uintptr_t>(weight.storage->data));
  return listed;
}

static void bindKinds(nb::module_ &module) {
  nb::enum_<InputKind>(module, "InputKind", "What an input of a program is; torch's names.")
      .value("USER_INPUT", InputKind::UserInput)
      .value("PARAMETER", InputKind::Parameter)
      .value("BUFFER", InputKind::Buffer)
      .value("CONSTANT_TENSOR", InputKind::ConstantTensor)
      .value("CUSTOM_OBJ", InputKind::CustomObject)
      .value("TOKEN", InputKind::Token);
  nb::enum_<OutputKind>(module, "OutputKind", "What an output of a program is; torch's names.")
      .value("USER_OUTPUT", OutputKind::UserOutput)
      .value("LOSS_OUTPUT", OutputKind::LossOutput)
      .value("BUFFER_MUTATION", OutputKind::BufferMutation)
      .value("PARAMETER_MUTATION", OutputKind::ParameterMutation)
      .value("GRADIENT_TO_PARAMETER", OutputKind::GradientToParameter)
      .value("GRADIENT_TO_USER_INPUT", OutputKind::GradientToUserInput)
      .value("USER_INPUT_MUTATION", OutputKind::UserInputMutation)
      .value("TOKEN", OutputKind::Token);
}

static void bindBuilder(nb::module_ &module) {
  nb::class_<TorchVocabulary>(module, "TorchVocabulary",
                              "torch's classes and constants, as graphs hold them.")
      .def(nb::init<nb::dict, nb::dict, nb::dict, nb::dict, nb::object>(), nb::arg("classes"),
           nb::arg("dtypes"), nb::arg("layouts"), nb::arg("memory_formats"), nb::arg("number_text"));
  nb::class_<ProgramBuilder>(module, "ProgramBuilder",
                             "Takes a program node by node. Graph 0 is the main one; a node is known by its "
                             "torch.fx.Node, which must live until finish().")
      .def(nb::init<nb::object>(), nb::arg("vocabulary"))
      .def("add_subgraph", &ProgramBuilder::addSubgraph, nb::arg("parent"), nb::arg("name"))
      .def("add_placeholder", &ProgramBuilder::addPlaceholder, nb::arg("graph"), nb::arg("node"),
           nb::arg("name"), nb::arg("value").none())
      .def("add_call", &ProgramBuilder::addCall, nb::arg("graph"), nb::arg("node"), nb::arg("name"),
           nb::arg("op"), nb::arg("schema"), nb::arg("args"), nb::arg("kwargs"), nb::arg("value").none(),
           nb::arg("stack_trace"), nb::arg("module_stack"))
      .def("add_get_attr", &ProgramBuilder::addGetAttr, nb::arg("graph"), nb::arg("node"), nb::arg("name"),
           nb::arg("attribute"), nb::arg("child"), nb::arg("stack_trace"), nb::arg("module_stack"))
      .def("bind", &ProgramBuilder::bind, nb::arg("graph"), nb::arg("node"), nb::arg("value").none(),
           "From now on the torch.fx.Node stands for the value: a node, a constant, or a list of them")
      .def("bind_element", &ProgramBuilder::bindElement, nb::arg("graph"), nb::arg("node"), nb::arg("list"),
           nb::arg("index"), "The same for an element of what a node stands for")
      .def("set_outputs", &ProgramBuilder::setOutputs, nb::arg("graph"), nb::arg("outputs").none())
      .def("add_stack_trace", &ProgramBuilder::addStackTrace, nb::arg("text"))
      .def("add_module_stack", &ProgramBuilder::addModuleStack, nb::arg("frames"))
      .def("add_input", &ProgramBuilder::addInput, nb::arg("kind"), nb::arg("name"), nb::arg("target"),
           nb::arg("persistent"))
      .def("set_input_constant", &ProgramBuilder::setInputConstant, nb::arg("value").none())
      .def("add_output", &ProgramBuilder::addOutput, nb::arg("kind"), nb::arg("target"))
      .def("add_storage", &ProgramBuilder::addStorage, nb::arg("data"), nb::arg("byte_size"),
           nb::arg("owner").none(), nb::arg("identity") = 0,
           "The memory of weights; its address is 0 where it is not there, which its identity then stands "
           "for.")
      .def("add_weight", &ProgramBuilder::addWeight, nb::arg("is_constant"), nb::arg("name"),
           nb::arg("dtype"), nb::arg("shape"), nb::arg("strides"), nb::arg("storage_offset"),
           nb::arg("storage"))
      .def("add_range_constraint", &ProgramBuilder::addRangeConstraint, nb::arg("expression"),
           nb::arg("least").none(), nb::arg("most").none())
      .def(
          "set_trees",
          [](ProgramBuilder &self, std::pair<std::string, std::string> input,
             std::pair<std::string, std::string> output, std::vector<std::string> argumentNames) {
            self.setTrees({input.first, input.second}, {output.first, output.second},
                          std::move(argumentNames));
          },
          nb::arg("input_tree"), nb::arg("output_tree"), nb::arg("argument_names"))
      .def("set_dimension_names", &ProgramBuilder::setDimensionNames, nb::arg("names"))
      .def("finish", &ProgramBuilder::finish);
}

void bindProgram(nb::module_ &module) {
  bindKinds(module);
  bindBuilder(module);
  nb::class_<Program> program(module, "Program", "A captured program as plain data.");
  program.def("__str__", &Program::print)
      .def("verify", [](const Program &self) { unwrap(self.verify()); })
      .def(
          "structural_hash",
          [](const Program &self) {
            auto [high, low] = self.structuralHash();
            return fmt::format("{:016x}{:016x}", high, low);
          },
          "32 digits, equal for programs that compute the same with other names and weights")
      .def("count_ops", &countOps, "op name -> number of calls, those in subgraphs included")
      .def("nodes", &listNodes, "(name, op, argument names, place) of each node of the main graph")
      .def_prop_ro(
          "state_dict", [](const Program &self) { return listWeights(self.stateDict); },
          "name -> (dtype, shape, strides, storage offset, address of the storage)")
      .def_prop_ro("constants", [](const Program &self) { return listWeights(self.constants); })
      .def_prop_ro("input_tree", [](const Program &self) { return self.inputTree.json; })
      .def_prop_ro("output_tree", [](const Program &self) { return self.outputTree.json; })
      .def_prop_ro("argument_names", [](const Program &self) { return self.argumentNames; });
  bindProgramNodes(module, program);
}

} // namespace torchere::bindings

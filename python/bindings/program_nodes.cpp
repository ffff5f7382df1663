// A program's main graph as Python values, and parts of it as programs: to run nodes one by one.
#include "bindings/program_nodes.h"

#include "program/extraction.h"
#include "program/stack_trace.h"

#include <nanobind/stl/complex.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace torchere::bindings {

using namespace program;

namespace {

/// A node among another's arguments.
struct NodeValue {
  NodeId index;
};

/// A constant that Python knows as an object of torch's: ("dtype", "float32").
struct TorchConstant {
  std::string kind;
  std::string name;
};

struct ProgramNode {
  std::string name, op, schema, kind;
  std::vector<std::pair<std::string, nb::object>> arguments;
  std::string typeKind, dtype; ///< "tensor", "number", "list" or "none"; the dtype of a tensor
  nb::list shape;              ///< of a tensor: ints, and texts of expressions
  std::string file, line, code, place, modulePath;
};

} // namespace

static nb::object asPython(const Constant &constant);
static nb::object asPython(const Argument &argument);

template <class List> static nb::object listAsPython(const List &elements, bool isTuple) {
  nb::list list;
  for (const auto &element : elements)
    list.append(asPython(element));
  return isTuple ? nb::object(nb::tuple(list)) : nb::object(list);
}

static nb::object asPython(const Constant &constant) {
  return std::visit(
      [&](const auto &value) -> nb::object {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>)
          return nb::none();
        else if constexpr (std::is_same_v<T, DType>)
          return nb::cast(TorchConstant{"dtype", std::string(dtypeInfo(value).torchName)});
        else if constexpr (std::is_same_v<T, Device>)
          return nb::cast(TorchConstant{"device", value.name});
        else if constexpr (std::is_same_v<T, Layout>)
          return nb::cast(TorchConstant{"layout", value.name});
        else if constexpr (std::is_same_v<T, MemoryFormat>)
          return nb::cast(TorchConstant{"memory_format", value.name});
        else if constexpr (std::is_same_v<T, OpReference>)
          return nb::cast(TorchConstant{"op", value.name});
        else if constexpr (std::is_same_v<T, Constant::List>)
          return listAsPython(value, constant.isTuple);
        else
          return nb::cast(value);
      },
      constant.value);
}

static nb::object asPython(const Argument &argument) {
  if (const auto *reference = argument.as<NodeReference>())
    return nb::cast(NodeValue{reference->node});
  if (const auto *list = argument.as<Argument::List>())
    return listAsPython(*list, list->isTuple);
  if (argument.as<GraphReference>())
    return nb::none();
  return asPython(*argument.constant());
}

static void describeType(const Program &program, const Type &type, ProgramNode &node) {
  node.typeKind = type.as<Type::List>() ? "list" : numberDType(type) ? "number" : "none";
  const auto *tensor = type.as<TensorType>();
  if (!tensor)
    return;
  node.typeKind = "tensor";
  node.dtype = std::string(dtypeInfo(tensor->dtype).torchName);
  for (SymInt size : tensor->shape)
    node.shape.append(size.isConstant() ? nb::object(nb::int_(size.constant()))
                                        : nb::cast(program.expressions.print(size)));
}

static void describePlace(const Program &program, const Node &node, ProgramNode &described) {
  described.place = program.place(node);
  if (std::optional<StackFrame> frame = userFrame(program.stackTraces[node.stackTrace()])) {
    described.file = std::string(frame->file);
    described.line = std::string(frame->line);
    described.code = std::string(frame->code);
  }
  const std::vector<ModuleFrame> &modules = program.moduleStacks[node.moduleStack()];
  described.modulePath = modules.empty() ? "" : modules.back().path;
}

static std::vector<ProgramNode> graphNodes(const Program &program) {
  constexpr const char *kinds[] = {"placeholder", "call", "get_attr"};
  std::vector<ProgramNode> nodes;
  for (NodeId id = 0; id < program.graph.nodes.size(); ++id) {
    const Node &node = program.graph.nodes[id];
    ProgramNode &described = nodes.emplace_back();
    described.name = program.graph.nameOf(id);
    described.op = node.op();
    described.schema = node.callee && node.callee->schema ? node.callee->schema->source : "";
    described.kind = kinds[static_cast<size_t>(node.kind)];
    for (const NamedArgument &argument : node.given())
      described.arguments.emplace_back(argument.name, asPython(argument.value));
    describeType(program, node.type, described);
    describePlace(program, node, described);
  }
  return nodes;
}

void bindProgramNodes(nb::module_ &module, nb::class_<Program> &program) {
  nb::class_<NodeValue>(module, "NodeValue", "A node among another's arguments.")
      .def_ro("index", &NodeValue::index);
  nb::class_<TorchConstant>(module, "TorchConstant",
                            "A constant that is an object of torch's: of the kind \"dtype\", \"device\", "
                            "\"layout\", \"memory_format\" or \"op\".")
      .def_ro("kind", &TorchConstant::kind)
      .def_ro("name", &TorchConstant::name);
  nb::class_<ProgramNode>(module, "ProgramNode", "A node of a program's main graph.")
      .def_ro("name", &ProgramNode::name)
      .def_ro("op", &ProgramNode::op)
      .def_ro("schema", &ProgramNode::schema)
      .def_ro("kind", &ProgramNode::kind, "\"placeholder\", \"call\" or \"get_attr\"")
      .def_ro("arguments", &ProgramNode::arguments, "(name, value) of those given, by position")
      .def_ro("type_kind", &ProgramNode::typeKind, "\"tensor\", \"number\", \"list\" or \"none\"")
      .def_ro("dtype", &ProgramNode::dtype)
      .def_ro("shape", &ProgramNode::shape, "ints, and expressions as texts")
      .def_ro("file", &ProgramNode::file)
      .def_ro("line", &ProgramNode::line)
      .def_ro("code", &ProgramNode::code)
      .def_ro("place", &ProgramNode::place)
      .def_ro("module_path", &ProgramNode::modulePath);
  program.def("graph_nodes", &graphNodes, "The nodes of the main graph.");
  program.def(
      "extract",
      [](const std::shared_ptr<Program> &self, const std::vector<NodeId> &outputs,
         const std::vector<NodeId> &inputs) { return unwrap(extract(self, outputs, inputs)); },
      nb::arg("outputs"), nb::arg("inputs"),
      "The part of the main graph that computes `outputs` from `inputs` on, as a program without weights.");
  program.def_prop_ro(
      "inputs",
      [](const Program &self) {
        std::vector<std::pair<std::string, std::string>> inputs;
        for (const InputSpec &input : self.inputs)
          inputs.emplace_back(input.name, input.target);
        return inputs;
      },
      "(name, target) of each placeholder; the target is a weight's name");
  program.def_prop_ro(
      "mutations",
      [](const Program &self) {
        std::vector<std::pair<OutputKind, std::string>> mutations;
        for (const OutputSpec &output : self.outputs)
          if (!output.target.empty())
            mutations.emplace_back(output.kind, output.target);
        return mutations;
      },
      "(kind, target) of each output that is a new value of a weight or an input");
}

} // namespace torchere::bindings

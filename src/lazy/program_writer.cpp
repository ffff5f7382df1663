// Programs from graphs of calls.
#include "lazy/program_writer.h"

#include "program/builder.h"

#include <bit>
#include <cstring>
#include <unordered_map>

namespace torchere::lazy {

using program::Argument;

namespace {

constexpr std::pair<at::ScalarType, DType> dtypes[] = {
    {at::ScalarType::Bool, DType::Bool},          {at::ScalarType::Char, DType::I8},
    {at::ScalarType::Short, DType::I16},          {at::ScalarType::Int, DType::I32},
    {at::ScalarType::Long, DType::I64},           {at::ScalarType::Byte, DType::U8},
    {at::ScalarType::UInt16, DType::U16},         {at::ScalarType::UInt32, DType::U32},
    {at::ScalarType::UInt64, DType::U64},         {at::ScalarType::Half, DType::F16},
    {at::ScalarType::BFloat16, DType::BF16},      {at::ScalarType::Float, DType::F32},
    {at::ScalarType::Double, DType::F64},         {at::ScalarType::ComplexFloat, DType::C64},
    {at::ScalarType::ComplexDouble, DType::C128},
};

/// All programs' ops, interned once.
std::shared_ptr<program::OpInterner> sharedOps() {
  static const auto ops = std::make_shared<program::OpInterner>();
  return ops;
}

class ProgramWriter {
public:
  explicit ProgramWriter(const Graph &graph) : graph(graph) {}

  Result<program::Program> write(const std::vector<ProgramInput> &inputs,
                                 const std::vector<program::OutputSpec> &specs) {
    leaves.resize(graph.leaves.size());
    for (const ProgramInput &input : inputs)
      TORCHERE_TRY(addInput(input));
    for (size_t i = 0; i < graph.calls.size(); ++i)
      TORCHERE_TRY(addNode(i));
    std::vector<Argument> outputs;
    auto word = graph.outputs.begin();
    for (const program::OutputSpec &spec : specs)
      outputs.push_back(spec.value.isGiven() ? spec.value : readOperand(*word++));
    builder.main().setOutputs(outputs);
    for (const program::OutputSpec &spec : specs)
      TORCHERE_TRY(builder.addOutput(spec.kind, spec.target));
    return builder.finish();
  }

private:
  Status addInput(const ProgramInput &input) {
    const TensorType *type = input.leaves.empty() ? input.type : graph.leaves[input.leaves.front()].type;
    TORCHERE_ASSIGN(program::Type known, type ? typeOf(*type) : Result<program::Type>(program::Type()));
    program::NodeId node = builder.main().placeholder(known, label(input.spec.name));
    for (uint32_t leaf : input.leaves)
      leaves[leaf] = node;
    builder.program().inputs.push_back(input.spec);
    return {};
  }

  /// Every op of the table has the schema by which its calls were recorded.
  Status addNode(size_t index) {
    const Call &call = *graph.calls[index];
    TORCHERE_ASSIGN(const program::Op *op, sharedOps()->intern(call.op->name, call.op->schema));
    word = call.key.data();
    operand = graph.operands.data() + graph.firstOperand[index];
    std::vector<Argument> arguments;
    for (const uint64_t *end = word + call.key.size(); word != end;)
      arguments.push_back(readArgument());
    std::vector<program::Type> types;
    for (const TensorType *type : call.results) {
      TORCHERE_ASSIGN(program::Type known, type ? typeOf(*type) : Result<program::Type>(program::Type()));
      types.push_back(known);
    }
    bool isSingle = types.size() == 1 && !call.returnsList;
    program::Type type = isSingle ? types.front() : builder.type(program::Type::List(types));
    std::string name = fmt::format("v{}", index);
    line = graph.lines[index];
    program::NodeId node = builder.main().call(op, arguments, type, label(name));
    std::vector<program::NodeId> &results = values.emplace_back();
    for (size_t i = 0; i < types.size(); ++i)
      results.push_back(isSingle ? node : addElement(node, i, types[i], fmt::format("{}_{}", name, i)));
    return {};
  }

  program::NodeId addElement(program::NodeId list, size_t index, program::Type type,
                             const std::string &name) {
    static const program::Op *op =
        sharedOps()->intern("_operator.getitem", std::vector<std::string>{"0", "1"});
    const Argument arguments[] = {{program::NodeReference{list}}, {static_cast<int64_t>(index)}};
    return builder.main().call(op, arguments, type, label(name));
  }

  Argument readArgument() {
    uint64_t tag = *word++, count = tag >> 8;
    switch (static_cast<ArgumentTag>(tag & 0xff)) {
    case ArgumentTag::None:
      return {};
    case ArgumentTag::Operand:
      ++word;
      return readOperand(*operand++);
    case ArgumentTag::Int:
      return {static_cast<int64_t>(*word++)};
    case ArgumentTag::Float:
      return {std::bit_cast<double>(*word++)};
    case ArgumentTag::Complex: {
      double real = std::bit_cast<double>(*word++), imaginary = std::bit_cast<double>(*word++);
      return builder.constant({std::complex<double>(real, imaginary)});
    }
    case ArgumentTag::Bool:
      return {*word++ != 0};
    case ArgumentTag::DType:
      return builder.constant({static_cast<DType>(*word++)});
    case ArgumentTag::MemoryFormat: {
      constexpr const char *names[] = {"contiguous_format", "preserve_format", "channels_last",
                                       "channels_last_3d"};
      return builder.constant({program::MemoryFormat{names[*word++ & 3]}});
    }
    case ArgumentTag::String: {
      std::string text(count, '\0');
      std::memcpy(text.data(), word, count);
      word += (count + 7) / 8;
      return builder.constant({std::move(text)});
    }
    case ArgumentTag::List: {
      std::vector<Argument> elements;
      for (uint64_t i = 0; i < count; ++i)
        elements.push_back(readArgument());
      return builder.list(elements);
    }
    }
    return {};
  }

  Argument readOperand(uint64_t known) {
    if (isLeafWord(known))
      return {program::NodeReference{leaves[numberIn(known)]}};
    return {program::NodeReference{values[numberIn(known)][resultIn(known)]}};
  }

  Result<program::Type> typeOf(const TensorType &type) {
    TORCHERE_ASSIGN(DType dtype, programDType(type.dtype));
    std::vector<program::SymInt> shape(type.sizes.begin(), type.sizes.end());
    return builder.tensorType(dtype, shape);
  }

  const program::Label *label(const std::string &name) {
    program::Label label;
    label.name = name;
    label.stackTrace = line ? traceOf(*line) : 0;
    return builder.label(label);
  }

  uint32_t traceOf(const SourceLine &known) {
    auto [entry, isNew] = traces.try_emplace(&known, 0);
    if (isNew)
      entry->second = builder.addStackTrace(known.trace());
    return entry->second;
  }

  const Graph &graph;
  program::Builder builder{sharedOps()};
  std::vector<program::NodeId> leaves;
  std::vector<std::vector<program::NodeId>> values; ///< by node of the graph: its results
  const uint64_t *word = nullptr;                   ///< of the call's key, the next one
  const uint64_t *operand = nullptr;
  const SourceLine *line = nullptr; ///< of the node that is being written
  std::unordered_map<const SourceLine *, uint32_t> traces;
};

} // namespace

Result<DType> programDType(at::ScalarType dtype) {
  for (auto [torch, ours] : dtypes)
    if (torch == dtype)
      return ours;
  return fail(ErrorCode::Unimplemented, "[xla] no such dtype on the device: got {}", c10::toString(dtype));
}

at::ScalarType torchDType(DType dtype) {
  for (auto [torch, ours] : dtypes)
    if (ours == dtype)
      return torch;
  return at::ScalarType::Undefined;
}

Result<program::Program> writeProgram(const Graph &graph, const std::vector<ProgramInput> &inputs,
                                      const std::vector<program::OutputSpec> &outputs) {
  return ProgramWriter(graph).write(inputs, outputs);
}

Result<program::Program> writeProgram(const Graph &graph) {
  std::vector<ProgramInput> inputs(graph.leaves.size());
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    inputs[i].spec.name = fmt::format("p{}", i);
    inputs[i].leaves = {i};
  }
  program::OutputSpec output;
  output.value = {program::NotGiven{}};
  return writeProgram(graph, inputs, std::vector<program::OutputSpec>(graph.outputs.size(), output));
}

} // namespace torchere::lazy

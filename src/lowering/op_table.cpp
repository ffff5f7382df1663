// OpTable: its rows, and the lowering of one call.
#include "lowering/op_table.h"

#include "stablehlo/text_of.h"

#include "mlir/IR/TypeUtilities.h"

#include <cstdio>
#include <cstdlib>

namespace torchere::lowering {

const OpTable &OpTable::instance() {
  static const OpTable table = [] {
    OpTable result;
    addAllFamilies(result);
    return result;
  }();
  return table;
}

void OpTable::addRow(std::string_view schema, AsComposite composite, bool givesSizes, Lowering lowering) {
  auto parsed = schema::Schema::parse(schema);
  std::string problem;
  if (!parsed)
    problem = parsed.error().text();
  else if (!table
                .emplace(parsed->name,
                         Row{*parsed, std::move(lowering), std::string(composite.name), givesSizes})
                .second)
    problem = fmt::format("[{}] a second row for one op", parsed->name);
  if (problem.empty())
    return;
  std::fputs((problem + "\n").c_str(), stderr);
  std::abort();
}

const OpTable::Row *OpTable::find(std::string_view name) const {
  auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

namespace {

/// Turns numbers given for tensors, and sizes given for numbers, into 0-d tensors.
void wrapNumbers(Context &cx, Args &args) {
  args.rewriteNumbers([&](schema::TypeKind kind, Argument &argument) {
    if (const Dim *dim = argument.as<Dim>()) {
      argument.value = cx.sizeTensor(*dim);
      return;
    }
    if (kind != schema::TypeKind::Tensor)
      return;
    if (const int64_t *value = argument.as<int64_t>())
      argument.value = cx.number(*value);
    else if (const double *value = argument.as<double>())
      argument.value = cx.number(*value);
    else if (const bool *value = argument.as<bool>())
      argument.value = cx.number(*value);
    else if (const std::complex<double> *value = argument.as<std::complex<double>>())
      argument.value = cx.number(*value);
  });
}

bool hasType(mlir::Value value, mlir::RankedTensorType expected) {
  auto type = mlir::cast<mlir::RankedTensorType>(value.getType());
  return type.getElementType() == expected.getElementType() &&
         mlir::succeeded(mlir::verifyCompatibleShape(type, expected));
}

} // namespace

Result<Values> OpTable::lower(const Row &row, Context &cx, std::vector<GivenArgument> arguments,
                              std::vector<TensorType> resultTypes) const {
  TORCHERE_ASSIGN(Args args, Args::bind(row.schema, std::move(arguments)));
  cx.beginOp(row.schema.name, std::move(resultTypes));
  wrapNumbers(cx, args);
  TORCHERE_ASSIGN(Values values, row.lowering(cx, args));
  if (args.failure())
    return tl::unexpected<Error>(*args.failure());
  if (values.size() != cx.resultCount())
    return fail(ErrorCode::Internal, "[{}] the lowering gave {} results, expected {}", row.schema.name,
                values.size(), cx.resultCount());
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i])
      continue; // nothing reads this result
    const TensorType &expected = cx.resultType(i);
    mlir::RankedTensorType type = cx.tensorType(expected.shape, expected.dtype);
    if (!hasType(values[i], type))
      return fail(ErrorCode::Internal, "[{}] the lowering gave {} for result {}, expected {}",
                  row.schema.name, stablehlo::textOf(values[i].getType()), i, stablehlo::textOf(type));
    cx.withShape(values[i], expected.shape);
  }
  return values;
}

} // namespace torchere::lowering

// The interpreter dialect's ops, and the assertion about a probe's output.
#include "interpreter/call.h"
#include "interpreter/evaluator.h"

#include "base/file.h"
#include "base/folder.h"
#include "base/npy.h"

#include <cstdio>
#include <cstring>

namespace torchere::interpreter {

namespace {

Result<Values> print(const Call &call) {
  std::string text = call.operand(0).text() + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout); // before other code prints results
  return call.values();
}

Result<DType> storedType(ElementType type) {
  if (std::optional<DType> dtype = elementTypeInfo(type).dtype)
    return *dtype;
  return fail(ErrorCode::Unimplemented, "elements of type {} cannot be written to a file",
              elementTypeInfo(type).name);
}

/// "DIRECTORY/PROBE_ID_ITERATION.npy".
Result<std::filesystem::path> probeFile(const Call &call, int64_t iteration) {
  std::string probe = call.string("probe_id");
  const std::string &directory = call.evaluator().options().probeDirectory;
  if (directory.empty())
    return fail(ErrorCode::FailedPrecondition, "no directory for probes is given (--probe-output-dir)");
  TORCHERE_TRY(checkRelativeName(probe, "probe_id"));
  return std::filesystem::path(directory) / fmt::format("{}_{}.npy", probe, iteration);
}

/// Next to the file, index.csv records which probe wrote which file.
Result<Values> probe(const Call &call) {
  const Tensor &operand = call.operand(0);
  std::string id = call.string("probe_id");
  TORCHERE_ASSIGN(DType dtype, storedType(operand.type()));
  TORCHERE_ASSIGN(std::filesystem::path path, probeFile(call, call.evaluator().nextIteration(id)));
  TORCHERE_TRY(makeDirectories(path.parent_path()));
  std::string contents = makeNpyHeader(dtype, operand.shape());
  contents.append(reinterpret_cast<const char *>(operand.bytes().data()), operand.bytes().size());
  TORCHERE_TRY(writeFile(path, contents));
  std::filesystem::path index =
      std::filesystem::path(call.evaluator().options().probeDirectory) / "index.csv";
  std::string rows;
  if (std::filesystem::exists(index)) {
    TORCHERE_ASSIGN(rows, readFile(index, size_t(1) << 30));
  }
  rows += fmt::format("{},{},{}\n", id, operand.typeText(), path.filename().string());
  TORCHERE_TRY(writeFile(index, rows));
  return call.values();
}

Result<Values> expectSerializedEq(const Call &call) {
  const Tensor &expected = call.operand(0);
  auto attribute = call.attribute<mlir::IntegerAttr>("iteration");
  int64_t iteration = attribute ? static_cast<int64_t>(attribute.getValue().getZExtValue()) : 1;
  TORCHERE_ASSIGN(std::filesystem::path path, probeFile(call, iteration));
  TORCHERE_ASSIGN(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  TORCHERE_ASSIGN(NpyHeader header, parseNpyHeader(file->bytes(), path.string()));
  TORCHERE_ASSIGN(DType dtype, storedType(expected.type()));
  if (header.descr != dtypeInfo(dtype).descr || header.shape != expected.shape())
    return invalidArgument("{} holds \"{}\" of shape [{}], expected {}", path.string(), header.descr,
                           fmt::join(header.shape, ", "), expected.typeText());
  if (std::memcmp(file->bytes().data() + header.dataOffset, expected.bytes().data(), expected.bytes().size()))
    return invalidArgument("{} holds other elements than expected: {}", path.string(), expected.text());
  return Values();
}

} // namespace

void addInstrumentation(EvaluationTable &table) {
  table.add("check.expect_serialized_eq", expectSerializedEq);
  table.add("interpreter.print", print);
  table.add("interpreter.probe", probe);
}

} // namespace torchere::interpreter

// load(): a bundle read from its directory or file.
#include "artifact/bundle.h"
#include "artifact/directory_contents.h"
#include "artifact/directory_names.h"
#include "artifact/function_module.h"
#include "artifact/manifest.h"
#include "artifact/meta.h"
#include "artifact/program_files.h"
#include "artifact/read_ahead.h"
#include "artifact/signature.h"
#include "artifact/verification.h"
#include "artifact/weight_file.h"
#include "base/folder.h"
#include "base/log.h"
#include "passes/precision/product_precision.h"
#include "vhlo/portable_artifact.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace torchere::artifact {

namespace fs = std::filesystem;
using namespace program;

static constexpr size_t textSizeLimit = size_t(4) << 30;

namespace {

/// Reads through what is open, never through its path, which may name another program by now.
class ProgramReader {
public:
  ProgramReader(const ProgramFiles &files, const LoadOptions &options) : files(files), options(options) {}

  Result<Bundle> read() {
    if (options.verify) {
      TORCHERE_ASSIGN(std::vector<FileFinding> findings, findDamage(files));
      TORCHERE_TRY(statusOf(findings, files.path()));
    }
    TORCHERE_TRY(readManifestFile());
    bundle.hasWeights = options.mapWeights && (manifest ? manifest->hasWeights : files.has(weightFolder));
    std::vector<const WeightEntry *> entries = weightsWithFiles();
    ReadAhead<Result<Weight>, ReadListed> weights(entries.size(), {this, &entries}); // beside the functions
    TORCHERE_ASSIGN(std::vector<std::string> names, functionNames());
    for (const std::string &name : names) {
      TORCHERE_ASSIGN(Function function, readFunction(name));
      bundle.functions.push_back(std::move(function));
    }
    TORCHERE_TRY(readConstants());
    if (manifest)
      TORCHERE_TRY(addListedWeights(weights));
    else
      TORCHERE_TRY(bundle.hasWeights ? readFoundWeights() : addTakenWeights());
    TORCHERE_TRY(verify(bundle));
    return std::move(bundle);
  }

private:
  struct ReadListed {
    const ProgramReader *reader;
    const std::vector<const WeightEntry *> *entries;
    Result<Weight> operator()(size_t index) const {
      const WeightEntry &entry = *(*entries)[index];
      TORCHERE_TRY(checkRelativeName(entry.name, "weight"));
      return reader->readListed(weightName(entry.name), entry);
    }
  };

  /// Of the manifest, those that share no other's file.
  std::vector<const WeightEntry *> weightsWithFiles() const {
    std::vector<const WeightEntry *> entries;
    if (!manifest)
      return entries;
    for (const WeightEntry &entry : manifest->weights)
      if (entry.sameAs.empty())
        entries.push_back(&entry);
    return entries;
  }

  std::string subject(std::string_view name) const { return (files.path() / name).string(); }

  Status readManifestFile() {
    if (!files.has(manifestName))
      return {};
    TORCHERE_ASSIGN(std::string text, files.read(manifestName, jsonSizeLimit));
    TORCHERE_ASSIGN(manifest, readManifest(text, subject(manifestName)));
    return {};
  }

  /// torch.export.save puts all of its file below one folder.
  Status checkIsNotTorchs() const {
    if (files.has(functionFolder))
      return {};
    auto entries = files.list("");
    bool isTorchs = entries && std::ranges::any_of(*entries, [&](const FolderEntry &entry) {
                      return (entry.isFolder && files.has(entry.name + "/archive_format")) ||
                             entry.name == "serialized_exported_program.json"; // up to torch 2.6
                    });
    if (!isTorchs)
      return {};
    return invalidArgument("[{}] is a file of torch.export.save: expected a saved program, "
                           "as torchere.export(torch.export.load(path)).save(...) writes",
                           files.path().string());
  }

  /// As listed in the manifest; without one, every NAME.meta, "forward" first.
  Result<std::vector<std::string>> functionNames() const {
    if (manifest) {
      for (const std::string &name : manifest->functions)
        TORCHERE_TRY(checkFunctionName(name));
      return manifest->functions;
    }
    TORCHERE_TRY(checkIsNotTorchs());
    if (!files.has(functionFolder))
      return systemError(files.path() / functionFolder, "is no saved program's directory", ENOENT);
    TORCHERE_ASSIGN(std::vector<FolderEntry> entries, files.list(functionFolder));
    std::vector<std::string> names;
    for (const FolderEntry &entry : entries)
      if (fs::path path(entry.name); path.extension() == ".meta")
        names.push_back(path.stem().string());
    if (names.empty())
      return fail(ErrorCode::NotFound, "[{}] holds no NAME.meta: expected one for each function",
                  subject(functionFolder));
    std::sort(names.begin(), names.end(), [](const std::string &left, const std::string &right) {
      return std::pair(left != "forward", left) < std::pair(right != "forward", right);
    });
    return names;
  }

  Result<Function> readFunction(const std::string &name) {
    Function function;
    TORCHERE_ASSIGN(std::string metaText, files.read(metaName(name), jsonSizeLimit));
    bool hasSignature = manifest || files.has(signatureName(name));
    TORCHERE_ASSIGN(function.entryPoint, readMeta(metaText, subject(metaName(name)), !hasSignature));
    if (function.entryPoint.name != name)
      return fail(ErrorCode::DataLoss, "[{}] describes another function: got \"{}\", expected \"{}\"",
                  subject(metaName(name)), function.entryPoint.name, name);
    TORCHERE_TRY(verifyEntryPoint(function.entryPoint, subject(metaName(name))));
    if (hasSignature) {
      TORCHERE_ASSIGN(std::string text, files.read(signatureName(name), jsonSizeLimit));
      TORCHERE_ASSIGN(EntryPoint entryPoint, readSignature(text, subject(signatureName(name))));
      TORCHERE_TRY(checkMetaAgrees(function.entryPoint, entryPoint, subject(metaName(name))));
      function.entryPoint = std::move(entryPoint);
    }
    TORCHERE_TRY(readModuleFiles(name, function));
    return function;
  }

  /// The bytecode, which is smaller and faster to read than the text. The text is used if there is no
  /// bytecode, or if it is of a newer StableHLO than ours.
  Status readModuleFiles(const std::string &name, Function &function) {
    if (files.has(bytecodeName(name))) {
      TORCHERE_ASSIGN(function.bytecode, files.read(bytecodeName(name), textSizeLimit));
      Status readable = checkReadable(function.bytecode, subject(bytecodeName(name)));
      if (readable)
        return {};
      if (!files.has(textName(name)))
        return readable;
      TORCHERE_LOG_LINE(Info, "load", "{}: the text is read instead", readable.error().message);
      function.bytecode.clear();
    }
    TORCHERE_ASSIGN(function.text, files.read(textName(name), textSizeLimit));
    return {};
  }

  static Status checkReadable(const std::string &bytecode, const std::string &subject) {
    TORCHERE_ASSIGN(vhlo::Version version, vhlo::artifactVersion(bytecode, subject));
    if (version.opset() > vhlo::currentVersion)
      return fail(ErrorCode::Unimplemented,
                  "[{}] is of a newer StableHLO than ours: got {}, expected {} at most", subject,
                  version.text(), vhlo::currentVersion.text());
    return {};
  }

  /// What the functions require of the weight or constant.
  const EntryInput *findInput(auto &&matches) const {
    for (const Function &function : bundle.functions)
      for (const EntryInput &input : function.entryPoint.inputs)
        if (matches(input))
          return &input;
    return nullptr;
  }

  Result<Weight> readArray(const std::string &file, const std::string &name,
                           std::optional<DType> dtype) const {
    Result<FileBytes> mapped = files.map(file);
    if (!mapped && mapped.error().code == ErrorCode::NotFound && !files.has(file))
      return fail(ErrorCode::NotFound, "[{}] its file is missing: {}", name, subject(file));
    if (!mapped)
      return tl::unexpected(std::move(mapped).error());
    return weightOf(*std::move(mapped), subject(file), name, dtype);
  }

  Result<Weight> readListed(const std::string &file, const WeightEntry &entry) const {
    if (!entry.hasData || (!bundle.hasWeights && file.starts_with(weightFolder)))
      return weightWithoutData(entry.name, entry.dtype, entry.shape, subject(manifestName));
    TORCHERE_ASSIGN(Weight weight, readArray(file, entry.name, entry.dtype));
    if (weight.shape != entry.shape)
      return fail(ErrorCode::DataLoss, "[{}] wrong shape: got {}, expected {} by {}", subject(file),
                  shapeText(weight.shape), shapeText(entry.shape), manifestName);
    return weight;
  }

  Status readConstants() {
    if (manifest) {
      for (const WeightEntry &entry : manifest->constants) {
        TORCHERE_ASSIGN(Weight constant, readListed(constantName(bundle.constants.size()), entry));
        bundle.constants.push_back(std::move(constant));
      }
      return {};
    }
    for (size_t index = 0; files.has(constantName(index)); ++index) {
      const EntryInput *input = findInput([&](const EntryInput &candidate) {
        return candidate.source == InputSource::Constant && static_cast<size_t>(candidate.position) == index;
      });
      TORCHERE_ASSIGN(Weight constant, readArray(constantName(index), fmt::format("constant_{}", index),
                                                 input ? std::optional(input->type.dtype) : std::nullopt));
      bundle.constants.push_back(std::move(constant));
    }
    return {};
  }

  /// The types of weights that are not there, as far as the functions say.
  Status addTakenWeights() {
    for (const Function &function : bundle.functions)
      for (const EntryInput &input : function.entryPoint.inputs) {
        if (input.source == InputSource::UserInput || input.source == InputSource::Constant)
          continue;
        std::vector<int64_t> shape;
        for (SymInt size : input.type.shape)
          shape.push_back(size.isConstant() ? size.constant() : -1);
        TORCHERE_ASSIGN(Weight weight, weightWithoutData(input.name, input.type.dtype, std::move(shape),
                                                         subject(metaName(function.entryPoint.name))));
        bundle.stateDict.emplace(input.name, std::move(weight));
      }
    return {};
  }

  Status addListedWeights(ReadAhead<Result<Weight>, ReadListed> &read) {
    size_t taken = 0;
    for (const WeightEntry &entry : manifest->weights) {
      Weight weight;
      if (entry.sameAs.empty()) {
        TORCHERE_ASSIGN(weight, read.take(taken++));
      } else {
        TORCHERE_TRY(checkRelativeName(entry.name, "weight"));
        weight = bundle.stateDict.at(entry.sameAs); // readManifest() has checked that it precedes this one
        weight.name = entry.name;
      }
      if (!bundle.stateDict.emplace(entry.name, std::move(weight)).second)
        return fail(ErrorCode::DataLoss, "[{}] lists the weight \"{}\" twice", subject(manifestName),
                    entry.name);
    }
    return {};
  }

  /// Every file under data/, as PyTorch/XLA writes them; hidden files belong to the desktop environment.
  Status readFoundWeights() {
    TORCHERE_ASSIGN(std::vector<FolderEntry> entries, files.listAll(weightFolder));
    for (const FolderEntry &entry : entries) {
      std::string name = entry.name.substr(weightFolder.size() + 1);
      if (entry.isFolder || fs::path(name).filename().string().starts_with('.'))
        continue;
      const EntryInput *input = findInput([&](const EntryInput &candidate) {
        return candidate.source != InputSource::UserInput && candidate.source != InputSource::Constant &&
               candidate.name == name;
      });
      TORCHERE_ASSIGN(Weight weight, readArray(weightName(name), name,
                                               input ? std::optional(input->type.dtype) : std::nullopt));
      bundle.stateDict.emplace(name, std::move(weight));
    }
    return {};
  }

  const ProgramFiles &files;
  const LoadOptions &options;
  std::optional<Manifest> manifest;
  Bundle bundle;
};

} // namespace

static Result<Bundle> readProgram(const fs::path &path, const LoadOptions &options) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    TORCHERE_ASSIGN(ZipFiles files, ZipFiles::open(path));
    return ProgramReader(files, options).read();
  }
  if (!fs::is_directory(path, error))
    return fail(fs::exists(path, error) ? ErrorCode::InvalidArgument : ErrorCode::NotFound,
                "[{}] {}: expected the directory or the file of a saved program", path.string(),
                fs::exists(path, error) ? "is no directory and no file" : "does not exist");
  return readUnreplaced(
      path, [&](const Folder &folder) { return ProgramReader(FolderFiles(folder), options).read(); });
}

Result<Bundle> load(const fs::path &path, const LoadOptions &options) {
  if (!options.precision.empty())
    TORCHERE_TRY(passes::checkPrecision(options.precision));
  TORCHERE_ASSIGN(Bundle bundle, readProgram(path, options));
  if (!options.precision.empty())
    for (Function &function : bundle.functions)
      TORCHERE_TRY(setPrecision(function, options.precision));
  return bundle;
}

} // namespace torchere::artifact

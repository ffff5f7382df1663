// LoweringRegistry: lowerings of ops from libraries that the program has loaded.
#include "exporter/lowering_registry.h"

#include "lowering/op_table.h"

#include <torchere/lowering.h>

#include <dlfcn.h>

#include <optional>

namespace torchere::exporter {

namespace {

/// What a library's function answers.
struct Answer {
  std::optional<std::string> text;
  std::optional<std::string> error;
};

TextLowering fromLibrary(torchere_lowering_function function, void *userData) {
  return [function, userData](const LoweringCall &call) -> Result<std::string> {
    std::vector<const char *> operands, results;
    for (const std::string &type : call.operands)
      operands.push_back(type.c_str());
    for (const std::string &type : call.results)
      results.push_back(type.c_str());
    torchere_lowering_call given{sizeof(torchere_lowering_call),
                                 call.op.c_str(),
                                 operands.data(),
                                 operands.size(),
                                 results.data(),
                                 results.size(),
                                 call.arguments.c_str()};
    Answer answer;
    torchere_lowering_reply reply{
        sizeof(torchere_lowering_reply), &answer,
        [](void *context, const char *text) { static_cast<Answer *>(context)->text = text ? text : ""; },
        [](void *context, const char *message) {
          static_cast<Answer *>(context)->error = message ? message : "unknown";
        }};
    function(&given, &reply, userData);
    if (answer.error)
      return invalidArgument("[{}] the library's lowering failed: {}", call.op, *answer.error);
    if (!answer.text)
      return invalidArgument("[{}] the library's lowering gave neither a text nor an error", call.op);
    return *std::move(answer.text);
  };
}

/// What a library adds while it is asked.
struct Additions {
  std::vector<std::pair<std::string, TextLowering>> entries;
  std::optional<std::string> problem;
};

int addToList(void *context, const char *schema, torchere_lowering_function function, void *userData) {
  auto &additions = *static_cast<Additions *>(context);
  if (!schema || !function) {
    additions.problem = "got a null pointer, expected a schema and a function";
    return 1;
  }
  if (auto parsed = schema::Schema::parse(schema); !parsed) {
    additions.problem = parsed.error().text();
    return 1;
  }
  additions.entries.emplace_back(schema, fromLibrary(function, userData));
  return 0;
}

} // namespace

LoweringRegistry &LoweringRegistry::instance() {
  static LoweringRegistry registry;
  return registry;
}

Result<std::pair<std::string, LoweringRegistry::Entry>> LoweringRegistry::parsed(std::string_view text,
                                                                                 TextLowering lowering) {
  TORCHERE_ASSIGN(schema::Schema schema, schema::Schema::parse(text));
  if (lowering::OpTable::instance().find(schema.name))
    return fail(ErrorCode::AlreadyExists,
                "[{}] the op has a lowering already: expected an op that `torchere ops` does not list",
                schema.name);
  return std::pair(schema.name, Entry{schema.text(), std::move(lowering)});
}

/// All or nothing; the mutex is held.
Status LoweringRegistry::insert(std::vector<std::pair<std::string, Entry>> added) {
  std::map<std::string, Entry> merged = entries;
  for (auto &[op, entry] : added)
    if (!merged.emplace(op, std::move(entry)).second)
      return fail(ErrorCode::AlreadyExists, "[{}] a lowering of the op is registered already", op);
  entries = std::move(merged);
  return {};
}

Status LoweringRegistry::add(std::string_view schema, TextLowering lowering) {
  TORCHERE_ASSIGN(auto entry, parsed(schema, std::move(lowering)));
  std::lock_guard lock(mutex);
  std::vector<std::pair<std::string, Entry>> added;
  added.push_back(std::move(entry));
  return insert(std::move(added));
}

Result<std::vector<std::string>> LoweringRegistry::load(const std::filesystem::path &library) {
  std::error_code missing;
  std::filesystem::path path = std::filesystem::canonical(library, missing);
  if (missing) // never searched for by its name alone
    return fail(ErrorCode::NotFound, "[{}] no such library: expected the path of a file", library.string());
  std::lock_guard lock(mutex);
  if (auto known = libraries.find(path); known != libraries.end())
    return known->second;
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return invalidArgument("[{}] not a library of lowerings: {}", path.string(), dlerror());
  auto entryPoint =
      reinterpret_cast<decltype(&torchere_register_lowerings)>(dlsym(handle, "torchere_register_lowerings"));
  if (!entryPoint)
    return invalidArgument("[{}] not a library of lowerings: expected the function "
                           "torchere_register_lowerings",
                           path.string());
  Additions additions;
  torchere_lowering_registry registry{sizeof(torchere_lowering_registry), &additions, addToList};
  int status = entryPoint(&registry);
  if (additions.problem)
    return invalidArgument("[{}] a lowering cannot be registered: {}", path.string(), *additions.problem);
  if (status != 0)
    return invalidArgument("[{}] torchere_register_lowerings failed: got {}, expected 0", path.string(),
                           status);
  std::vector<std::pair<std::string, Entry>> added;
  std::vector<std::string> names;
  for (auto &[schema, lowering] : additions.entries) {
    TORCHERE_ASSIGN(auto entry, parsed(schema, std::move(lowering)));
    names.push_back(entry.first);
    added.push_back(std::move(entry));
  }
  TORCHERE_TRY(insert(std::move(added)));
  return libraries.emplace(path, std::move(names)).first->second;
}

TextLowering LoweringRegistry::find(const std::string &op) const {
  std::lock_guard lock(mutex);
  auto found = entries.find(op);
  return found == entries.end() ? TextLowering() : found->second.lowering;
}

std::map<std::string, std::string> LoweringRegistry::schemas() const {
  std::lock_guard lock(mutex);
  std::map<std::string, std::string> schemas;
  for (const auto &[op, entry] : entries)
    schemas.emplace(op, entry.schema);
  return schemas;
}

} // namespace torchere::exporter

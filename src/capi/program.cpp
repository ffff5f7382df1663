// Programs in the C ABI: loading, and the description of their functions.
#include "artifact/weight_data.h"
#include "capi/failure.h"
#include "capi/inputs.h"
#include "capi/structures.h"

#include <algorithm>

using namespace torchere;
using namespace torchere::capi;

/// The caller's tensors as weights in memory of their own, aligned for the device to read in place.
static Result<std::vector<program::Weight>> copyWeights(const torchere_load_options &options) {
  TORCHERE_ASSIGN(auto views, namedViews(options.weights, options.weight_count, "weights"));
  std::vector<program::Weight> weights;
  for (const session::NamedView &named : views) {
    const session::TensorView &view = named.value;
    TORCHERE_ASSIGN(std::shared_ptr<const void> memory, session::copyDense(view));
    runtime::ArrayType type{view.dtype, {view.shape.begin(), view.shape.end()}};
    TORCHERE_ASSIGN(size_t size, type.byteSize());
    auto storage = std::make_shared<const program::Storage>(
        program::Storage{memory, static_cast<const std::byte *>(memory.get()), size});
    std::vector<int64_t> strides(type.shape.size());
    int64_t stride = 1;
    for (size_t i = strides.size(); i-- > 0; stride *= std::max<int64_t>(type.shape[i], 1))
      strides[i] = stride;
    weights.push_back({std::string(named.name), view.dtype, std::move(type.shape), std::move(strides), 0,
                       std::move(storage)});
  }
  return weights;
}

static Result<std::shared_ptr<const LoadedBundle>> loadBundle(std::string_view path,
                                                              const torchere_load_options &options) {
  TORCHERE_ASSIGN(std::vector<program::Weight> weights, copyWeights(options));
  TORCHERE_ASSIGN(artifact::Bundle bundle,
                  artifact::load(path, {.verify = options.verify != 0,
                                        .precision = options.precision ? options.precision : ""}));
  if (!weights.empty()) {
    TORCHERE_ASSIGN(bundle, artifact::withWeights(bundle, weights));
  }
  auto loaded = std::make_shared<LoadedBundle>();
  loaded->bundle = std::make_shared<const artifact::Bundle>(std::move(bundle));
  for (const artifact::Function &function : loaded->bundle->functions) {
    TORCHERE_ASSIGN(auto description, FunctionDescription::create(function.entryPoint));
    loaded->functions.push_back(std::move(description));
  }
  return std::shared_ptr<const LoadedBundle>(std::move(loaded));
}

torchere_status torchere_program_load(const char *path, const torchere_load_options *options,
                                      torchere_program *program) {
  return guarded([&]() -> Status {
    TORCHERE_TRY(checkGiven(program, "program"));
    TORCHERE_ASSIGN(std::string_view text, checkText(path, "path"));
    torchere_load_options given = {};
    if (options) {
      TORCHERE_TRY(checkStructure(options, "options"));
      given = *options;
    }
    std::shared_ptr<Client> chosen;
    if (given.client) {
      TORCHERE_ASSIGN(chosen, find<Client>(given.client));
    }
    TORCHERE_ASSIGN(auto loaded, loadBundle(text, given));
    std::shared_ptr<runtime::Client> client;
    if (chosen) {
      client = chosen->client;
    } else {
      TORCHERE_ASSIGN(client, runtime::sharedClient());
    }
    std::optional<int> device = given.has_device ? std::optional<int>(given.device) : std::nullopt;
    TORCHERE_ASSIGN(auto made, Program::create(std::move(client), std::move(loaded), device));
    *program = addHandle(std::move(made));
    return {};
  });
}

torchere_status torchere_program_clone(torchere_program program, torchere_program *clone) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Program>(program));
    TORCHERE_TRY(checkGiven(clone, "clone"));
    TORCHERE_ASSIGN(auto made, Program::create(found->client, found->loaded, found->deviceId, found.get()));
    TORCHERE_ASSIGN(auto states, found->session->readStates());
    TORCHERE_TRY(made->session->writeStates(viewsOf(states)));
    *clone = addHandle(std::move(made));
    return {};
  });
}

torchere_status torchere_program_destroy(torchere_program program) {
  return guarded([&] { return capi::destroy<Program>(program); });
}

torchere_status torchere_program_get_client(torchere_program program, torchere_client *client) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Program>(program));
    TORCHERE_TRY(checkGiven(client, "client"));
    *client = addHandle(std::make_shared<Client>(Client{found->client}));
    return {};
  });
}

torchere_status torchere_program_function_count(torchere_program program, size_t *count) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Program>(program));
    TORCHERE_TRY(checkGiven(count, "count"));
    *count = found->loaded->functions.size();
    return {};
  });
}

torchere_status torchere_program_find_function(torchere_program program, const char *name, size_t *function) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Program>(program));
    TORCHERE_ASSIGN(std::string_view text, checkText(name, "name"));
    TORCHERE_TRY(checkGiven(function, "function"));
    TORCHERE_ASSIGN(*function, found->session->findFunction(text));
    return {};
  });
}

torchere_status torchere_program_get_function(torchere_program program, size_t function,
                                              torchere_function_info *info) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Program>(program));
    TORCHERE_TRY(checkStructure(info, "info"));
    TORCHERE_ASSIGN(const FunctionDescription *described, found->function(function));
    session::CallCounts counts = found->session->counts(function);
    *info = {sizeof *info,
             described->entryPoint().name.c_str(),
             described->inputs().size(),
             described->outputs().size(),
             described->mutatedInputs().size(),
             counts.calls,
             counts.refinements,
             counts.preparations};
    return {};
  });
}

/// Fills in the description at an index of one of the function's lists.
static torchere_status describe(torchere_program program, size_t function, size_t index,
                                torchere_value_info *info,
                                const std::vector<ValueDescription> &(FunctionDescription::*list)() const) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Program>(program));
    TORCHERE_TRY(checkStructure(info, "info"));
    TORCHERE_ASSIGN(const FunctionDescription *described, found->function(function));
    const std::vector<ValueDescription> &values = (described->*list)();
    TORCHERE_TRY(checkIndex(index, values.size(), "index"));
    values[index].fill(*info);
    return {};
  });
}

torchere_status torchere_program_get_input(torchere_program program, size_t function, size_t index,
                                           torchere_value_info *info) {
  return describe(program, function, index, info, &FunctionDescription::inputs);
}

torchere_status torchere_program_get_output(torchere_program program, size_t function, size_t index,
                                            torchere_value_info *info) {
  return describe(program, function, index, info, &FunctionDescription::outputs);
}

static torchere_status findName(torchere_program program, size_t function, const char *name, size_t *index,
                                Result<size_t> (FunctionDescription::*lookUp)(std::string_view) const) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Program>(program));
    TORCHERE_ASSIGN(std::string_view text, checkText(name, "name"));
    TORCHERE_TRY(checkGiven(index, "index"));
    TORCHERE_ASSIGN(const FunctionDescription *described, found->function(function));
    TORCHERE_ASSIGN(*index, (described->*lookUp)(text));
    return {};
  });
}

torchere_status torchere_program_find_input(torchere_program program, size_t function, const char *name,
                                            size_t *index) {
  return findName(program, function, name, index, &FunctionDescription::findInput);
}

torchere_status torchere_program_find_output(torchere_program program, size_t function, const char *name,
                                             size_t *index) {
  return findName(program, function, name, index, &FunctionDescription::findOutput);
}

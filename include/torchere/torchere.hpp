// torchere.hpp: saved programs, called from C++20. Header-only, on torchere.h; docs/cpp.md is the guide.
//
//   torchere::Program resnet = torchere::Program::load("resnet18");
//   torchere::Result y = resnet({torchere::TensorView(image, {1, 3, 224, 224})});
//   std::span<const float> logits = y[0].data<float>();
//
// Errors are exceptions of type torchere::Error. Objects are handles: movable, and, where they can be copied,
// copies share one object. Threads may use one object at once; to assign or destroy it is for one thread.
#ifndef TORCHERE_TORCHERE_HPP
#define TORCHERE_TORCHERE_HPP

#include "call.hpp"

#include <initializer_list>
#include <map>

namespace torchere {
// A namespace of its own in every name of the linker: the library has C++ of its own within `torchere`.
inline namespace api1 {

// ---- Plugins and clients ---------------------------------------------------------------------------------

struct PluginInfo {
  std::string name, path, origin;
};

/// The plugins that clients find by name.
inline std::vector<PluginInfo> plugins() {
  torchere_plugins handle = nullptr;
  detail::check(torchere_plugins_create(&handle));
  detail::Owned<torchere_plugins, torchere_plugins_destroy> list(handle);
  size_t count = 0;
  detail::check(torchere_plugins_count(handle, &count));
  std::vector<PluginInfo> found;
  for (size_t i = 0; i < count; ++i) {
    auto info = detail::sized<torchere_plugin_info>();
    detail::check(torchere_plugins_get(handle, i, &info));
    found.push_back({info.name, info.path, info.origin});
  }
  return found;
}

/// Executables on disk: docs/cache.md.
struct Cache {
  enum class Use : int32_t {
    Environment = TORCHERE_CACHE_ENVIRONMENT, ///< as TORCHERE_CACHE and TORCHERE_CACHE_DIR say
    Off = TORCHERE_CACHE_OFF,
    On = TORCHERE_CACHE_ON,
  };
  Use use = Use::Environment;
  std::string directory = {}; ///< absolute; empty: the environment's
  uint64_t limit = 0;         ///< bytes; 0: the environment's
};

struct ClientOptions {
  std::string plugin = {}; ///< name or path; empty: the variable PJRT_DEVICE, else "torchere_cpu"
  std::map<std::string, Constant> options = {}; ///< the plugin's own
  Cache cache = {};
};

struct DeviceInfo {
  int32_t id = 0;
  std::string kind, description;
};

/// A plugin's devices. Equal options give one client, which the process keeps.
class Client {
public:
  explicit Client(const ClientOptions &options = {}) : handle(make(options)) {}
  explicit Client(torchere_client owned) : handle(owned) {}

  std::string platform() const { return info().platform; }
  std::string platformVersion() const { return info().platform_version; }
  std::string pluginPath() const { return info().plugin_path; }
  struct Counts {
    int64_t compiled = 0, loaded = 0, reused = 0;
  };
  /// Programs compiled, loaded from the cache on disk, found in use.
  Counts counts() const {
    torchere_client_info now = info();
    return {now.compiled, now.loaded, now.reused};
  }
  std::vector<DeviceInfo> devices() const {
    std::vector<DeviceInfo> list;
    for (size_t i = 0, count = info().device_count; i < count; ++i) {
      auto device = detail::sized<torchere_device_info>();
      detail::check(torchere_client_get_device(handle.get(), i, &device));
      list.push_back({device.id, device.kind, device.description});
    }
    return list;
  }
  torchere_client get() const { return handle.get(); }

private:
  static torchere_client make(const ClientOptions &options) {
    std::vector<torchere_option> list;
    for (const auto &[name, value] : options.options) {
      auto &option = list.emplace_back(detail::sized<torchere_option>());
      option.name = name.c_str();
      if (const auto *integer = std::get_if<int64_t>(&value)) {
        option.kind = TORCHERE_KIND_INT;
        option.integer = *integer;
      } else if (const auto *number = std::get_if<double>(&value)) {
        option.kind = TORCHERE_KIND_FLOAT;
        option.number = *number;
      } else if (const auto *flag = std::get_if<bool>(&value)) {
        option.kind = TORCHERE_KIND_BOOL;
        option.integer = *flag;
      } else if (const auto *text = std::get_if<std::string>(&value)) {
        option.kind = TORCHERE_KIND_STRING;
        option.string = text->c_str();
      }
    }
    auto given = detail::sized<torchere_client_options>();
    given.plugin = options.plugin.empty() ? nullptr : options.plugin.c_str();
    given.options = list.data();
    given.option_count = list.size();
    given.cache = static_cast<int32_t>(options.cache.use);
    given.cache_directory = options.cache.directory.empty() ? nullptr : options.cache.directory.c_str();
    given.cache_limit = options.cache.limit;
    torchere_client client = nullptr;
    detail::check(torchere_client_create(&given, &client));
    return client;
  }
  torchere_client_info info() const {
    auto now = detail::sized<torchere_client_info>();
    detail::check(torchere_client_get_info(handle.get(), &now));
    return now;
  }
  detail::Owned<torchere_client, torchere_client_destroy> handle;
};

// ---- Programs --------------------------------------------------------------------------------------------

namespace detail {
using ProgramHandle = Owned<torchere_program, torchere_program_destroy>;
}

/// An entry point. Keeps the program.
class Function {
public:
  Function(std::shared_ptr<detail::ProgramHandle> program, size_t index)
      : program(std::move(program)), index(index) {}

  std::string name() const { return info().name; }
  std::vector<ValueInfo> inputs() const { return describe(info().input_count, torchere_program_get_input); }
  std::vector<ValueInfo> outputs() const {
    return describe(info().output_count, torchere_program_get_output);
  }
  struct Counts {
    int64_t calls = 0, refinements = 0, preparations = 0;
  };
  Counts counts() const {
    torchere_function_info now = info();
    return {now.calls, now.refinements, now.preparations};
  }

  /// Calls and waits.
  Result operator()(Inputs inputs) const { return Result(call(torchere_call, inputs)); }
  Result operator()(std::initializer_list<Input> inputs) const {
    return (*this)(Inputs(inputs.begin(), inputs.size()));
  }
  Result operator()() const { return (*this)(Inputs()); }
  Result operator()(const std::map<std::string, Input> &inputs) const {
    std::vector<torchere_input> list = named(inputs);
    torchere_result result = nullptr;
    detail::check(torchere_call(program->get(), index, list.data(), list.size(), &result));
    return Result(result);
  }
  /// Returns before the outputs are computed; the inputs' memory is free again.
  Future async(Inputs inputs) const { return Future(call(torchere_call_async, inputs)); }
  Future async(std::initializer_list<Input> inputs) const {
    return async(Inputs(inputs.begin(), inputs.size()));
  }
  Future async(const std::map<std::string, Input> &inputs) const {
    std::vector<torchere_input> list = named(inputs);
    torchere_result result = nullptr;
    detail::check(torchere_call_async(program->get(), index, list.data(), list.size(), &result));
    return Future(result);
  }
  /// Calls, waits, and writes outputs into the caller's memory, which must not be too short, nor of elements
  /// of another dtype.
  void into(std::span<const Destination> outputs, Inputs inputs) const {
    std::vector<torchere_input> list = structures(inputs);
    std::vector<torchere_destination> destinations;
    for (const Destination &output : outputs) {
      output.checkDType(program->get(), index, destinations.size());
      destinations.push_back(output.structure());
    }
    detail::check(torchere_call_into(program->get(), index, list.data(), list.size(), destinations.data(),
                                     destinations.size()));
  }
  void into(std::initializer_list<Destination> outputs, std::initializer_list<Input> inputs) const {
    into(std::span(outputs.begin(), outputs.size()), Inputs(inputs.begin(), inputs.size()));
  }

private:
  static std::vector<torchere_input> structures(Inputs inputs) {
    std::vector<torchere_input> list;
    list.reserve(inputs.size());
    for (const Input &input : inputs)
      list.push_back(input.structure());
    return list;
  }
  static std::vector<torchere_input> named(const std::map<std::string, Input> &inputs) {
    std::vector<torchere_input> list;
    for (const auto &[name, input] : inputs) {
      list.push_back(input.structure());
      list.back().name = name.c_str();
    }
    return list;
  }
  torchere_result call(decltype(torchere_call) function, Inputs inputs) const {
    std::vector<torchere_input> list = structures(inputs);
    torchere_result result = nullptr;
    detail::check(function(program->get(), index, list.data(), list.size(), &result));
    return result;
  }
  std::vector<ValueInfo> describe(size_t count, decltype(torchere_program_get_input) get) const {
    std::vector<ValueInfo> values;
    for (size_t i = 0; i < count; ++i) {
      auto value = detail::sized<torchere_value_info>();
      detail::check(get(program->get(), index, i, &value));
      values.push_back(detail::describe(value));
    }
    return values;
  }
  torchere_function_info info() const {
    auto now = detail::sized<torchere_function_info>();
    detail::check(torchere_program_get_function(program->get(), index, &now));
    return now;
  }
  std::shared_ptr<detail::ProgramHandle> program;
  size_t index;
};

/// All states of a program at one time.
class Snapshot {
public:
  explicit Snapshot(torchere_snapshot owned) : handle(owned) {}
  torchere_snapshot get() const { return handle.get(); }

private:
  detail::Owned<torchere_snapshot, torchere_snapshot_destroy> handle;
};

struct LoadOptions {
  const Client *client = nullptr;     ///< null: a client with default options
  std::optional<int32_t> device = {}; ///< the id of one of the client's devices; by default its first
  bool verify = false;                ///< compare all files with the digests saved with them
  std::map<std::string, TensorView> weights = {}; ///< other values for parameters and buffers; copied
};

/// A saved program on a device, with its state. Copies share it; clone() does not.
class Program {
public:
  static Program load(const std::string &path, const LoadOptions &options = {}) {
    std::vector<torchere_tensor> weights;
    for (const auto &[name, tensor] : options.weights)
      weights.push_back(tensor.structure(name.c_str()));
    auto given = detail::sized<torchere_load_options>();
    given.client = options.client ? options.client->get() : nullptr;
    given.has_device = options.device.has_value();
    given.device = options.device.value_or(0);
    given.verify = options.verify;
    given.weights = weights.data();
    given.weight_count = weights.size();
    torchere_program program = nullptr;
    detail::check(torchere_program_load(path.c_str(), &given, &program));
    return Program(program);
  }
  explicit Program(torchere_program owned) : handle(std::make_shared<detail::ProgramHandle>(owned)) {}
  /// The same weights and executables, and a state of its own, which begins with the present one.
  Program clone() const {
    torchere_program made = nullptr;
    detail::check(torchere_program_clone(get(), &made));
    return Program(made);
  }
  Client client() const {
    torchere_client made = nullptr;
    detail::check(torchere_program_get_client(get(), &made));
    return Client(made);
  }
  DeviceInfo device() const {
    auto info = detail::sized<torchere_device_info>();
    detail::check(torchere_program_get_device(get(), &info));
    return {info.id, info.kind, info.description};
  }

  /// The entry points, the default first.
  std::vector<Function> functions() const {
    size_t count = 0;
    detail::check(torchere_program_function_count(get(), &count));
    std::vector<Function> list;
    for (size_t i = 0; i < count; ++i)
      list.emplace_back(handle, i);
    return list;
  }
  Function function(std::string_view name) const {
    size_t index = 0;
    detail::check(torchere_program_find_function(get(), std::string(name).c_str(), &index));
    return {handle, index};
  }
  /// program("encode")({x})
  template <class Name>
    requires std::convertible_to<const Name &, std::string_view>
  Function operator()(const Name &name) const {
    return function(name);
  }

  /// The default entry point, called. See Function.
  Result operator()(std::initializer_list<Input> inputs) const { return first()(inputs); }
  Result operator()(Inputs inputs) const { return first()(inputs); }
  Result operator()(const std::map<std::string, Input> &inputs) const { return first()(inputs); }
  Result operator()() const { return first()(); }
  Future async(std::initializer_list<Input> inputs) const { return first().async(inputs); }
  Future async(Inputs inputs) const { return first().async(inputs); }
  Future async(const std::map<std::string, Input> &inputs) const { return first().async(inputs); }
  void into(std::initializer_list<Destination> outputs, std::initializer_list<Input> inputs) const {
    first().into(outputs, inputs);
  }
  void into(std::span<const Destination> outputs, Inputs inputs) const { first().into(outputs, inputs); }
  std::vector<ValueInfo> inputs() const { return first().inputs(); }
  std::vector<ValueInfo> outputs() const { return first().outputs(); }

  /// A copy on the device, which calls take without copying it again.
  Array toDevice(const TensorView &tensor) const {
    torchere_tensor given = tensor.structure();
    torchere_array array = nullptr;
    detail::check(torchere_array_create(get(), &given, &array));
    return Array(array);
  }

  /// What calls write, by name, without the random numbers.
  std::vector<ValueInfo> states() const {
    size_t count = 0;
    detail::check(torchere_program_state_count(get(), &count));
    std::vector<ValueInfo> list;
    for (size_t i = 0; i < count; ++i) {
      auto info = detail::sized<torchere_value_info>();
      detail::check(torchere_program_get_state(get(), i, &info));
      list.push_back(detail::describe(info));
    }
    return list;
  }
  /// Copies a state, parameter or buffer into memory that is not too short.
  template <Element T> void read(const std::string &name, std::span<T> elements) const {
    detail::check(torchere_program_read(get(), name.c_str(), elements.data(), elements.size_bytes()));
  }
  /// A state's elements.
  template <Element T> std::vector<T> read(const std::string &name) const {
    for (const ValueInfo &state : states()) {
      if (state.name != name)
        continue;
      detail::checkDType(dtypeOf<T>, state.dtype, name);
      size_t count = 1;
      for (const Dimension &dimension : state.dimensions)
        count *= static_cast<size_t>(dimension.size);
      auto elements = std::make_unique<T[]>(count); // a std::vector<bool> has no memory of bools
      read<T>(name, std::span<T>(elements.get(), count));
      return {elements.get(), elements.get() + count};
    }
    throw Error(ErrorCode::NotFound, "[" + name + "] no such state in the program");
  }
  /// Sets states: all of them, or none if there is an error.
  void write(const std::map<std::string, TensorView> &states) const {
    std::vector<torchere_tensor> list;
    for (const auto &[name, tensor] : states)
      list.push_back(tensor.structure(name.c_str()));
    detail::check(torchere_program_write(get(), list.data(), list.size()));
  }
  Snapshot snapshot() const {
    torchere_snapshot made = nullptr;
    detail::check(torchere_program_snapshot(get(), &made));
    return Snapshot(made);
  }
  void restore(const Snapshot &snapshot) const {
    detail::check(torchere_program_restore(get(), snapshot.get()));
  }
  void reset() const { detail::check(torchere_program_reset(get())); }
  void manualSeed(uint64_t seed) const { detail::check(torchere_program_manual_seed(get(), seed)); }

  torchere_program get() const { return handle->get(); }

private:
  Function first() const { return {handle, 0}; }
  std::shared_ptr<detail::ProgramHandle> handle;
};

/// The library's release, "0.1.0".
inline std::string_view version() {
  return torchere_version();
}

} // namespace api1
} // namespace torchere

#endif // TORCHERE_TORCHERE_HPP

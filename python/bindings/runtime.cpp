// torchere._core's part for src/runtime: plugins and clients.
#include "runtime/client.h"
#include "runtime/kernel.h"

#include "bindings/bindings.h"
#include "runtime/discovery.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace torchere::bindings {

using namespace runtime;

/// bool before int, because a Python bool is an int as well.
static NamedValue readOption(const std::string &name, nb::handle value) {
  PyObject *object = value.ptr();
  if (PyBool_Check(object))
    return object == Py_True;
  if (PyLong_Check(object))
    return nb::cast<int64_t>(value);
  if (PyFloat_Check(object))
    return static_cast<float>(PyFloat_AS_DOUBLE(object));
  if (PyUnicode_Check(object))
    return nb::cast<std::string>(value);
  std::vector<int64_t> list;
  if (nb::try_cast(value, list))
    return list;
  throw nb::type_error(
      fmt::format("[{}] wrong type of option: expected str, int, float, bool or a list of int", name)
          .c_str());
}

static std::shared_ptr<Client> openClient(const std::string &nameOrPath, const nb::dict &options,
                                          const PackageSearch &packages) {
  ClientOptions values;
  for (auto [name, value] : options)
    values.emplace(nb::cast<std::string>(name), readOption(nb::cast<std::string>(name), value));
  Result<std::shared_ptr<Client>> client = [&] {
    nb::gil_scoped_release release;
    auto shared = sharedClient(nameOrPath, values, packages);
    return shared;
  }();
  return unwrap(std::move(client));
}

static void bindPlugins(nb::module_ &module) {
  nb::class_<PluginLocation>(module, "PluginLocation", "A plugin that could be loaded.")
      .def(nb::init<std::string, std::string, std::string>(), nb::arg("name"), nb::arg("path"),
           nb::arg("origin"))
      .def_ro("name", &PluginLocation::name)
      .def_ro("path", &PluginLocation::path)
      .def_ro("origin", &PluginLocation::origin, "Where the name was found.")
      .def("__repr__", [](const PluginLocation &self) {
        return fmt::format("PluginLocation({}, {}, {})", self.name, self.path, self.origin);
      });
  module.def("plugin_directory", &pluginDirectory, "Where `torchere plugins install` puts plugins.");
  module.def(
      "known_plugins", [](const std::vector<PluginLocation> &others) { return unwrap(knownPlugins(others)); },
      nb::arg("others") = nb::list(), "All known plugins; `others` come last.");
  module.def(
      "find_plugin",
      [](const std::string &nameOrPath, const PackageSearch &packages) {
        return unwrap(findPlugin(nameOrPath, packages));
      },
      nb::arg("name_or_path") = "", nb::arg("packages") = nb::none(),
      "The plugin of a name or path; of the environment's, else the engine, when it is empty. `packages` "
      "finds those of installed packages where no other has the name.");
}

static nb::dict deviceMemoryOf(const Client &self, std::optional<int> deviceId) {
  const Device *device = deviceId ? unwrap(self.device(*deviceId)) : self.devices().data();
  DeviceMemory memory = unwrap(self.memoryOf(*device));
  nb::dict result;
  result["in_use"] = memory.inUse;
  result["limit"] = memory.limit;
  return result;
}

void bindRuntime(nb::module_ &module) {
  bindPlugins(module);
  nb::class_<Device>(module, "Device")
      .def_ro("id", &Device::id)
      .def_ro("kind", &Device::kind, "The vendor's name of the device.")
      .def_ro("description", &Device::description)
      .def("__repr__", [](const Device &self) { return fmt::format("Device({}, {})", self.id, self.kind); });
  nb::class_<Client>(module, "Client", "A plugin's devices.")
      .def_prop_ro("platform_name", &Client::platformName)
      .def_prop_ro("platform_version", &Client::platformVersion)
      .def_prop_ro("devices",
                   [](const Client &self) {
                     return std::vector<Device>(self.devices().begin(), self.devices().end());
                   })
      .def_prop_ro("plugin_path", [](const Client &self) { return self.plugin().path(); })
      .def_prop_ro(
          "api_version",
          [](const Client &self) {
            return nb::make_tuple(self.plugin().majorVersion(), self.plugin().minorVersion());
          },
          "The version of the PJRT C API that the plugin was built with.")
      .def_prop_ro(
          "stablehlo_version",
          [](const Client &self) -> nb::object {
            auto version = self.plugin().stablehloVersion();
            return version ? nb::object(nb::make_tuple((*version)[0], (*version)[1], (*version)[2]))
                           : nb::none();
          },
          "The newest StableHLO that the plugin reads; None if it does not report one.")
      .def_prop_ro("attributes", [](const Client &self) { return self.plugin().attributes(); })
      .def_prop_ro(
          "compile_counts",
          [](const Client &self) {
            Client::CompileCounts counts = self.compileCounts();
            nb::dict result;
            result["compiled"] = counts.compiled;
            result["reused"] = counts.reused;
            result["loaded"] = counts.loaded;
            return result;
          },
          "How many programs were compiled, reused because they were in use already, and loaded from the "
          "cache on disk.")
      .def("memory_statistics", &deviceMemoryOf, nb::arg("device_id") = nb::none(),
           "The bytes of a device's memory, by default the first's, that are `in_use`, and their `limit`; "
           "None if the plugin does not tell it. The engine's devices share the process's memory: it counts "
           "that of buffers, of packed weights and of runs, and what is kept to be used again. Not every "
           "plugin reports this.")
      .def(
          "register_kernel",
          [](const Client &self, std::string target, std::filesystem::path library, std::string symbol,
             std::string platform) {
            unwrap(registerKernel(
                self, {std::move(target), std::move(library), std::move(symbol), std::move(platform)}));
          },
          nb::arg("target"), nb::arg("library"), nb::arg("symbol"), nb::arg("platform") = "",
          "Registers a function of a library as the kernel of custom calls.")
      .def("__repr__", [](const Client &self) {
        return fmt::format("Client({}, {} devices)", self.platformName(), self.devices().size());
      });
  module.def("shared_client", &openClient, nb::arg("name_or_path") = "", nb::arg("options") = nb::dict(),
             nb::arg("packages") = nb::none(),
             "The client of find_plugin()'s plugin. One serves all callers with equal options.");
}

} // namespace torchere::bindings

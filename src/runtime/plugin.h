// Plugin: an implementation of the PJRT C API, loaded from a shared library or linked in, and checked.
#pragma once

#include "base/error.h"
#include "pjrt/api.h"
#include "runtime/process.h"
#include "traits/plugin_traits.h"

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace torchere::pjrt {
struct ProfileExtension;
}

namespace torchere::runtime {

/// The value of a plugin's attribute or of a client option.
using NamedValue = std::variant<std::string, int64_t, std::vector<int64_t>, float, bool>;

class TORCHERE_EXPORT Plugin {
public:
  /// Loads the library, checks its version and its table, and initializes it; at most once per file and
  /// process. A loaded plugin stays until the process ends: plugins cannot be unloaded safely. Errors:
  /// NotFound if there is no such file; InvalidArgument if it is not a plugin or not one that we can use; the
  /// plugin's errors from PJRT_Plugin_Initialize.
  static Result<std::shared_ptr<const Plugin>> load(const std::filesystem::path &path);
  /// A plugin that is linked in, by its table; checked and initialized at most once per process. `name` takes
  /// the place of the path. Errors as for load(), except NotFound.
  static Result<std::shared_ptr<const Plugin>> wrap(const pjrt::Api *api, const std::string &name);

  /// The path of the shared library, or the name given to wrap().
  const std::string &path() const { return file; }
  /// The version of the PJRT C API that the plugin was built with.
  int majorVersion() const { return api().version.major; }
  int minorVersion() const { return api().version.minor; }
  /// Distinguishes builds of the plugin: see libraryIdentity().
  const std::string &identity() const { return libraryIdentityText; }
  /// The result of PJRT_Plugin_Attributes; empty if the plugin has no attributes.
  const std::map<std::string, NamedValue> &attributes() const { return attributeValues; }
  /// The newest StableHLO that the plugin reads, as {major, minor, patch}; none if it does not report one.
  std::optional<std::array<int64_t, 3>> stablehloVersion() const;
  /// Whether it has uses for arguments that are marked as weights.
  bool knowsWeights() const;
  /// How it measures an execution; null if it does not.
  const pjrt::ProfileExtension *profiles() const;
  /// What is known about the plugin. `platform` is its client's name, or the name under which the plugin was
  /// found.
  PluginTraits traitsFor(const std::string &platform) const;

  const pjrt::Api &api() const { return *table; }
  const ProcessMark &process() const { return mark; }

  /// Calls a function of the table. An error reads `[subject] action: the plugin's message`.
  template <class Args>
  Status call(pjrt::Function<Args> function, Args &args, std::string_view subject,
              std::string_view action) const {
    pjrt::Error *error = function(&args);
    return error ? takeError(error, subject, action) : Status{};
  }
  /// Converts the error of a function or a callback to a Status, worded as in call(), and destroys it.
  Status takeError(pjrt::Error *error, std::string_view subject, std::string_view action) const;
  /// Waits for the event and destroys it. `event` may be null.
  Status await(pjrt::Event *event, std::string_view subject, std::string_view action) const;
  void destroy(pjrt::Event *event) const;
  /// Destroys an error whose text is not needed.
  void discard(pjrt::Error *error) const;

private:
  Plugin(std::string path, const pjrt::Api *api) : file(std::move(path)), table(api) {}
  static Result<std::shared_ptr<const Plugin>> loadUncached(const std::string &path);
  /// `address` lies in the plugin's library.
  static Result<std::shared_ptr<const Plugin>> initialized(const std::string &path, const pjrt::Api *api,
                                                           const void *address);
  Status checkTable() const;
  Status initialize();

  std::string file;
  const pjrt::Api *table;
  std::string libraryIdentityText;
  std::map<std::string, NamedValue> attributeValues;
  ProcessMark mark;
};

} // namespace torchere::runtime

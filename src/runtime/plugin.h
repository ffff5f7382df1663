// Plugin: what implements the PJRT C API, loaded from a shared library or linked in, and checked.
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

namespace torchere::runtime {

/// A value of a plugin's attribute or of an option for a client.
using NamedValue = std::variant<std::string, int64_t, std::vector<int64_t>, float, bool>;

class TORCHERE_EXPORT Plugin {
public:
  /// Loads the library, checks its version and its table, and initializes it; at most once a process for each
  /// file. A loaded plugin stays for the life of the process: plugins do not survive being unloaded.
  /// Errors: NotFound when there is no such file; InvalidArgument when it is no plugin or one that we cannot
  /// use; what the plugin itself answers to PJRT_Plugin_Initialize.
  static Result<std::shared_ptr<const Plugin>> load(const std::filesystem::path &path);
  /// The plugin whose table this is, which is linked in; checked and initialized at most once a process.
  /// `name` stands for the path. Errors as of load(), but for NotFound.
  static Result<std::shared_ptr<const Plugin>> wrap(const pjrt::Api *api, const std::string &name);

  /// Of the shared library, or the name that a plugin was wrapped by.
  const std::string &path() const { return file; }
  /// The version of the PJRT C API that the plugin was built with.
  int majorVersion() const { return api().version.major; }
  int minorVersion() const { return api().version.minor; }
  /// Tells builds of the plugin apart: see libraryIdentity().
  const std::string &identity() const { return libraryIdentityText; }
  /// What PJRT_Plugin_Attributes gives; empty when the plugin has no attributes.
  const std::map<std::string, NamedValue> &attributes() const { return attributeValues; }
  /// The newest StableHLO that the plugin reads, as {major, minor, patch}; none when it does not say.
  std::optional<std::array<int64_t, 3>> stablehloVersion() const;
  /// What is known of the plugin. `platform` is its client's name, or that by which the plugin was found.
  PluginTraits traitsFor(const std::string &platform) const;

  const pjrt::Api &api() const { return *table; }
  const ProcessMark &process() const { return mark; }

  /// Calls a function of the table. An error reads `[subject] action: what the plugin says`.
  template <class Args>
  Status call(pjrt::Function<Args> function, Args &args, std::string_view subject,
              std::string_view action) const {
    pjrt::Error *error = function(&args);
    return error ? takeError(error, subject, action) : Status{};
  }
  /// The error that a function or a callback gave, as a Status in the form of call(); destroys it.
  Status takeError(pjrt::Error *error, std::string_view subject, std::string_view action) const;
  /// Waits for the event and destroys it. `event` may be null.
  Status await(pjrt::Event *event, std::string_view subject, std::string_view action) const;
  void destroy(pjrt::Event *event) const;
  /// Destroys an error whose text nobody wants.
  void discard(pjrt::Error *error) const;

private:
  Plugin(std::string path, const pjrt::Api *api) : file(std::move(path)), table(api) {}
  static Result<std::shared_ptr<const Plugin>> loadUncached(const std::string &path);
  /// `address` lies in the library that the plugin is from.
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

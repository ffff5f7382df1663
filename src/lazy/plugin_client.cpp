// Choice and creation of the device's client.
#include "lazy/plugin_client.h"

#include <cstdlib>
#include <mutex>

namespace torchere::lazy {

namespace {

/// Never destroyed: tensors may outlive everything else.
struct Choice {
  std::mutex mutex;
  std::vector<runtime::PluginLocation> others;
  std::shared_ptr<runtime::Client> client;
};
Choice &choice() {
  static auto *made = new Choice;
  return *made;
}

/// XLA's plugins write a line to stderr for each client option, unless this variable says otherwise.
/// TensorFlow reads it as well, so it is set only while the plugin reads it.
class WithoutNotices {
public:
  WithoutNotices() : isSet(!std::getenv(variable)) {
    if (isSet)
      setenv(variable, "1", 0);
  }
  ~WithoutNotices() {
    if (isSet)
      unsetenv(variable);
  }
  WithoutNotices(const WithoutNotices &) = delete;
  WithoutNotices &operator=(const WithoutNotices &) = delete;

private:
  static constexpr const char *variable = "TF_CPP_MIN_LOG_LEVEL";
  bool isSet;
};

} // namespace

void addPlugins(std::vector<runtime::PluginLocation> others) {
  Choice &known = choice();
  std::lock_guard lock(known.mutex);
  known.others = std::move(others);
}

Result<std::shared_ptr<runtime::Client>> pluginClient() {
  Choice &known = choice();
  std::lock_guard lock(known.mutex);
  if (!known.client) {
    WithoutNotices silence;
    TORCHERE_ASSIGN(known.client, runtime::sharedClient({}, {}, [&] { return known.others; }));
  }
  TORCHERE_TRY(known.client->checkProcess());
  return known.client;
}

std::shared_ptr<runtime::Client> madeClient() {
  Choice &known = choice();
  std::lock_guard lock(known.mutex);
  return known.client;
}

Result<const runtime::Device *> pluginDevice(c10::DeviceIndex index) {
  TORCHERE_ASSIGN(auto client, pluginClient());
  if (static_cast<size_t>(index) >= client->devices().size())
    return fail(ErrorCode::NotFound, "[xla:{}] no such device: got index {}, expected less than {}",
                static_cast<int>(index), static_cast<int>(index), client->devices().size());
  return &client->devices()[static_cast<size_t>(index)];
}

} // namespace torchere::lazy

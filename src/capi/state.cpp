// Weights and state in the C ABI.
#include "capi/failure.h"
#include "capi/inputs.h"
#include "capi/structures.h"

using namespace torchere;
using namespace torchere::capi;

torchere_status torchere_program_state_count(torchere_program program, size_t *count) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Program>(program));
    TORCHERE_TRY(checkGiven(count, "count"));
    *count = found->states.size();
    return {};
  });
}

torchere_status torchere_program_get_state(torchere_program program, size_t index,
                                           torchere_value_info *info) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Program>(program));
    TORCHERE_TRY(checkStructure(info, "info"));
    TORCHERE_TRY(checkIndex(index, found->states.size(), "index"));
    found->states[index].fill(*info);
    return {};
  });
}

torchere_status torchere_program_read(torchere_program program, const char *name, void *data,
                                      size_t byte_size) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Program>(program));
    TORCHERE_ASSIGN(std::string_view text, checkText(name, "name"));
    TORCHERE_ASSIGN(runtime::HostArray array, found->session->readWeight(text));
    return copyElements(array, name, data, byte_size);
  });
}

torchere_status torchere_program_write(torchere_program program, const torchere_tensor *states,
                                       size_t state_count) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Program>(program));
    TORCHERE_ASSIGN(auto views, namedViews(states, state_count, "states"));
    return found->session->writeStates(views);
  });
}

torchere_status torchere_program_snapshot(torchere_program program, torchere_snapshot *snapshot) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Program>(program));
    TORCHERE_TRY(checkGiven(snapshot, "snapshot"));
    auto made = std::make_shared<Snapshot>();
    TORCHERE_ASSIGN(made->states, found->session->readStates());
    *snapshot = addHandle(std::move(made));
    return {};
  });
}

torchere_status torchere_program_restore(torchere_program program, torchere_snapshot snapshot) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Program>(program));
    TORCHERE_ASSIGN(auto kept, find<Snapshot>(snapshot));
    return found->session->writeStates(viewsOf(kept->states));
  });
}

torchere_status torchere_snapshot_destroy(torchere_snapshot snapshot) {
  return guarded([&] { return capi::destroy<Snapshot>(snapshot); });
}

torchere_status torchere_program_reset(torchere_program program) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Program>(program));
    return found->session->resetStates();
  });
}

torchere_status torchere_program_manual_seed(torchere_program program, uint64_t seed) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Program>(program));
    return found->session->manualSeed(seed);
  });
}

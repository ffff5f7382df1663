// The variant of one fake plugin: FAKE_VARIANT has what is unlike in others, ".version = 1".
#include "fake_variant.h"

namespace torchere::runtime {

const FakeVariant variant{FAKE_VARIANT};

} // namespace torchere::runtime

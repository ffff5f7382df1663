// Kernels of custom calls: what is refused before a plugin is asked.
#include "runtime/kernel.h"

#include "fake.h"
#include "runtime/client.h"

namespace torchere::runtime {
namespace {

using KernelTest = FakeTest;

TEST_F(KernelTest, NeedsTheExtension) {
  auto client = makeClient();
  Status status = registerKernel(*client, {"x", "kernel.so", "Symbol", ""});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Unimplemented);
  EXPECT_EQ(status.error().message,
            "[" + path + "] the plugin cannot run kernels of others: it lacks PJRT's FFI extension, which " +
                "registers 'x'");
}

} // namespace
} // namespace torchere::runtime

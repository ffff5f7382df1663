// The PJRT ABI's declaration: names of functions, and what a table that is shorter than ours offers. The
// sizes of structures are checked where they are declared.
#include "pjrt/api.h"

#include <gtest/gtest.h>

namespace torchere::pjrt {
namespace {

TEST(Api, FunctionsHaveTheAbisNames) {
  EXPECT_EQ(functionName(offsetof(Api, errorDestroy)), "PJRT_Error_Destroy");
  EXPECT_EQ(functionName(offsetof(Api, errorGetCode)), "PJRT_Error_GetCode");
  EXPECT_EQ(functionName(offsetof(Api, loadedExecutableExecute)), "PJRT_LoadedExecutable_Execute");
  EXPECT_EQ(functionName(offsetof(Api, eventSet)), "PJRT_Event_Set");
}

TEST(Api, AnOldTableOffersWhatItHas) {
  Api api{};
  api.structSize = offsetof(Api, executableGetCompiledMemoryStats);
  api.bufferDestroy = [](BufferDestroyArgs *) -> Error * { return nullptr; };
  api.executableGetCompiledMemoryStats = [](ExecutableGetCompiledMemoryStatsArgs *) -> Error * {
    return nullptr;
  };
  EXPECT_TRUE(offers(api, &Api::bufferDestroy));
  EXPECT_FALSE(offers(api, &Api::bufferDelete));                     // null
  EXPECT_FALSE(offers(api, &Api::executableGetCompiledMemoryStats)); // beyond the end
  api.structSize += sizeof(void *);
  EXPECT_TRUE(offers(api, &Api::executableGetCompiledMemoryStats));
}

} // namespace
} // namespace torchere::pjrt

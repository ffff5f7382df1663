// The PJRT ABI: sizes and offsets, which are facts of version 0.90 on 64-bit machines.
#include "runtime/pjrt_abi.h"

#include <gtest/gtest.h>

namespace torchere::runtime::abi {
namespace {

TEST(PjrtAbi, StructureSizesEndWithTheLastMember) {
  EXPECT_EQ(Version().structSize, 24u);
  EXPECT_EQ(NamedValue().structSize, 56u);
  EXPECT_EQ(ErrorGetCodeArgs().structSize, 28u);
  EXPECT_EQ(PluginInitializeArgs().structSize, 16u);
  EXPECT_EQ(EventIsReadyArgs().structSize, 25u);
  EXPECT_EQ(ClientCreateArgs().structSize, 88u);
  EXPECT_EQ(Program().structSize, 48u);
  EXPECT_EQ(ClientCompileArgs().structSize, 56u);
  EXPECT_EQ(TiledLayout().structSize, 56u);
  EXPECT_EQ(MemoryLayout().structSize, 76u);
  EXPECT_EQ(ClientBufferFromHostBufferArgs().structSize, 120u);
  EXPECT_EQ(ExecuteOptions().structSize, 112u);
  EXPECT_EQ(LoadedExecutableExecuteArgs().structSize, 80u);
  EXPECT_EQ(BufferToHostBufferArgs().structSize, 56u);
  EXPECT_EQ(ExecutableGetCompiledMemoryStatsArgs().structSize, 120u);
  EXPECT_EQ(ExecutableSerializeArgs().structSize, 56u);
  EXPECT_EQ(ExecutableDeserializeAndLoadArgs().structSize, 64u);
}

TEST(PjrtAbi, SlotsAreWhereThePluginHasThem) {
  constexpr size_t first = 40, slot = sizeof(void *);
  EXPECT_EQ(offsetof(Api, errorDestroy), first);
  EXPECT_EQ(offsetof(Api, clientCreate), first + 10 * slot);
  EXPECT_EQ(offsetof(Api, clientCompile), first + 20 * slot);
  EXPECT_EQ(offsetof(Api, clientBufferFromHostBuffer), first + 22 * slot);
  EXPECT_EQ(offsetof(Api, executableSerialize), first + 49 * slot);
  EXPECT_EQ(offsetof(Api, loadedExecutableExecute), first + 55 * slot);
  EXPECT_EQ(offsetof(Api, executableDeserializeAndLoad), first + 56 * slot);
  EXPECT_EQ(offsetof(Api, bufferDestroy), first + 58 * slot);
  EXPECT_EQ(offsetof(Api, bufferOpaqueDeviceMemoryDataPointer), first + 76 * slot);
  EXPECT_EQ(requiredTableSize, first + 77 * slot);
  EXPECT_EQ(offsetof(Api, executableGetCompiledMemoryStats), first + 96 * slot);
  EXPECT_EQ(sizeof(Api), first + 97 * slot);
}

} // namespace
} // namespace torchere::runtime::abi

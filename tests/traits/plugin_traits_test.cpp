// PluginTraits: whom the table knows, and that different traits have different texts.
#include "traits/plugin_traits.h"

#include <gtest/gtest.h>

namespace torchere {
namespace {

TEST(TraitsOf, XlasCpuPluginHasThoseThatWereMeasured) {
  PluginTraits traits = traitsOf({"cpu", true, 115});
  EXPECT_EQ(traits, (PluginTraits{.miscomputesAtan2 = true,
                                  .repeatsFusedWrites = true,
                                  .losesNaNInMinMax = true,
                                  .isProcessor = true,
                                  .deviceCountOption = "cpu_device_count",
                                  .executesInOwnThreads = true,
                                  .lacksQuantizedTypes = true}));
  traits.abortsOnDoubledCounters = true;
  EXPECT_EQ(traitsOf({"cpu", true, 114}), traits);
}

TEST(TraitsOf, WhatIsInXlaItselfIsInAllItsPlugins) {
  EXPECT_EQ(traitsOf({"tpu", true, 114}),
            (PluginTraits{.abortsOnDoubledCounters = true, .lacksQuantizedTypes = true}));
  EXPECT_EQ(traitsOf({"tpu", true, 115}), PluginTraits{.lacksQuantizedTypes = true});
}

TEST(TraitsOf, XlasCudaPluginRoundsProductsAndTakesAllMemory) {
  EXPECT_EQ(
      traitsOf({"cuda", true, 115}),
      (PluginTraits{.roundsFloat32Products = true, .takesAllMemory = true, .lacksQuantizedTypes = true}));
}

TEST(TraitsOf, APluginThatIsNotKnownHasNone) {
  EXPECT_EQ(traitsOf({"cpu", false, 90}), PluginTraits());
  EXPECT_EQ(traitsOf({"vendor", false, 115}), PluginTraits());
}

TEST(TraitsOf, TheInterpreterRunsUnknownSizes) {
  EXPECT_EQ(traitsOf({"interpreter", false, 115}), PluginTraits{.runsUnknownSizes = true});
  EXPECT_EQ(traitsOf({"torchere_cpu", false, 115}), (PluginTraits{.isProcessor = true,
                                                                  .deviceCountOption = "device_count",
                                                                  .runsUnknownSizes = true,
                                                                  .bindsOpenSizes = true}));
  EXPECT_EQ(traitsOf({"interpreter", true, 115}), PluginTraits{.lacksQuantizedTypes = true});
}

TEST(PluginTraits, DifferentTraitsHaveDifferentTexts) {
  std::set<std::string> texts = {PluginTraits().text()};
  for (bool PluginTraits::*trait :
       {&PluginTraits::abortsOnDoubledCounters, &PluginTraits::miscomputesAtan2,
        &PluginTraits::repeatsFusedWrites, &PluginTraits::losesNaNInMinMax, &PluginTraits::isProcessor,
        &PluginTraits::executesInOwnThreads, &PluginTraits::roundsFloat32Products,
        &PluginTraits::takesAllMemory, &PluginTraits::runsUnknownSizes, &PluginTraits::bindsOpenSizes,
        &PluginTraits::lacksQuantizedTypes}) {
    PluginTraits traits;
    traits.*trait = true;
    texts.insert(traits.text());
  }
  texts.insert(PluginTraits{.deviceCountOption = "device_count"}.text());
  texts.insert(PluginTraits{.composites = {"a.b"}}.text());
  texts.insert(PluginTraits{.composites = {"a", "b"}}.text());
  EXPECT_EQ(texts.size(), 15u);
}

} // namespace
} // namespace torchere

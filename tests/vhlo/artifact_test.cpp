// Whole artifacts: every version, there and back; what a version cannot hold; bytes that are no artifact.
#include "vhlo/portable_artifact.h"

#include "stablehlo/module_implementation.h"
#include "vhlo/container.h"
#include "vhlo/module_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace torchere::vhlo {

static std::vector<Version> everyVersion() {
  std::vector<Version> versions;
  for (int minor = 9; minor <= 20; ++minor)
    versions.push_back({0, minor, 0});
  for (int minor = 0; minor <= currentVersion.minor; ++minor)
    versions.push_back({1, minor, 0});
  return versions;
}

static stablehlo::Module parse(std::string_view text) {
  auto module = stablehlo::Module::parse(text);
  EXPECT_TRUE(module) << module.error().text();
  return *std::move(module);
}

/// What every version can hold: constants, a region, a call, attributes that are none of StableHLO's.
static constexpr std::string_view program = R"(
module @program attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<4x?xf32> {jax.name = "x"}, %arg1: tensor<i1>) -> (tensor<4xf32> {jax.name = "y"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %mask = stablehlo.constant dense<[true, false, true, true, false, false, true, false, true]> : tensor<9xi1>
    %table = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
    %none = stablehlo.constant dense<> : tensor<0xui8>
    %sum = stablehlo.reduce(%arg0 init: %zero) applies stablehlo.add across dimensions = [1] {note = "kept"}
      : (tensor<4x?xf32>, tensor<f32>) -> tensor<4xf32>
    %half = call @half(%sum) : (tensor<4xf32>) -> tensor<4xf32>
    return %half : tensor<4xf32>
  }
  func.func private @half(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %two = stablehlo.constant dense<2.0> : tensor<4xf32>
    %0 = stablehlo.divide %arg0, %two : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
)";

TEST(PortableArtifact, IsTheSameModuleInEveryVersion) {
  stablehlo::Module module = parse(program);
  for (const Version &version : everyVersion()) {
    auto bytes = serialize(module, {.target = version, .withLocations = false});
    ASSERT_TRUE(bytes) << version.text() << ": " << bytes.error().text();
    EXPECT_TRUE(isArtifact(*bytes));
    EXPECT_EQ(*artifactVersion(*bytes), version);
    auto read = deserialize(*bytes);
    ASSERT_TRUE(read) << version.text() << ": " << read.error().text();
    EXPECT_EQ(read->text(), module.text()) << version.text();
    EXPECT_EQ(*serialize(*read, {.target = version, .withLocations = false}), *bytes) << version.text();
  }
}

/// What only new versions hold: meshes, futures, roots that are computed; and quantized types, bounds.
static constexpr std::string_view distributed = R"(
module @distributed {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<1xi32>, %arg2: !stablehlo.token) -> tensor<4xf32> {
    %0 = "stablehlo.async_start"(%arg0) ({
    ^bb0(%arg3: tensor<4xf32>):
      %5 = "stablehlo.collective_permute"(%arg3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
        source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
      stablehlo.return %5 : tensor<4xf32>
    }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
    %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
    %2 = "stablehlo.collective_reduce"(%1, %arg1) <{has_dynamic_root, replica_groups =
      #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 4>], device_ids=dense<[3, 2, 1, 0]>
        : tensor<4xi64>>, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (2)2>]>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %5 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
    %3 = "stablehlo.collective_broadcast"(%2, %arg1) <{has_dynamic_root, replica_groups = dense<[[0, 1]]>
      : tensor<1x2xi64>}> : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
    %4 = "stablehlo.send"(%3, %arg2) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 2>,
      is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
    return %3 : tensor<4xf32>
  }
  func.func private @types(!quant.uniform<i8:f32, 5.000000e-01:10>, tensor<2x!quant.uniform<u8<1:200>:f32:0, {2.0,3.0:4}>>,
    tensor<?x2xf32, #stablehlo.bounds<4, ?>>)
}
)";

TEST(PortableArtifact, HoldsWhatTheNewestVersionHas) {
  stablehlo::Module module = parse(distributed);
  auto bytes = serialize(module, {.target = currentVersion, .withLocations = false});
  ASSERT_TRUE(bytes) << bytes.error().text();
  auto read = deserialize(*bytes);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->text(), module.text());
  EXPECT_EQ(*serialize(*read, {.target = currentVersion, .withLocations = false}), *bytes);
  for (size_t size = 0; size < bytes->size(); ++size)
    EXPECT_FALSE(deserialize(std::string_view(*bytes).substr(0, size))) << size;
}

TEST(PortableArtifact, LocationsAreKeptOrLeftOut) {
  stablehlo::Module module = parse(R"(
    func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.abs %arg0 : tensor<2xf32> loc("encoder"("model.py":31:2))
      %1 = stablehlo.abs %0 : tensor<2xf32> loc(fused<"both">["a.py":1:2, callsite("f"("b.py":3:4) at "c.py":5:6)])
      return %1 : tensor<2xf32> loc(unknown)
    } loc("file.py":1:2 to 3:4)
  )");
  for (const Version &version : {Version{0, 9, 0}, defaultVersion}) {
    auto kept = deserialize(*serialize(module, {.target = version}));
    ASSERT_TRUE(kept) << kept.error().text();
    EXPECT_EQ(kept->text(true), module.text(true));
    auto without = deserialize(*serialize(module, {.target = version, .withLocations = false}));
    EXPECT_EQ(without->text(true).find("model.py"), std::string::npos);
    EXPECT_EQ(without->text(), module.text());
  }
}

/// StableHLO 1.5 has no `cosine` of today's form, so that its uses are made anew and come last.
TEST(PortableArtifact, OrdersOfUsesAreWrittenInTheOrderOfTheValues) {
  stablehlo::Module module = parse(R"(
    func.func @main(%arg0: tensor<f32>, %arg1: tensor<i1>) -> tensor<f32> {
      %0:3 = stablehlo.while(%a = %arg0, %b = %arg0, %c = %arg0) : tensor<f32>, tensor<f32>, tensor<f32>
      cond {
        stablehlo.return %arg1 : tensor<i1>
      } do {
        %1 = stablehlo.cosine %a : tensor<f32>
        %2 = stablehlo.cosine %b : tensor<f32>
        %3 = stablehlo.cosine %c : tensor<f32>
        stablehlo.return %a, %b, %c : tensor<f32>, tensor<f32>, tensor<f32>
      }
      return %0#0 : tensor<f32>
    }
  )");
  auto bytes = serialize(module, {.target = {1, 5, 0}, .withLocations = false});
  ASSERT_TRUE(bytes) << bytes.error().text();
  // Three entries of the arguments 0, 1 and 2: two uses each, the second first.
  EXPECT_NE(bytes->find("\7\1\11\3\1\3\11\3\1\5\11\3\1"), std::string::npos);
  EXPECT_EQ(deserialize(*bytes)->text(), module.text());
}

struct RefusedArtifact {
  const char *body;
  Version target;
  const char *message;
};

TEST(PortableArtifact, WhatAVersionLacksIsNamedWithItsPlace) {
  const RefusedArtifact refusals[] = {
      {"%0 = stablehlo.tan %a : tensor<2xf32>",
       {1, 3, 0},
       "[stablehlo.tan] StableHLO 1.3.0 has no such op: it came with 1.4.0"},
      {"%0 = stablehlo.exponential %a {result_accuracy = #stablehlo.result_accuracy<mode = "
       "#stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2xf32>",
       {1, 8, 0},
       "[stablehlo.exponential] StableHLO 1.8.0 has no attribute result_accuracy: got "
       "#stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>"},
      {"%0 = stablehlo.convert %a : (tensor<2xf32>) -> tensor<2xf8E4M3>",
       {1, 6, 0},
       "[stablehlo.convert] StableHLO 1.6.0 has no type tensor<2xf8E4M3>: it came with 1.7.0"},
      {"%0 = stablehlo.constant dense<1> : tensor<2xi2>",
       {1, 1, 0},
       "[stablehlo.constant] StableHLO 1.1.0 cannot hold the attribute value: dense<1> : tensor<2xi2> came "
       "with 1.2.0"},
      {"%0 = \"stablehlo.collective_reduce\"(%a) <{replica_groups = dense<0> : tensor<1x1xi64>}> "
       "({\n^bb0(%b: "
       "tensor<f32>, %c: tensor<f32>):\nstablehlo.return %b : tensor<f32>\n}) : (tensor<2xf32>) -> "
       "tensor<2xf32>",
       {1, 18, 0},
       "[stablehlo.collective_reduce] StableHLO 1.18.0 has no such op: it came with 1.19.0"},
      {"%0:2 = \"stablehlo.collective_broadcast\"(%a, %a) <{replica_groups = dense<0> : tensor<1x1xi64>}> : "
       "(tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)",
       {1, 19, 0},
       "[stablehlo.collective_broadcast] StableHLO 1.19.0 takes exactly one operand here: got 2, and more "
       "came "
       "with 1.20.0"},
      {"stablehlo.custom_call @f() {backend_config = {a = 1 : i64}, api_version = 4 : i32} : () -> ()",
       {1, 2, 0},
       "[stablehlo.custom_call] StableHLO 1.2.0 has no API_VERSION_TYPED_FFI: it came with 1.3.0"},
      {"%0 = stablehlo.abs %a {note} : tensor<2xf32>",
       {1, 16, 0},
       "[stablehlo.abs] attribute note has no form in a portable artifact: got unit"},
      {"%0 = stablehlo.convert %a : (tensor<2xf32>) -> tensor<2xi3>",
       {1, 16, 0},
       "[stablehlo.convert] type tensor<2xi3> has no form in a portable artifact"},
  };
  for (const RefusedArtifact &refusal : refusals) {
    std::string text = fmt::format(R"(
func.func @main(%a: tensor<2xf32>) {{
  {} loc("encoder"("model.py":31:2))
  return
}})",
                                   refusal.body);
    auto module = stablehlo::Module::parse(text);
    if (!module)
      continue; // the dialect refuses it before we are asked
    auto bytes = serialize(*module, {.target = refusal.target});
    ASSERT_FALSE(bytes) << refusal.body;
    EXPECT_EQ(bytes.error().message, refusal.message);
    EXPECT_EQ(bytes.error().where, "model.py:31 in encoder");
    EXPECT_EQ(bytes.error().code, ErrorCode::FailedPrecondition);
  }
}

TEST(PortableArtifact, OpsOfOtherDialectsAreRefused) {
  auto bytes = serialize(parse("func.func @f() attributes {no_inline} { return }"));
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().message, "[func.func] attribute no_inline has no form in a portable artifact");
}

TEST(PortableArtifact, AttributesOfModulesAreBuiltinsAlone) {
  auto kept = parse(R"(module attributes {t.a = [1 : i32, "b", unit, @g, f32], t.b = array<i64: 1, 2>,
    t.c = dense<[1, 2]> : tensor<2xi16>, t.d = {e = 2.5 : f64, f = (tensor<2x?xui8>, tuple<index>) -> i1}} {})");
  for (const Version &version : {minimumVersion, defaultVersion})
    EXPECT_EQ(deserialize(*serialize(kept, {.target = version}))->text(), kept.text());
  for (std::string_view refused :
       {"#stablehlo<precision HIGH>", "[#stablehlo<precision HIGH>]", "!stablehlo.token",
        "affine_map<(d0) -> (d0)>", "1.000000e+00 : f8E4M3FN", "1 : i128", "vector<2xf32>"}) {
    auto bytes = serialize(parse(fmt::format("module attributes {{t.a = {}}} {{}}", refused)));
    ASSERT_FALSE(bytes) << refused;
    EXPECT_EQ(
        bytes.error().message,
        fmt::format("[builtin.module] attribute t.a has no form in a portable artifact: got {}", refused));
  }
}

/// An attribute of an op takes the place of one of the module's.
TEST(PortableArtifact, AttributesOfOpsAreRefusedInModules) {
  auto source = parse(R"(module attributes {t.a = "b"} {
    func.func @f(%a: tensor<2xf32>) {
      %0 = stablehlo.dot %a, %a, precision = [HIGH, HIGH] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
      return
    }})");
  auto bytes = serialize(source, {.withLocations = false});
  ASSERT_TRUE(bytes) << bytes.error().text();
  auto container = readContainer(*bytes, "file");
  ASSERT_TRUE(container) << container.error().text();
  auto precision = std::find_if(container->attributes.begin(), container->attributes.end(), [](auto &entry) {
    return entry.dialect == "vhlo" && entry.bytes[0] == static_cast<char>(11 << 1 | 1);
  });
  ASSERT_NE(precision, container->attributes.end());
  // The module's "b" is the string of builtin whose entry is of two bytes: its code, and the string.
  size_t changed = 0;
  for (auto &entry : container->attributes)
    if (entry.dialect == "builtin" && entry.bytes.size() == 2 && entry.bytes[0] == (2 << 1 | 1) &&
        container->strings[static_cast<uint8_t>(entry.bytes[1]) >> 1] == "b") {
      entry = *precision;
      ++changed;
    }
  ASSERT_EQ(changed, 1u);
  auto context = stablehlo::makeContext();
  auto module = readModule(context.get(), *container, "file");
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().message, "[file] not a portable artifact: a module has attributes of the dialect "
                                    "vhlo, which are for the ops in it");
}

TEST(PortableArtifact, LocationsKeepWhatArtifactsHold) {
  auto bytes = serialize(parse(R"(
    func.func @f() { return loc(fused<#stablehlo<precision HIGH>>["a.py":1:2, "name"("b.py":3:4)]) })"));
  ASSERT_TRUE(bytes) << bytes.error().text();
  auto read = deserialize(*bytes);
  ASSERT_TRUE(read) << read.error().text();
  std::string text = read->text(true);
  EXPECT_NE(text.find("loc(fused[#loc"), std::string::npos) << text;
  EXPECT_EQ(text.find("precision"), std::string::npos) << text;
}

TEST(PortableArtifact, BytesThatAreNone) {
  auto message = [](std::string_view bytes) {
    auto module = deserialize(bytes, "file");
    EXPECT_FALSE(module);
    return module ? "" : module.error().message;
  };
  std::string prefix = "[file] not a portable artifact: ";
  EXPECT_EQ(message(""), prefix + "it does not begin with the magic bytes of MLIR's bytecode");
  EXPECT_EQ(message("module {}"), prefix + "it does not begin with the magic bytes of MLIR's bytecode");
  EXPECT_EQ(message("ML\xefR"), prefix + "its header cannot be read");
  EXPECT_EQ(message(std::string_view("ML\xefR\x0dx\0", 7)), prefix + "section 0 is missing");
  EXPECT_EQ(message("ML\xefR\x0f"),
            "[file] its bytecode is newer than ours: got version 7, expected 6 at most");
}

TEST(PortableArtifact, EveryPrefixIsAnError) {
  std::string bytes = *serialize(parse(program));
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(deserialize(std::string_view(bytes).substr(0, size))) << size;
}

TEST(PortableArtifact, AnOpOfTheFutureIsNamed) {
  std::string bytes =
      *serialize(parse("func.func @f(%a: tensor<f32>) { %0 = stablehlo.abs %a : tensor<f32> return }"));
  size_t place = bytes.find("abs_v1");
  ASSERT_NE(place, std::string::npos);
  bytes.replace(place, 6, "abs_v7");
  auto module = deserialize(bytes, "file");
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().code, ErrorCode::Unimplemented);
  EXPECT_EQ(module.error().message,
            "[file] holds vhlo.abs_v7, which is no op of StableHLO 1.20.0 or older: it was "
            "written by StableHLO_v1.16.0");
}

TEST(PortableArtifact, AModuleThatDoesNotVerifyIsRefused) {
  auto source = parse("func.func @f(%a: tensor<f32>) { %0 = stablehlo.abs %a : tensor<f32> return }");
  std::string bytes = *serialize(source, {.withLocations = false});
  bytes.replace(bytes.find("abs_v1"), 6, "xor_v1");
  auto module = deserialize(bytes, "file");
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().message,
            "[file] not valid StableHLO: 'stablehlo.xor' op expected 2 operands, but found 1");
}

} // namespace torchere::vhlo

// Constants of bools in both forms that artifacts have them: as bits, which is what we and MLIR up to 22
// write, and as bytes, which newer releases of MLIR may.
#include "stablehlo/module_implementation.h"
#include "vhlo/attribute_codes.h"
#include "vhlo/byte_cursor.h"
#include "vhlo/container.h"
#include "vhlo/module_reader.h"
#include "vhlo/portable_artifact.h"

#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <vector>

namespace torchere::vhlo {
namespace {

using Bools = std::vector<bool>;

std::string textOf(const Bools &values) {
  std::string list;
  for (bool value : values)
    list += std::string(list.empty() ? "" : ", ") + (value ? "true" : "false");
  return "func.func @f() -> tensor<" + std::to_string(values.size()) +
         "xi1> { %0 = stablehlo.constant dense<[" + list + "]> : tensor<" + std::to_string(values.size()) +
         "xi1> return %0 : tensor<" + std::to_string(values.size()) + "xi1> }";
}

bool isSplat(const Bools &values) {
  return std::equal(values.begin() + 1, values.end(), values.begin());
}

std::string bitsOf(const Bools &values) {
  std::string bits((values.size() + 7) / 8, '\0');
  for (size_t index = 0; index < values.size(); ++index)
    bits[index / 8] |= values[index] << (index % 8);
  return bits;
}

/// As MLIR 22 has them: a splat is one byte of equal bits, but for a single bool, which is 0 or 1.
std::string expectedBits(const Bools &values) {
  if (values.size() > 1 && isSplat(values))
    return std::string(1, values[0] ? '\xff' : '\0');
  return bitsOf(values);
}

/// A number of less than 128 as bytecode has it.
char number(uint64_t value) {
  return static_cast<char>(value << 1 | 1);
}

/// A constant's entry, which is the only tensor of its artifact: the code, the type, the elements.
struct Constant {
  Container::Entry *entry = nullptr;
  std::string head; // up to the elements
  std::string elements;
};

Constant constantOf(Container &container) {
  Constant found;
  for (Container::Entry &entry : container.attributes) {
    ByteCursor cursor(entry.bytes);
    if (entry.dialect != "vhlo" || cursor.varInt() != static_cast<uint64_t>(AttributeCode::Tensor))
      continue;
    cursor.varInt();
    EXPECT_EQ(found.entry, nullptr);
    found.entry = &entry;
    found.head = entry.bytes.substr(0, entry.bytes.size() - cursor.remaining());
    found.elements = cursor.bytes(cursor.varInt());
    EXPECT_TRUE(cursor.atEnd() && !cursor.failed());
  }
  return found;
}

std::string textOf(const Container &container) {
  auto context = stablehlo::makeContext();
  auto module = readModule(context.get(), container, "bools");
  if (!module)
    return module.error().message;
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*module)->print(stream);
  return text;
}

/// What is read when the constant's elements are `elements`.
std::string textWith(std::string_view artifact, const std::string &elements) {
  auto container = readContainer(artifact, "bools");
  Constant constant = constantOf(*container);
  std::string changed = constant.head + number(elements.size()) + elements;
  constant.entry->bytes = changed;
  return textOf(*container);
}

void expectBothForms(const Bools &values) {
  SCOPED_TRACE(textOf(values));
  auto module = stablehlo::Module::parse(textOf(values));
  ASSERT_TRUE(module) << module.error().text();
  for (const Version &target : {minimumVersion, Version{0, 14, 0}, defaultVersion, currentVersion}) {
    std::string artifact = *serialize(*module, {.target = target, .withLocations = false});
    auto container = readContainer(artifact, "bools");
    Constant constant = constantOf(*container);
    ASSERT_NE(constant.entry, nullptr);
    EXPECT_EQ(constant.elements, expectedBits(values)) << target.text();
    std::string expected = module->text();
    EXPECT_EQ(textOf(*container), expected) << target.text();
    EXPECT_EQ(textWith(artifact, bitsOf(values)), expected) << target.text();
    EXPECT_EQ(textWith(artifact, std::string(values.begin(), values.end())), expected) << target.text();
    // Of eight or fewer, one byte is their bits.
    if (isSplat(values) && values.size() > 8) {
      EXPECT_EQ(textWith(artifact, std::string(1, values[0])), expected) << target.text();
    }
  }
}

class Booleans : public testing::TestWithParam<size_t> {};

TEST_P(Booleans, AreReadAsBitsAndAsBytes) {
  Bools mixed;
  for (size_t index = 0; index < GetParam(); ++index)
    mixed.push_back(index % 3 == 0);
  expectBothForms(mixed);
  mixed.back() = !mixed.back(); // the last bit alone
  expectBothForms(mixed);
}

TEST_P(Booleans, SplatsAreReadAsBitsAndAsBytes) {
  expectBothForms(Bools(GetParam(), true));
  expectBothForms(Bools(GetParam(), false));
}

TEST_P(Booleans, OtherNumbersOfBytesAreRefused) {
  Bools values(GetParam(), false);
  std::string artifact = *serialize(*stablehlo::Module::parse(textOf(values)), {.withLocations = false});
  for (size_t size : {size_t(0), (values.size() + 7) / 8 + 1, values.size() + 1})
    if (size != values.size()) {
      std::string message = textWith(artifact, std::string(size, '\0'));
      EXPECT_NE(message.find("not as many as its type needs"), message.npos) << size << ": " << message;
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Booleans, testing::Values(1, 2, 7, 8, 9, 16, 17, 100));

} // namespace
} // namespace torchere::vhlo

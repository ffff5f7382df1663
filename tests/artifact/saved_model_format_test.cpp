// The encodings of a SavedModel: checksums, protocol buffers, the sorted table, names.
#include "artifact/saved_model/names.h"
#include "artifact/saved_model/sorted_table.h"
#include "artifact/saved_model/wire_format.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

namespace torchere::artifact::saved_model {
namespace {

std::string bytes(std::initializer_list<int> values) {
  std::string result;
  for (int value : values)
    result.push_back(static_cast<char>(value));
  return result;
}

TEST(MaskedTest, IsRotatedAndOffset) {
  EXPECT_EQ(masked(Crc32c()), 0xa282ead8u);
  // 0xe3069283 rotated right by 15 bits is 0x2507c60d.
  EXPECT_EQ(masked(Crc32c().add("123456789")), 0x2507c60du + 0xa282ead8u);
}

TEST(WireFormatTest, WritesTheGuidesExamples) {
  EXPECT_EQ(Message().number(1, 150).bytes(), bytes({0x08, 0x96, 0x01}));
  EXPECT_EQ(Message().text(2, "testing").bytes(), bytes({0x12, 0x07}) + "testing");
  EXPECT_EQ(Message().message(3, Message().number(1, 150)).bytes(), bytes({0x1a, 0x03, 0x08, 0x96, 0x01}));
  EXPECT_EQ(Message().numbers(6, {3, 270, 86942}).bytes(),
            bytes({0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05}));
}

TEST(WireFormatTest, WritesEveryKind) {
  EXPECT_EQ(Message().number(1, -1).bytes(), bytes({0x08}) + std::string(9, '\xff') + bytes({0x01}));
  EXPECT_EQ(Message().number(20, 0).bytes(), bytes({0xa0, 0x01, 0x00})); // a default is written
  EXPECT_EQ(Message().fixed32(6, 0x01020304).bytes(), bytes({0x35, 4, 3, 2, 1}));
  EXPECT_EQ(Message().fixed64(1, 1).bytes(), bytes({0x09, 1, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(Message().entry(5, "k", "v").bytes(), bytes({0x2a, 6, 0x0a, 1, 'k', 0x12, 1, 'v'}));
  EXPECT_EQ(Message().numbers(2, {}).bytes(), "");
}

/// Reads a table as TensorFlow does: the footer, the index, then each block of data.
class TableReader {
public:
  explicit TableReader(const std::string &file) : file(file) {}

  /// The entries in their order; none if anything is wrong.
  std::optional<std::vector<std::pair<std::string, std::string>>> read() {
    constexpr size_t footerSize = 48;
    if (file.size() < footerSize || file.substr(file.size() - 8) != "\x57\xfb\x80\x8b\x24\x75\x47\xdb")
      return std::nullopt;
    std::string_view footer = std::string_view(file).substr(file.size() - footerSize, footerSize - 8);
    uint64_t unused, offset, size;
    if (!take(footer, unused) || !take(footer, unused) || !take(footer, offset) || !take(footer, size))
      return std::nullopt;
    auto index = readBlock(offset, size);
    if (!index)
      return std::nullopt;
    std::vector<std::pair<std::string, std::string>> entries;
    for (const auto &[lastKey, handle] : *index) {
      std::string_view place = handle;
      if (!take(place, offset) || !take(place, size))
        return std::nullopt;
      auto block = readBlock(offset, size);
      if (!block || block->empty() || block->back().first != lastKey)
        return std::nullopt;
      entries.insert(entries.end(), block->begin(), block->end());
    }
    return entries;
  }

private:
  static bool take(std::string_view &text, uint64_t &value) {
    value = 0;
    for (int shift = 0; shift < 70 && !text.empty(); shift += 7) {
      auto byte = static_cast<unsigned char>(text[0]);
      text.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80)
        return true;
    }
    return false;
  }

  static uint32_t fixed32(std::string_view text) {
    uint32_t value = 0;
    for (size_t index = 0; index < 4; ++index)
      value |= static_cast<uint32_t>(static_cast<unsigned char>(text[index])) << (8 * index);
    return value;
  }

  std::optional<std::vector<std::pair<std::string, std::string>>> readBlock(uint64_t offset, uint64_t size) {
    constexpr size_t trailer = 5;
    if (offset > file.size() || size > file.size() - offset || file.size() - offset - size < trailer)
      return std::nullopt;
    std::string_view checked = std::string_view(file).substr(offset, size + 1);
    if (checked.back() != 0 ||
        masked(Crc32c().add(checked)) != fixed32(std::string_view(file).substr(offset + size + 1)))
      return std::nullopt;
    std::string_view block = checked.substr(0, size);
    size_t restarts = fixed32(block.substr(block.size() - 4));
    std::string_view text = block.substr(0, block.size() - 4 * (restarts + 1));
    std::vector<std::pair<std::string, std::string>> entries;
    std::string key;
    while (!text.empty()) {
      uint64_t shared, own, valueSize;
      if (!take(text, shared) || !take(text, own) || !take(text, valueSize) || shared > key.size())
        return std::nullopt;
      key = key.substr(0, shared) + std::string(text.substr(0, own));
      entries.emplace_back(key, text.substr(own, valueSize));
      text.remove_prefix(own + valueSize);
    }
    return entries;
  }

  const std::string &file;
};

TEST(SortedTableTest, IsReadBack) {
  std::map<std::string, std::string> expected = {{"", "header"}};
  for (int index = 0; index < 5000; ++index)
    expected[fmt::format("_variables/{}/.ATTRIBUTES/VARIABLE_VALUE", index)] = std::string(index % 40, 'x');
  SortedTable table;
  for (const auto &[key, value] : expected)
    table.add(key, value);
  std::string file = table.finish();
  auto entries = TableReader(file).read();
  ASSERT_TRUE(entries);
  EXPECT_EQ((std::map<std::string, std::string>(entries->begin(), entries->end())), expected);
  EXPECT_TRUE(std::is_sorted(entries->begin(), entries->end()));
}

TEST(SortedTableTest, DamageIsSeenEverywhereButWhereNobodyReads) {
  SortedTable table;
  table.add("", "header");
  table.add("a", "1");
  table.add("ab", "2");
  std::string file = table.finish();
  auto intact = TableReader(file).read();
  ASSERT_TRUE(intact);
  // In the footer of 48 bytes: the place of the block of metadata, and what a short number leaves free.
  size_t footer = file.size() - 48;
  auto isUnread = [&](size_t place) {
    return place >= footer && (place < footer + 20 || (place > footer + 30 && place < footer + 40));
  };
  for (size_t place = 0; place < file.size(); ++place) {
    std::string damaged = file;
    damaged[place] = static_cast<char>(damaged[place] ^ 0xff);
    auto entries = TableReader(damaged).read();
    bool isSeen = !entries || *entries != *intact;
    EXPECT_TRUE(isSeen || isUnread(place)) << place;
  }
}

TEST(NamesTest, DifferentNamesStayDifferent) {
  EXPECT_EQ(encodedName("layer.0.weight_1"), "layer.0.weight_1");
  EXPECT_EQ(encodedName("a/b-c d"), "a-2fb-2dc-20d");
  EXPECT_EQ(encodedName("é"), ".-c3-a9");
  EXPECT_EQ(encodedName("_w"), ".-5fw");
  EXPECT_EQ(encodedName(""), ".");
  std::set<std::string> encoded;
  const std::vector<std::string> names = {"",   ".",   "-",    "_",           "/",
                                          "a",  "A",   "a.",   ".a",          "a-2f",
                                          "a/", "-2f", ".-2f", "constants/0", "torchere..generator"};
  for (const std::string &name : names)
    encoded.insert(encodedName(name));
  EXPECT_EQ(encoded.size(), names.size());
}

TEST(NamesTest, AttributesArePythonsIdentifiers) {
  EXPECT_TRUE(canBeAttribute("encode_2"));
  for (const char *name : {"", "2x", "_x", "a b", "class", "signatures", "variables", "é"})
    EXPECT_FALSE(canBeAttribute(name)) << name;
}

} // namespace
} // namespace torchere::artifact::saved_model

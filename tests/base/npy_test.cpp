// npy: headers as numpy writes them, headers that are wrong, and the types that each file may hold.
#include "base/npy.h"

#include <gtest/gtest.h>

namespace torchere {
namespace {

using namespace std::string_literals;

/// A file of format version `version` with the dictionary as given and `dataSize` bytes after it.
std::string npyFile(const std::string &dictionary, size_t dataSize, int version = 1) {
  std::string file = "\x93NUMPY"s + static_cast<char>(version) + '\0';
  for (int index = 0; index < (version == 1 ? 2 : 4); ++index)
    file += static_cast<char>(dictionary.size() >> 8 * index & 0xFF);
  return file + dictionary + std::string(dataSize, 'x');
}

Result<NpyHeader> parse(const std::string &file) {
  return parseNpyHeader(std::as_bytes(std::span(file.data(), file.size())), "data/w");
}

std::string message(const std::string &file) {
  Result<NpyHeader> header = parse(file);
  return header ? "parsed" : header.error().message;
}

TEST(NpyHeader, ReadsAllVersionsAndBothOrders) {
  for (int version : {1, 2, 3}) {
    Result<NpyHeader> header =
        parse(npyFile("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }   \n", 24, version));
    ASSERT_TRUE(header.has_value()) << header.error().message;
    EXPECT_EQ(header->descr, "<f4");
    EXPECT_TRUE(header->fortranOrder);
    EXPECT_EQ(header->shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(header->dataSize(), 24u);
    EXPECT_EQ(header->elementCount, 6u);
  }
}

TEST(NpyHeader, ReadsScalarsEmptyArraysAndOtherSpellings) {
  EXPECT_EQ(parse(npyFile("{'descr': '<i8', 'fortran_order': False, 'shape': (), }", 8))->elementCount, 1u);
  EXPECT_EQ(parse(npyFile("{\"shape\":(4,),\"descr\":\"|V2\",\"fortran_order\":False}\n", 8))->elementCount,
            4u);
  Result<NpyHeader> empty =
      parse(npyFile("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4611686018427387904)}", 0));
  EXPECT_EQ(empty.error().message,
            "[data/w] wrong npy header: the shape has more elements than fit in memory");
  EXPECT_EQ(parse(npyFile("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 0, 5)}", 0))->elementCount,
            0u);
}

TEST(NpyHeader, RefusesOtherFilesAndTruncatedOnes) {
  std::string whole = npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", 8);
  EXPECT_EQ(message("PK\3\4 zip, not npy"),
            "[data/w] is not an npy file: it starts with other bytes, or is cut off (17 bytes)");
  EXPECT_EQ(message(""), "[data/w] is not an npy file: it starts with other bytes, or is cut off (0 bytes)");
  EXPECT_EQ(message(whole.substr(0, 9)),
            "[data/w] is not an npy file: it starts with other bytes, or is cut off (9 bytes)");
  EXPECT_EQ(message(whole.substr(0, 30)), "[data/w] the npy header is cut off: the file ends after 30 bytes");
  EXPECT_EQ(message("\x93NUMPY\2\0\1\1"s),
            "[data/w] the npy header is cut off: the file ends after 10 bytes");
  EXPECT_EQ(message(whole.substr(0, whole.size() - 3)),
            "[data/w] wrong size of data: got 5 bytes, expected 8 (the file is cut off)");
  EXPECT_EQ(message(whole + "more"), "[data/w] wrong size of data: got 12 bytes, expected 8");
  EXPECT_EQ(message("\x93NUMPY\4\0\0\0\0\0"s), "[data/w] npy format version 4.0: expected 1.0, 2.0 or 3.0");
  EXPECT_EQ(message(npyFile(std::string((1 << 20) + 1, ' '), 0, 2)),
            "[data/w] the npy header is too long: got 1048577 bytes, expected at most 1048576");
}

TEST(NpyHeader, RefusesMalformedDictionaries) {
  auto dictionary = [](const std::string &text) { return message(npyFile(text, 0)); };
  EXPECT_EQ(dictionary("x"), "[data/w] wrong npy header: got \"x\", expected '{'");
  EXPECT_EQ(dictionary("{'descr': '<f4', 'shape': (1,)}"),
            "[data/w] wrong npy header: the key 'fortran_order' is missing");
  EXPECT_EQ(dictionary("{}"), "[data/w] wrong npy header: the key 'descr' is missing");
  EXPECT_EQ(dictionary("{'descr': '<f4', 'fortran_order': False}"),
            "[data/w] wrong npy header: the key 'shape' is missing");
  EXPECT_EQ(dictionary("{'descr': '<f4', 'descr': '<f4'}"),
            "[data/w] wrong npy header: got the key 'descr', expected 'descr', 'fortran_order' and 'shape', "
            "once each");
  EXPECT_EQ(dictionary("{'extra': 1}"), "[data/w] wrong npy header: got the key 'extra', expected 'descr', "
                                        "'fortran_order' and 'shape', once each");
  EXPECT_EQ(dictionary("{'descr'"), "[data/w] wrong npy header: got \"\", expected ':'");
  EXPECT_EQ(dictionary("{'descr: "), "[data/w] wrong npy header: got \"'descr: \", expected a key in quotes");
  EXPECT_EQ(dictionary("{'descr': f4}"), "[data/w] wrong npy header: got \"f4}\", expected a type in quotes");
  EXPECT_EQ(dictionary("{'fortran_order': 1}"),
            "[data/w] wrong npy header: got \"1}\", expected True or False");
  EXPECT_EQ(dictionary("{'shape': (2 3)}"), "[data/w] wrong npy header: got \"3)}\", expected ')'");
  EXPECT_EQ(dictionary("{'shape': (-1,)}"),
            "[data/w] wrong npy header: got the size \"-1\", expected an integer of at least 0");
  EXPECT_EQ(
      dictionary("{'shape': (99999999999999999999,)}"),
      "[data/w] wrong npy header: got the size \"99999999999999999999\", expected an integer of at least 0");
  EXPECT_EQ(dictionary("{'descr': '<f4' 'x'}"), "[data/w] wrong npy header: got \"'x'}\", expected '}'");
  EXPECT_EQ(dictionary("{'descr': '<f4', 'fortran_order': False, 'shape': ()} + 1"),
            "[data/w] wrong npy header: something follows the dictionary: \"+ 1\"");
  std::string sizes;
  for (int index = 0; index < 65; ++index)
    sizes += "1,";
  EXPECT_EQ(dictionary("{'shape': (" + sizes + ")}"),
            "[data/w] wrong npy header: too many dimensions: expected at most 64");
}

TEST(NpyHeader, RefusesSizesThatOverflow) {
  for (const char *shape : {"(9223372036854775807, 3)", "(4611686018427387904, 2)", "(2305843009213693952,)"})
    EXPECT_EQ(message(npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': "s + shape + "}", 0)),
              "[data/w] wrong npy header: the shape has more elements than fit in memory");
}

TEST(NpyHeader, RefusesTypesThatAreNoNumbers) {
  auto type = [](const std::string &descr) {
    return message(npyFile("{'descr': " + descr + ", 'fortran_order': False, 'shape': ()}", 0));
  };
  EXPECT_EQ(type("'|O'"), "[data/w] holds pickled Python objects (type '|O'), which are not read");
  EXPECT_EQ(type("[('a', '<f4')]"), "[data/w] has a structured type, expected a plain one");
  EXPECT_EQ(type("'>f4'"), "[data/w] is big-endian (type '>f4'), expected little-endian numbers");
  EXPECT_EQ(type("'<U3'"), "[data/w] has the type '<U3', expected bools, numbers or raw bytes of at most 32");
  for (const char *descr :
       {"'<M8[s]'", "'f4'", "''", "'<f'", "'<f0'", "'|V99'", "'<f4x'", "'<f99999999999999999999'"})
    EXPECT_NE(type(descr).find("expected bools, numbers or raw bytes"), std::string::npos) << descr;
}

TEST(NpyHeader, WritesWhatItReadsWithAlignedData) {
  for (int index = 0; index <= static_cast<int>(DType::F8E8M0FNU); ++index)
    for (std::vector<int64_t> shape :
         {std::vector<int64_t>{}, {5}, {2, 3}, {0, 7}, {1, 1, 1, 1, 1, 1, 1, 1, 1}}) {
      const DTypeInfo &info = dtypeInfo(static_cast<DType>(index));
      std::string header = makeNpyHeader(info.dtype, shape);
      EXPECT_EQ(header.size() % 64, 0u);
      EXPECT_EQ(header.back(), '\n');
      size_t count = 1;
      for (int64_t size : shape)
        count *= static_cast<size_t>(size);
      Result<NpyHeader> read = parse(header + std::string(count * info.byteSize, '\0'));
      ASSERT_TRUE(read.has_value()) << read.error().message;
      EXPECT_EQ(read->shape, shape);
      EXPECT_EQ(read->descr, info.descr);
      EXPECT_EQ(read->dataOffset, header.size());
      EXPECT_FALSE(read->fortranOrder);
      EXPECT_EQ(*dtypeFromDescr(read->descr, info.dtype, "w"), info.dtype);
    }
}

TEST(NpyHeader, IsNumpysToTheByte) {
  EXPECT_EQ(makeNpyHeader(DType::F32, std::vector<int64_t>{2, 3}),
            "\x93NUMPY\1\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"s +
                std::string(58, ' ') + "\n");
}

TEST(DTypeFromDescr, KnowsNumpysNamesAndAsksForTheOthers) {
  EXPECT_EQ(*dtypeFromDescr("<f4", {}, "w"), DType::F32);
  EXPECT_EQ(*dtypeFromDescr("=i8", {}, "w"), DType::I64);
  EXPECT_EQ(*dtypeFromDescr("<u1", {}, "w"), DType::U8);
  EXPECT_EQ(*dtypeFromDescr("|b1", {}, "w"), DType::Bool);
  EXPECT_EQ(*dtypeFromDescr("<c16", {}, "w"), DType::C128);
  EXPECT_EQ(*dtypeFromDescr("<V2", DType::BF16, "w"), DType::BF16);
  EXPECT_EQ(*dtypeFromDescr("|V1", DType::F8E5M2, "w"), DType::F8E5M2);
  EXPECT_EQ(dtypeFromDescr("|V2", {}, "w").error().message,
            "[w] holds raw bytes ('|V2') and nothing names their dtype");
  EXPECT_EQ(dtypeFromDescr("<f8", DType::F32, "w").error().message,
            "[w] wrong dtype: got '<f8', expected '<f4' (float32)");
  EXPECT_EQ(dtypeFromDescr("<f16", {}, "w").error().message,
            "[w] has the type '<f16', which is none of torch's");
}

TEST(DenseStrides, BothOrders) {
  std::vector<int64_t> shape = {2, 3, 4};
  EXPECT_EQ(denseStrides(shape, false), (std::vector<int64_t>{12, 4, 1}));
  EXPECT_EQ(denseStrides(shape, true), (std::vector<int64_t>{1, 2, 6}));
  EXPECT_EQ(denseStrides(std::vector<int64_t>{3, 0, 2}, false), (std::vector<int64_t>{2, 2, 1}));
  EXPECT_TRUE(denseStrides({}, false).empty());
}

} // namespace
} // namespace torchere

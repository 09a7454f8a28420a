#include "formats/gguf/gguf_file.h"

#include <gtest/gtest.h>

#include "tests/unit/formats/gguf_bytes.h"
#include "tests/unit/formats/refusals.h"

namespace alate::formats {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string refusal_of(const std::string& file) {
  return refusal([&] { parse_gguf_header(bytes_of(file), "f.gguf"); });
}

template <std::unsigned_integral Integer>
std::string number(Integer value) {
  return GgufBytes::number(value);
}

TEST(Gguf, ReadsEveryTypeOfMetadata) {
  GgufBytes made;
  made.add("u8", GgufType::u8, number(std::uint8_t{200}))
      .add("i8", GgufType::i8, number(std::uint8_t{0xFE}))
      .add("u16", GgufType::u16, number(std::uint16_t{60000}))
      .add("i16", GgufType::i16, number(std::uint16_t{0xFFFE}))
      .add_u32("u32", 4000000000)
      .add("i32", GgufType::i32, number(std::uint32_t{0xFFFFFFFE}))
      .add("u64", GgufType::u64, number(std::uint64_t{1} << 63))
      .add("i64", GgufType::i64, number(~std::uint64_t{1}))
      .add("f32", GgufType::f32, number(std::uint32_t{0x3FC00000}))
      .add("f64", GgufType::f64, number(std::uint64_t{0xC000000000000000}))
      .add_bool("bool", true)
      .add_text("string", "a\xC3\xA9");
  const std::string file = made.bytes();
  const GgufHeader header = parse_gguf_header(bytes_of(file), "f.gguf");
  EXPECT_EQ(header.version, 3U);
  ASSERT_EQ(header.metadata.size(), 12U);
  EXPECT_EQ(header.metadata[0].first, "u8");
  EXPECT_EQ(header.find("u8")->as_int(""), 200);
  EXPECT_EQ(header.find("i8")->as_int(""), -2);
  EXPECT_EQ(header.find("u16")->as_count(""), 60000U);
  EXPECT_EQ(header.find("i16")->as_int(""), -2);
  EXPECT_EQ(header.find("u32")->as_count(""), 4000000000U);
  EXPECT_EQ(header.find("i32")->as_int(""), -2);
  EXPECT_EQ(header.find("u64")->as_count(""), std::uint64_t{1} << 63);
  EXPECT_EQ(header.find("i64")->as_int(""), -2);
  EXPECT_EQ(header.find("f32")->as_double(""), 1.5);
  EXPECT_EQ(header.find("f64")->as_double(""), -2.0);
  EXPECT_EQ(header.find("u8")->as_double(""), 200.0);
  EXPECT_TRUE(header.find("bool")->as_bool(""));
  EXPECT_EQ(header.find("string")->as_text(""), "a\xC3\xA9");
  EXPECT_EQ(header.find("absent"), nullptr);
}

TEST(Gguf, AValueOfAnotherTypeIsRefusedByName) {
  GgufBytes made;
  made.add_text("name", "\xC3")
      .add("u64", GgufType::u64, number(std::uint64_t{1} << 63))
      .add("i8", GgufType::i8, "\xFF");
  const std::string file = made.bytes();
  const GgufHeader header = parse_gguf_header(bytes_of(file), "f.gguf");
  EXPECT_EQ(refusal([&] { header.find("name")->as_int("name"); }),
            "corrupt: name must be a whole number but is string");
  EXPECT_EQ(refusal([&] { header.find("name")->as_text("name"); }), "corrupt: name is not UTF-8 text");
  EXPECT_EQ(header.find("name")->as_bytes("name"), "\xC3");
  EXPECT_TRUE(contains(refusal([&] { header.find("u64")->as_int("u64"); }), "too large"));
  EXPECT_TRUE(contains(refusal([&] { header.find("i8")->as_count("i8"); }), "must not be negative"));
  EXPECT_TRUE(contains(refusal([&] { header.find("i8")->as_bool("i8"); }), "must be a boolean but is i8"));
  EXPECT_TRUE(contains(refusal([&] { header.find("i8")->as_array("i8"); }), "must be an array"));
}

TEST(Gguf, ArraysAreReadInPlace) {
  GgufBytes made;
  made.add("tokens", GgufType::array, GgufBytes::strings({"<unk>", "", "b"}));
  made.add("types", GgufType::array,
           GgufBytes::array(GgufType::i32, 2, number(std::uint32_t{7}) + number(std::uint32_t{0xFFFFFFFF})));
  const std::string inner = GgufBytes::array(GgufType::u8, 2, "\x01\x02");
  made.add("nested", GgufType::array, GgufBytes::array(GgufType::array, 2, inner + GgufBytes::strings({"x"})));
  made.add("empty", GgufType::array, GgufBytes::array(GgufType::f32, 0, ""));
  const std::string file = made.bytes();
  const GgufHeader header = parse_gguf_header(bytes_of(file), "f.gguf");

  const GgufArray tokens = header.find("tokens")->as_array("tokens");
  EXPECT_EQ(tokens.size(), 3U);
  std::vector<std::string_view> texts;
  for (const GgufValue token : tokens) texts.push_back(token.as_text("token"));
  EXPECT_EQ(texts, (std::vector<std::string_view>{"<unk>", "", "b"}));

  const GgufArray types = header.find("types")->as_array("types");
  EXPECT_EQ(types.element_type(), GgufType::i32);
  EXPECT_EQ(types.at(1).as_int(""), -1);

  std::vector<std::size_t> sizes;
  for (const GgufValue list : header.find("nested")->as_array("nested")) sizes.push_back(list.as_array("list").size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{2, 1}));
  EXPECT_EQ(header.find("empty")->as_array("empty").size(), 0U);
}

// Extents in the file: the contiguous one first.
TEST(Gguf, TensorsHaveTheirExtentsAndBytes) {
  GgufBytes made;
  made.add_u32("general.alignment", 64);
  made.tensor("blocks", {64, 3}, 2, 64);  // q4_0: 18 bytes for 32 elements, so 108
  made.tensor("plain", {3, 2}, 0, 0);     // 24 bytes
  made.tensor("scalar", {}, 1, 192);
  const std::string file = made.bytes(std::string(194, 'x'), 64);
  const GgufHeader header = parse_gguf_header(bytes_of(file), "f.gguf");
  ASSERT_EQ(header.tensors.size(), 3U);
  EXPECT_EQ(header.data_begin % 64, 0U);
  EXPECT_EQ(header.data_begin, file.size() - 194);
  EXPECT_EQ(header.tensors[0].name, "plain");
  EXPECT_EQ(header.tensors[0].dims, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(header.tensors[0].end - header.tensors[0].begin, 24U);
  const GgufTensor* blocks = header.find_tensor("blocks");
  ASSERT_NE(blocks, nullptr);
  EXPECT_EQ(blocks->type->name, "q4_0");
  EXPECT_EQ(blocks->begin, header.data_begin + 64);
  EXPECT_EQ(blocks->end - blocks->begin, 108U);
  EXPECT_EQ(header.find_tensor("scalar")->end, file.size());
  EXPECT_EQ(header.find_tensor("absent"), nullptr);
}

TEST(Gguf, RefusesHeadersThatContradictTheFile) {
  EXPECT_EQ(refusal_of("GGML"), "corrupt: f.gguf: it does not begin with GGUF");
  EXPECT_TRUE(contains(refusal_of("GGUF\x03"), "is the file whole?"));
  GgufBytes made;
  made.version = 1;
  EXPECT_TRUE(contains(refusal_of(made.bytes()), "unsupported: f.gguf: it is of version 1"));
  made.version = 3U << 24;
  EXPECT_TRUE(contains(refusal_of(made.bytes()), "big-endian"));
  made.version = 4;
  EXPECT_TRUE(contains(refusal_of(made.bytes()), "GGUF version 4"));
  const std::string head = "GGUF" + number(std::uint32_t{3});
  EXPECT_TRUE(
      contains(refusal_of(head + number(~std::uint64_t{0}) + number(std::uint64_t{0})), "more than it can hold"));
  EXPECT_TRUE(
      contains(refusal_of(head + number(std::uint64_t{0}) + number(~std::uint64_t{0})), "more than it can hold"));
}

TEST(Gguf, RefusesMetadataThatContradictsTheFile) {
  const auto refused = [](GgufType type, std::string_view value) {
    return refusal_of(GgufBytes().add("key", type, value).bytes());
  };
  EXPECT_TRUE(contains(refused(GgufType{13}, "1234"), "metadata \"key\": a value is of type 13"));
  EXPECT_TRUE(contains(refused(GgufType::u64, "1234"), "ends beyond the file"));
  EXPECT_TRUE(contains(refused(GgufType::boolean, "\x02"), "neither 0 nor 1"));
  EXPECT_TRUE(contains(refused(GgufType::string, number(~std::uint64_t{0})), "ends beyond the file"));
  const auto many = GgufBytes::type_of(GgufType::u64) + number(std::uint64_t{1} << 61);
  EXPECT_TRUE(contains(refused(GgufType::array, many), "longer than the file"));
  const auto unknown = GgufBytes::type_of(GgufType{99}) + number(std::uint64_t{0});
  EXPECT_TRUE(contains(refused(GgufType::array, unknown), "elements of type 99"));
  std::string nested = GgufBytes::array(GgufType::u8, 0, "");
  for (int i = 0; i < 10; ++i) nested = GgufBytes::array(GgufType::array, 1, nested);
  EXPECT_TRUE(contains(refused(GgufType::array, nested), "unsupported"));

  EXPECT_TRUE(contains(refusal_of(GgufBytes().add_u32("a", 1).add_u32("a", 1).bytes()), "two metadata entries"));
  EXPECT_TRUE(contains(refusal_of(GgufBytes().add_u32("\xFF", 1).bytes()), "not UTF-8"));
  EXPECT_TRUE(contains(refusal_of(GgufBytes().add_u32("general.alignment", 24).bytes()), "no power of two"));
}

TEST(Gguf, RefusesTensorsThatContradictTheFile) {
  const auto refused = [](const std::vector<std::uint64_t>& dims, std::uint32_t type, std::uint64_t offset) {
    return refusal_of(GgufBytes().tensor("t", dims, type, offset).bytes(std::string(64, 'x')));
  };
  EXPECT_EQ(refused({16}, 0, 0), "accepted");
  EXPECT_TRUE(contains(refused({17}, 0, 0), "ends beyond the file"));
  EXPECT_TRUE(contains(refused({8}, 0, 4), "no multiple of 32"));
  EXPECT_TRUE(contains(refused({8}, 0, std::uint64_t{1} << 62), "ends beyond the file"));
  EXPECT_TRUE(contains(refused({31}, 2, 0), "no whole blocks of q4_0"));
  EXPECT_TRUE(contains(refused({1}, 4, 0), "unsupported"));
  EXPECT_TRUE(contains(refused({1, 1, 1, 1, 1}, 0, 0), "has 5 dims"));
  EXPECT_TRUE(contains(refused({std::uint64_t{1} << 40, std::uint64_t{1} << 40}, 0, 0), "more elements"));
  EXPECT_TRUE(contains(refused({std::uint64_t{1} << 63}, 0, 0), "more elements"));
  EXPECT_TRUE(contains(refused({std::uint64_t{1} << 62}, 0, 0), "more bytes"));
  const auto two = [](std::string_view first, std::string_view second) {
    return refusal_of(GgufBytes().tensor(first, {9}, 0, 0).tensor(second, {2}, 0, 32).bytes(std::string(64, 'x')));
  };
  EXPECT_TRUE(contains(two("a", "b"), "\"a\" and \"b\" overlap"));
  EXPECT_TRUE(contains(two("a", "a"), "two tensors"));
}

TEST(Gguf, TypesHaveTheirBlockSizes) {
  EXPECT_EQ(find_ggml_type(12)->name, "q4_K");
  EXPECT_EQ(find_ggml_type("Q4_K")->block_bytes, 144U);
  EXPECT_EQ(find_ggml_type(36), nullptr);
  EXPECT_EQ(find_ggml_type("q9_9"), nullptr);
  for (std::uint32_t number = 0; number < 100; ++number) {
    const GgmlType* type = find_ggml_type(number);
    if (type == nullptr || !type->encoding) continue;
    EXPECT_EQ(tensor::block_size(*type->encoding).elements, type->block_elements) << type->name;
    EXPECT_EQ(tensor::block_size(*type->encoding).bytes, type->block_bytes) << type->name;
  }
}

// Made by tests/golden/record_formats.py with the package gguf.
TEST(Gguf, ReadsFilesOfTheReferenceWriter) {
  const auto file = GgufFile::open(golden("reference.gguf"));
  const GgufHeader& header = file->header();
  EXPECT_EQ(header.find("general.architecture")->as_text(""), "llama");
  EXPECT_EQ(header.find("llama.context_length")->as_count(""), 77U);
  EXPECT_EQ(header.find("tokenizer.ggml.tokens")->as_array("").size(), 3U);
  EXPECT_EQ(header.find("tokenizer.ggml.scores")->as_array("").at(2).as_double(""), -2.5);
  const GgufTensor* plain = header.find_tensor("plain");
  ASSERT_NE(plain, nullptr);
  EXPECT_EQ(plain->dims, (std::vector<std::int64_t>{2, 3}));
  ASSERT_EQ(file->bytes(*plain).size(), 24U);
  EXPECT_EQ(load_little_endian<std::uint32_t>(file->bytes(*plain).subspan(20)), 0x40A00000U);  // 5.0F
  const GgufTensor* blocks = header.find_tensor("blocks");
  ASSERT_NE(blocks, nullptr);
  EXPECT_EQ(blocks->type->name, "q8_0");
  EXPECT_EQ(blocks->dims, (std::vector<std::int64_t>{2, 64}));
}

}  // namespace
}  // namespace alate::formats

#include "formats/protobuf_reader.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/formats/refusals.h"

namespace alate::formats {
namespace {

using Kind = ProtobufField::Kind;

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

std::vector<ProtobufField> fields(std::string_view message) {
  ProtobufReader reader(bytes(message));
  std::vector<ProtobufField> found;
  for (ProtobufField field; reader.next(field);) found.push_back(field);
  return found;
}

std::string refusal_of(std::string_view message) {
  return refusal([&] { fields(message); });
}

// The first example of the encoding's documentation: a = 150.
TEST(ProtobufReader, ReadsAVarint) {
  const auto found = fields("\x08\x96\x01");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].number, 1U);
  EXPECT_EQ(found[0].kind, Kind::varint);
  EXPECT_EQ(found[0].integer, 150U);
}

TEST(ProtobufReader, ReadsEveryKindInOrder) {
  const std::string message(
      "\x12\x02hi"
      "\x1D\x00\x00\x80\x3F"
      "\x21\x00\x00\x00\x00\x00\x00\xF0\xBF"
      "\x28\x01",
      20);
  const auto found = fields(message);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].utf8("greeting"), "hi");
  EXPECT_EQ(found[1].float32(), 1.0F);
  EXPECT_EQ(found[2].float64(), -1.0);
  EXPECT_TRUE(found[3].boolean());
}

TEST(ProtobufReader, NegativeIntegersAreTenBytes) {
  const auto found = fields("\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].int32(), -1);
  EXPECT_EQ(found[0].int64(), -1);
}

TEST(ProtobufReader, RefusesWhatIsNoMessage) {
  EXPECT_TRUE(contains(refusal_of("\x08"), "longer than what is left"));
  EXPECT_TRUE(contains(refusal_of("\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), "more than ten bytes"));
  EXPECT_TRUE(contains(refusal_of("\x12\x05hi"), "longer than what is left"));
  EXPECT_TRUE(contains(refusal_of("\x12\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), "longer than what is left"));
  EXPECT_TRUE(contains(refusal_of("\x1D\x01\x02"), "longer than what is left"));
  EXPECT_TRUE(contains(refusal_of(std::string_view("\x00\x01", 2)), "number that there is none of"));
  EXPECT_TRUE(contains(refusal_of("\x0B\x0C"), "a group"));
}

TEST(ProtobufReader, TextsMustBeUtf8) {
  EXPECT_EQ(fields("\x12\x02\xC3\xA9")[0].utf8("name"), "\xC3\xA9");
  EXPECT_EQ(refusal([] { fields("\x12\x01\xC3")[0].utf8("name"); }), "corrupt: name is not UTF-8 text");
  EXPECT_TRUE(contains(refusal([] { fields("\x10\x01")[0].utf8("name"); }), "a number where a text belongs"));
}

TEST(ProtobufReader, RepeatedVarintsMayBePackedOrNot) {
  std::vector<std::uint64_t> values;
  for (const ProtobufField& field : fields("\x08\x03\x0A\x04\x01\x96\x01\x02\x08\x05"))
    append_varints(field, values, 5);
  EXPECT_EQ(values, (std::vector<std::uint64_t>{3, 1, 150, 2, 5}));
  const auto append = [&](std::string_view message, std::size_t limit) {
    return refusal([&] { append_varints(fields(message)[0], values, limit); });
  };
  EXPECT_TRUE(contains(append("\x08\x03", 5), "resource_exhausted"));
  EXPECT_TRUE(contains(append("\x0A\x01\x80", 9), "corrupt"));
  EXPECT_TRUE(contains(append("\x0D\x01\x02\x03\x04", 9), "no list of whole numbers"));
}

TEST(ProtobufReader, RepeatedFixedNumbersMayBePackedOrNot) {
  std::vector<std::uint32_t> words;
  const std::string message("\x0D\x01\x00\x00\x00\x0A\x08\x02\x00\x00\x00\x03\x00\x00\x00", 15);
  for (const ProtobufField& field : fields(message)) append_fixed32(field, words, 3);
  EXPECT_EQ(words, (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_TRUE(contains(refusal([&] {
                         append_fixed32(fields("\x0A\x03"
                                               "abc")[0],
                                        words, 9);
                       }),
                       "numbers of 4 bytes"));
  EXPECT_TRUE(contains(refusal([&] {
                         append_fixed32(fields("\x0A\x04"
                                               "abcd")[0],
                                        words, 3);
                       }),
                       "resource_exhausted"));
  std::vector<std::uint64_t> longs;
  append_fixed64(fields(std::string("\x0A\x08\x07\x00\x00\x00\x00\x00\x00\x00", 10))[0], longs, 1);
  EXPECT_EQ(longs, std::vector<std::uint64_t>{7});
}

TEST(ProtobufReader, MessagesLieInEachOtherToALimit) {
  std::string message;
  for (int i = 0; i < 120; ++i) {
    std::string outer = "\x0A";
    if (message.size() >= 128) outer += static_cast<char>(0x80 | (message.size() & 0x7F));
    outer += static_cast<char>(message.size() >= 128 ? message.size() >> 7 : message.size());
    message = outer + message;
  }
  std::size_t depth = 0;
  const auto descend = [&](auto&& self, ProtobufReader reader) -> void {
    ++depth;
    for (ProtobufField field; reader.next(field);) self(self, reader.message(field));
  };
  EXPECT_TRUE(contains(refusal([&] { descend(descend, ProtobufReader(bytes(message))); }), "more than 100 deep"));
  EXPECT_EQ(depth, ProtobufReader::kMaxDepth);
}

}  // namespace
}  // namespace alate::formats

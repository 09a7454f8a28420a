// Messages in protobuf's wire format: https://protobuf.dev/programming-guides/encoding
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace alate::formats {

/// One field of a message. Variable-length contents are a view into the file.
struct ProtobufField {
  enum class Kind { varint, fixed64, bytes, fixed32 };

  std::uint32_t number = 0;
  Kind kind = Kind::varint;
  std::uint64_t integer = 0;         // value of a varint or fixed-size number
  std::span<const std::byte> bytes;  // contents of text, bytes or a message

  /// The contents, whether they are UTF-8 or not.
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
  /// The contents as UTF-8 text. Throws corrupt if they are not, or if the field is a number; `what` names it.
  std::string_view utf8(std::string_view what) const;

  /// Values by their type in the schema; meaningless for fields of another kind. An int32 is a varint of 64 bits of
  /// which the low 32 count.
  std::int64_t int64() const { return static_cast<std::int64_t>(integer); }
  std::int32_t int32() const { return static_cast<std::int32_t>(static_cast<std::uint32_t>(integer)); }
  bool boolean() const { return integer != 0; }
  float float32() const { return std::bit_cast<float>(static_cast<std::uint32_t>(integer)); }
  double float64() const { return std::bit_cast<double>(integer); }
};

/// Reads the fields of one message in order, without descending into submessages: the time is proportional to the
/// number of fields, not to their bytes.
class ProtobufReader {
 public:
  /// How deep messages may lie in each other; the limit of protobuf's own readers.
  static constexpr std::size_t kMaxDepth = 100;

  explicit ProtobufReader(std::span<const std::byte> message) : left_(message) {}

  /// False at the message's end. Throws corrupt for invalid fields: an unterminated varint, a length beyond the
  /// message, an invalid field number. Groups, which protobuf has deprecated, are rejected too.
  bool next(ProtobufField& field);

  /// A reader of a field that is a message. Throws corrupt if it is a number, resource_exhausted when messages lie in
  /// each other more than kMaxDepth deep.
  ProtobufReader message(const ProtobufField& field) const;

 private:
  ProtobufReader(std::span<const std::byte> message, std::size_t depth) : left_(message), depth_(depth) {}

  std::span<const std::byte> left_;
  std::size_t depth_ = 0;
};

/// Appends the elements of a repeated field of varints (int32, int64, uint64, bool, enum) to `values`: one for an
/// unpacked field, all of a packed one. Throws corrupt for a field of another kind or an unterminated varint,
/// resource_exhausted before `values` would have more than `limit` elements.
void append_varints(const ProtobufField& field, std::vector<std::uint64_t>& values, std::size_t limit);

/// The same for repeated floats and fixed 32-bit numbers, and for doubles and fixed 64-bit numbers, as bit patterns.
void append_fixed32(const ProtobufField& field, std::vector<std::uint32_t>& values, std::size_t limit);
void append_fixed64(const ProtobufField& field, std::vector<std::uint64_t>& values, std::size_t limit);

}  // namespace alate::formats

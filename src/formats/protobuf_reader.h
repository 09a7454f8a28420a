// Messages in protobuf's wire format: https://protobuf.dev/programming-guides/encoding
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace alate::formats {

/// One field of a message. Variable-length contents are a view into the file.
struct ProtobufField {
  enum class Kind { varint, fixed64, bytes, fixed32 };

  std::uint32_t number = 0;
  Kind kind = Kind::varint;
  std::uint64_t integer = 0;         // value of a varint or fixed-size number
  std::span<const std::byte> bytes;  // contents of text, bytes or a message

  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

/// Reads the fields of one message in order, without descending into submessages: the time is proportional to the
/// number of fields, not to their bytes.
class ProtobufReader {
 public:
  explicit ProtobufReader(std::span<const std::byte> message) : left_(message) {}

  /// False at the message's end. Throws corrupt for invalid fields: an unterminated varint, a length beyond the
  /// message, an invalid field number. Groups, which protobuf has deprecated, are rejected too.
  bool next(ProtobufField& field);

 private:
  std::uint64_t varint();
  std::uint64_t fixed(std::size_t size);
  std::span<const std::byte> take(std::uint64_t size);

  std::span<const std::byte> left_;
};

}  // namespace alate::formats

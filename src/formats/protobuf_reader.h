// Messages in protobuf's wire format: https://protobuf.dev/programming-guides/encoding
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace alate::formats {

/// One field of a message. What is longer than eight bytes is where it lies in the file.
struct ProtobufField {
  enum class Kind { varint, fixed64, bytes, fixed32 };

  std::uint32_t number = 0;
  Kind kind = Kind::varint;
  std::uint64_t integer = 0;         // of a varint or a fixed number
  std::span<const std::byte> bytes;  // of text, bytes or a message

  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

/// Reads the fields of one message in their order, without looking into those that are messages themselves: reading
/// costs time for the fields, not for their bytes.
class ProtobufReader {
 public:
  explicit ProtobufReader(std::span<const std::byte> message) : left_(message) {}

  /// False at the message's end. Throws corrupt for bytes that are no field: a number that does not end, a length
  /// beyond the message, a field number that there is none of. Groups, which protobuf itself gave up, are refused too.
  bool next(ProtobufField& field);

 private:
  std::uint64_t varint();
  std::uint64_t fixed(std::size_t size);
  std::span<const std::byte> take(std::uint64_t size);

  std::span<const std::byte> left_;
};

}  // namespace alate::formats

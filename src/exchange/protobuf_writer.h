// Writer of protobuf's wire format: https://protobuf.dev/programming-guides/encoding
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace alate::exchange {

/// The bytes of one message, field after field. Nested messages are written separately first.
class ProtobufWriter {
 public:
  void integer(std::uint32_t field, std::int64_t value) {
    tag(field, 0);
    varint(static_cast<std::uint64_t>(value));
  }
  void single(std::uint32_t field, float value) {
    tag(field, 5);
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) bytes_.push_back(static_cast<char>(bits >> shift & 0xFF));
  }
  /// A string, bytes, or a message.
  void bytes(std::uint32_t field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    bytes_.append(value);
  }
  void message(std::uint32_t field, const ProtobufWriter& value) { bytes(field, value.bytes_); }
  /// Appends fields of another writer.
  void append(const ProtobufWriter& fields) { bytes_.append(fields.bytes_); }

  bool empty() const { return bytes_.empty(); }
  const std::string& view() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  void tag(std::uint32_t field, std::uint32_t wire_type) { varint(std::uint64_t{field} << 3 | wire_type); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>((value & 0x7F) | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }

  std::string bytes_;
};

}  // namespace alate::exchange

// Reads protobuf messages back in tests, by field numbers. Bytes that are no message fail the test.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace alate::exchange {

struct ProtobufField {
  std::uint32_t number = 0;
  std::uint64_t integer = 0;  // of varints and fixed numbers
  std::string_view bytes;     // of strings and messages
};

inline std::vector<ProtobufField> protobuf_fields(std::string_view message) {
  std::vector<ProtobufField> fields;
  std::size_t at = 0;
  const auto fail = [&] {
    ADD_FAILURE() << "no message, from byte " << at;
    at = message.size();
  };
  const auto fixed = [&](std::size_t size) {
    std::uint64_t value = 0;
    if (size > message.size() - at) {
      fail();
      return value;
    }
    for (std::size_t i = 0; i < size; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(message[at + i])} << (8 * i);
    at += size;
    return value;
  };
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint64_t byte = fixed(1);
      value |= (byte & 0x7F) << shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < message.size()) {
    const std::uint64_t tag = varint();
    ProtobufField field{static_cast<std::uint32_t>(tag >> 3), 0, {}};
    switch (tag & 7) {
      case 0: field.integer = varint(); break;
      case 1: field.integer = fixed(8); break;
      case 5: field.integer = fixed(4); break;
      case 2: {
        const std::uint64_t size = varint();
        if (size > message.size() - at) {
          fail();
          break;
        }
        field.bytes = message.substr(at, size);
        at += size;
        break;
      }
      default: fail();
    }
    fields.push_back(field);
  }
  return fields;
}

/// All fields of a number.
inline std::vector<ProtobufField> fields_of(std::string_view message, std::uint32_t number) {
  std::vector<ProtobufField> found;
  for (const ProtobufField& field : protobuf_fields(message)) {
    if (field.number == number) found.push_back(field);
  }
  return found;
}

/// The one field at the end of a path of numbers; the test fails where there is none, or several.
inline ProtobufField field_at(std::string_view message, const std::vector<std::uint32_t>& path) {
  ProtobufField found{0, 0, message};
  for (const std::uint32_t number : path) {
    const std::vector<ProtobufField> fields = fields_of(found.bytes, number);
    EXPECT_EQ(fields.size(), 1U) << "field " << number;
    if (fields.empty()) return {};
    found = fields.front();
  }
  return found;
}

}  // namespace alate::exchange

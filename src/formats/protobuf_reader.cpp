#include "formats/protobuf_reader.h"

#include "alate/error.h"

namespace alate::formats {
namespace {

constexpr std::uint64_t kMostFieldNumber = (1U << 29) - 1;
constexpr int kMostVarintBytes = 10;

[[noreturn]] void fail(std::string_view why) {
  throw make_error(ErrorCode::corrupt, "it is no message of protobuf: ", why);
}

}  // namespace

std::span<const std::byte> ProtobufReader::take(std::uint64_t size) {
  if (size > left_.size()) fail("a field is longer than what is left of it; is the file whole?");
  const std::span<const std::byte> taken = left_.first(static_cast<std::size_t>(size));
  left_ = left_.subspan(taken.size());
  return taken;
}

std::uint64_t ProtobufReader::fixed(std::size_t size) {
  std::uint64_t value = 0;
  int shift = 0;
  for (const std::byte byte : take(size)) {
    value |= std::to_integer<std::uint64_t>(byte) << shift;
    shift += 8;
  }
  return value;
}

std::uint64_t ProtobufReader::varint() {
  std::uint64_t value = 0;
  for (int i = 0; i < kMostVarintBytes; ++i) {
    const auto byte = std::to_integer<std::uint64_t>(take(1)[0]);
    value |= (byte & 0x7F) << (7 * i);
    if (byte < 0x80) return value;
  }
  fail("a number of more than ten bytes");
}

bool ProtobufReader::next(ProtobufField& field) {
  if (left_.empty()) return false;
  const std::uint64_t tag = varint();
  if (tag >> 3 == 0 || tag >> 3 > kMostFieldNumber) fail("a field has a number that there is none of");
  field = {.number = static_cast<std::uint32_t>(tag >> 3), .integer = 0, .bytes = {}};
  switch (tag & 7) {
    case 0: field.integer = varint(); break;
    case 1:
      field.kind = ProtobufField::Kind::fixed64;
      field.integer = fixed(8);
      break;
    case 2:
      field.kind = ProtobufField::Kind::bytes;
      field.bytes = take(varint());
      break;
    case 5:
      field.kind = ProtobufField::Kind::fixed32;
      field.integer = fixed(4);
      break;
    default: fail("a field is of a kind that there is none of, or a group");
  }
  return true;
}

}  // namespace alate::formats

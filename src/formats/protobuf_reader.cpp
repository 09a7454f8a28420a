#include "formats/protobuf_reader.h"

#include "alate/error.h"
#include "formats/little_endian.h"
#include "formats/utf8.h"

namespace alate::formats {
namespace {

using Bytes = std::span<const std::byte>;
using Kind = ProtobufField::Kind;

constexpr std::uint64_t kMostFieldNumber = (1U << 29) - 1;
constexpr int kMostVarintBytes = 10;

template <typename... Parts>
[[noreturn]] void fail(const Parts&... why) {
  throw make_error(ErrorCode::corrupt, "it is no message of protobuf: ", why...);
}

Bytes take(Bytes& left, std::uint64_t size) {
  if (size > left.size()) fail("a field is longer than what is left of it; is the file whole?");
  const Bytes taken = left.first(static_cast<std::size_t>(size));
  left = left.subspan(taken.size());
  return taken;
}

std::uint64_t take_varint(Bytes& left) {
  std::uint64_t value = 0;
  for (int i = 0; i < kMostVarintBytes; ++i) {
    const auto byte = std::to_integer<std::uint64_t>(take(left, 1)[0]);
    value |= (byte & 0x7F) << (7 * i);
    if (byte < 0x80) return value;
  }
  fail("a number of more than ten bytes");
}

void require_room(std::size_t held, std::size_t more, std::size_t limit) {
  if (held > limit || more > limit - held)
    throw make_error(ErrorCode::resource_exhausted, "a field of its messages has more than ", limit, " elements");
}

template <typename Integer>
void append_fixed(const ProtobufField& field, std::vector<Integer>& values, std::size_t limit, Kind unpacked) {
  if (field.kind == unpacked) {
    require_room(values.size(), 1, limit);
    values.push_back(static_cast<Integer>(field.integer));
    return;
  }
  if (field.kind != Kind::bytes || field.bytes.size() % sizeof(Integer) != 0)
    fail("field ", field.number, " is no list of numbers of ", sizeof(Integer), " bytes");
  const std::size_t count = field.bytes.size() / sizeof(Integer);
  require_room(values.size(), count, limit);
  values.reserve(values.size() + count);
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(load_little_endian<Integer>(field.bytes.subspan(i * sizeof(Integer))));
}

}  // namespace

std::string_view ProtobufField::utf8(std::string_view what) const {
  if (kind != Kind::bytes) throw make_error(ErrorCode::corrupt, what, " is a number where a text belongs");
  if (valid_utf8_prefix(text()) < bytes.size()) throw make_error(ErrorCode::corrupt, what, " is not UTF-8 text");
  return text();
}

bool ProtobufReader::next(ProtobufField& field) {
  if (left_.empty()) return false;
  const std::uint64_t tag = take_varint(left_);
  if (tag >> 3 == 0 || tag >> 3 > kMostFieldNumber) fail("a field has a number that there is none of");
  field = {.number = static_cast<std::uint32_t>(tag >> 3), .integer = 0, .bytes = {}};
  switch (tag & 7) {
    case 0: field.integer = take_varint(left_); break;
    case 1:
      field.kind = Kind::fixed64;
      field.integer = load_little_endian<std::uint64_t>(take(left_, 8));
      break;
    case 2:
      field.kind = Kind::bytes;
      field.bytes = take(left_, take_varint(left_));
      break;
    case 5:
      field.kind = Kind::fixed32;
      field.integer = load_little_endian<std::uint32_t>(take(left_, 4));
      break;
    default: fail("a field is of a kind that there is none of, or a group");
  }
  return true;
}

ProtobufReader ProtobufReader::message(const ProtobufField& field) const {
  if (field.kind != Kind::bytes) fail("field ", field.number, " is a number where a message belongs");
  if (depth_ + 1 >= kMaxDepth)
    throw make_error(ErrorCode::resource_exhausted, "its messages lie in each other more than ", kMaxDepth, " deep");
  return {field.bytes, depth_ + 1};
}

void append_varints(const ProtobufField& field, std::vector<std::uint64_t>& values, std::size_t limit) {
  if (field.kind == Kind::varint) {
    require_room(values.size(), 1, limit);
    values.push_back(field.integer);
    return;
  }
  if (field.kind != Kind::bytes) fail("field ", field.number, " is no list of whole numbers");
  for (Bytes left = field.bytes; !left.empty();) {
    require_room(values.size(), 1, limit);
    values.push_back(take_varint(left));
  }
}

void append_fixed32(const ProtobufField& field, std::vector<std::uint32_t>& values, std::size_t limit) {
  append_fixed(field, values, limit, Kind::fixed32);
}

void append_fixed64(const ProtobufField& field, std::vector<std::uint64_t>& values, std::size_t limit) {
  append_fixed(field, values, limit, Kind::fixed64);
}

}  // namespace alate::formats

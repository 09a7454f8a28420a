#include "formats/safetensors/safetensors_header.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <type_traits>

#include "alate/error.h"
#include "formats/json.h"
#include "formats/little_endian.h"
#include "formats/safetensors/safetensors_dtypes.h"

namespace alate::formats {
namespace {

constexpr std::size_t kLengthBytes = 8;
// A header has three levels; the rest is room for fields of later versions.
constexpr std::size_t kMaxDepth = 8;

template <typename... Parts>
[[noreturn]] void refuse(std::string_view what, const Parts&... parts) {
  throw make_error(ErrorCode::corrupt, what, ": ", parts...);
}

// The prefix of messages about one tensor.
std::string tensor_label(std::string_view what, std::string_view name) {
  return std::string(what) + ": tensor " + quoted_name(name);
}

// An integer in a header: written without fraction or exponent, not negative, within 63 bits.
std::size_t count_of(const Json& value, std::string_view label, std::string_view field) {
  return value.visit([&](const auto& number) -> std::size_t {
    using Number = std::decay_t<decltype(number)>;
    if constexpr (std::is_same_v<Number, std::int64_t>) {
      if (number < 0) refuse(label, field, " holds a negative number");
      return static_cast<std::size_t>(number);
    } else if constexpr (std::is_same_v<Number, std::uint64_t>) {
      constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
      if (number > kMost) refuse(label, field, " holds a number that does not fit in 63 bits");
      return number;
    } else {
      refuse(label, field, " holds something other than integers");
    }
  });
}

const Json& field_of(const Json& info, std::string_view label, std::string_view field) {
  const Json* value = info.find(field);
  if (value == nullptr) refuse(label, "it has no ", field);
  return *value;
}

Shape shape_of(const Json& info, const SafetensorsDType& dtype, std::string_view label) {
  const Json& dims = field_of(info, label, "shape");
  if (!dims.is_array()) refuse(label, "shape is no array");
  Shape shape{dtype.dtype, {}};
  for (const Json& dim : dims.as_array("shape")) {
    shape.dims.emplace_back(static_cast<std::int64_t>(count_of(dim, label, "shape")));
  }
  return shape;
}

// Bytes of a shape; an intermediate overflow is an error even if a later extent is 0, as in the reference
// implementation.
std::size_t bytes_of(const Shape& shape, std::size_t bits, std::string_view label) {
  std::uint64_t elements = 1;
  std::uint64_t total_bits = 0;
  bool overflows = false;
  for (const Dim dim : shape.dims) {
    overflows |= __builtin_mul_overflow(elements, static_cast<std::uint64_t>(dim.number()), &elements);
  }
  overflows |= __builtin_mul_overflow(elements, bits, &total_bits);
  if (overflows) refuse(label, "its shape has more bytes than can be counted");
  if (total_bits % 8 != 0) refuse(label, "its elements do not fill whole bytes");
  return total_bits / 8;
}

TensorEntry read_entry(std::string_view name, const Json& info, std::size_t data_start, std::size_t file_size,
                       std::string_view what) {
  const std::string label = tensor_label(what, name);
  if (!info.is_object()) refuse(label, "its description is no object");
  const Json& dtype_name = field_of(info, label, "dtype");
  if (!dtype_name.is_string()) refuse(label, "dtype is no string");
  const SafetensorsDType* dtype = find_safetensors_dtype(dtype_name.as_string("dtype"));
  if (dtype == nullptr) refuse(label, "the format has no such dtype");
  if (dtype->dtype == DType::invalid) {
    throw make_error(ErrorCode::unsupported, label, ": elements of type ", dtype->name,
                     " cannot be used; convert them to another type");
  }
  TensorEntry entry{std::string(name), shape_of(info, *dtype, label), 0, 0};

  const Json& offsets = field_of(info, label, "data_offsets");
  if (!offsets.is_array() || offsets.as_array("data_offsets").size() != 2) {
    refuse(label, "data_offsets is no pair of integers");
  }
  const std::size_t begin = count_of(offsets.as_array("data_offsets")[0], label, "data_offsets");
  const std::size_t end = count_of(offsets.as_array("data_offsets")[1], label, "data_offsets");
  if (begin > end) refuse(label, "its bytes end at ", end, ", before they begin at ", begin);
  if (end > file_size - data_start) {
    refuse(label, "its bytes end at ", end, ", past the ", file_size - data_start, " bytes of data in the file");
  }
  const std::size_t wanted = bytes_of(entry.shape, dtype->bits, label);
  if (end - begin != wanted) {
    refuse(label, to_string(entry.shape), " takes ", wanted, " bytes, but data_offsets span ", end - begin);
  }
  entry.begin = data_start + begin;
  entry.end = data_start + end;
  return entry;
}

std::map<std::string, std::string> read_metadata(const Json& value, std::string_view what) {
  std::map<std::string, std::string> metadata;
  if (value.is_null()) return metadata;
  if (!value.is_object()) refuse(what, "__metadata__ is no object");
  for (const auto& [key, text] : value.as_object("__metadata__")) {
    if (!text.is_string()) refuse(what, "__metadata__ holds something other than strings");
    metadata.emplace(key, text.as_string("__metadata__"));
  }
  return metadata;
}

void require_cover(const SafetensorsHeader& header, std::size_t file_size, std::string_view what) {
  std::size_t at = header.byte_count;
  for (const TensorEntry& entry : header.entries) {
    if (entry.begin < at) refuse(tensor_label(what, entry.name), "its bytes overlap those of the tensor before it");
    if (entry.begin > at) {
      refuse(tensor_label(what, entry.name), "there is a gap of ", entry.begin - at, " bytes before it");
    }
    at = entry.end;
  }
  if (at != file_size) refuse(what, file_size - at, " bytes after the last tensor belong to none");
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::span<const std::byte> file, std::string_view what) {
  if (file.size() < kLengthBytes) {
    refuse(what, "the file has ", file.size(), " bytes, fewer than the 8 of a safetensors header's length");
  }
  const std::uint64_t length = load_little_endian<std::uint64_t>(file);
  if (length > kMaxSafetensorsHeaderBytes) {
    refuse(what, "the header says it has ", length, " bytes; the limit is ", kMaxSafetensorsHeaderBytes);
  }
  if (length > file.size() - kLengthBytes) {
    refuse(what, "the header says it has ", length, " bytes, but the file ends after ", file.size() - kLengthBytes);
  }
  const std::span<const std::byte> text = file.subspan(kLengthBytes, length);
  const Json json =
      parse_json({reinterpret_cast<const char*>(text.data()), text.size()}, std::string(what) + ": safetensors header",
                 {.max_depth = kMaxDepth, .max_bytes = kMaxSafetensorsHeaderBytes});
  if (!json.is_object()) refuse(what, "the safetensors header is no JSON object");

  SafetensorsHeader header;
  header.byte_count = kLengthBytes + length;
  const Json::Object& members = json.as_object("header");
  header.entries.reserve(members.size());
  for (const auto& [name, value] : members) {
    if (name == "__metadata__") {
      header.metadata = read_metadata(value, what);
    } else {
      header.entries.push_back(read_entry(name, value, header.byte_count, file.size(), what));
    }
  }
  std::ranges::stable_sort(header.entries, {}, [](const TensorEntry& e) { return std::tuple(e.begin, e.end); });
  require_cover(header, file.size(), what);
  return header;
}

}  // namespace alate::formats

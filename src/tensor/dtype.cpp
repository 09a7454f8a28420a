#include <algorithm>
#include <array>
#include <limits>

#include "alate/error.h"
#include "alate/tensor.h"

namespace alate {
namespace {

enum class Kind { none, boolean, signed_integer, unsigned_integer, real, complex };

struct Row {
  DType dtype;
  std::string_view name;
  std::size_t bits;
  Kind kind;
};

constexpr std::array kRows = {
    Row{DType::boolean, "bool", 8, Kind::boolean},
    Row{DType::i8, "i8", 8, Kind::signed_integer},
    Row{DType::i16, "i16", 16, Kind::signed_integer},
    Row{DType::i32, "i32", 32, Kind::signed_integer},
    Row{DType::i64, "i64", 64, Kind::signed_integer},
    Row{DType::u8, "u8", 8, Kind::unsigned_integer},
    Row{DType::u16, "u16", 16, Kind::unsigned_integer},
    Row{DType::u32, "u32", 32, Kind::unsigned_integer},
    Row{DType::u64, "u64", 64, Kind::unsigned_integer},
    Row{DType::f16, "f16", 16, Kind::real},
    Row{DType::f32, "f32", 32, Kind::real},
    Row{DType::f64, "f64", 64, Kind::real},
    Row{DType::bf16, "bf16", 16, Kind::real},
    Row{DType::c64, "c64", 64, Kind::complex},
    Row{DType::c128, "c128", 128, Kind::complex},
    Row{DType::f8e5m2, "f8e5m2", 8, Kind::real},
    Row{DType::f8e4m3fn, "f8e4m3fn", 8, Kind::real},
    Row{DType::f8e4m3b11fnuz, "f8e4m3b11fnuz", 8, Kind::real},
    Row{DType::f8e5m2fnuz, "f8e5m2fnuz", 8, Kind::real},
    Row{DType::f8e4m3fnuz, "f8e4m3fnuz", 8, Kind::real},
    Row{DType::i4, "i4", 4, Kind::signed_integer},
    Row{DType::u4, "u4", 4, Kind::unsigned_integer},
    Row{DType::token, "token", 0, Kind::none},
    Row{DType::i2, "i2", 2, Kind::signed_integer},
    Row{DType::u2, "u2", 2, Kind::unsigned_integer},
    Row{DType::f8e4m3, "f8e4m3", 8, Kind::real},
    Row{DType::f8e3m4, "f8e3m4", 8, Kind::real},
    Row{DType::f8e8m0fnu, "f8e8m0fnu", 8, Kind::real},
    Row{DType::f4e2m1fn, "f4e2m1fn", 4, Kind::real},
    Row{DType::i1, "i1", 1, Kind::signed_integer},
    Row{DType::u1, "u1", 1, Kind::unsigned_integer},
    Row{DType::string, "string", 0, Kind::none},
};

constexpr auto kDTypes = [] {
  std::array<DType, kRows.size()> dtypes{};
  for (std::size_t i = 0; i < kRows.size(); ++i) dtypes[i] = kRows[i].dtype;
  return dtypes;
}();

// Row i holds the dtype of number i + 1, except the last, so that a row can be looked up by index.
constexpr bool rows_are_in_numeric_order() {
  for (std::size_t i = 0; i + 1 < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].dtype) != i + 1) return false;
  }
  return kRows.back().dtype == DType::string;
}
static_assert(rows_are_in_numeric_order());

const Row* row_of(DType dtype) {
  if (dtype == DType::string) return &kRows.back();
  const auto number = static_cast<std::int64_t>(dtype);
  if (number < 1 || number >= static_cast<std::int64_t>(kRows.size())) return nullptr;
  return &kRows[static_cast<std::size_t>(number - 1)];
}

bool has_kind(DType dtype, Kind kind) {
  const Row* row = row_of(dtype);
  return row != nullptr && row->kind == kind;
}

}  // namespace

std::string_view to_string(DType dtype) {
  const Row* row = row_of(dtype);
  return row != nullptr ? row->name : std::string_view("invalid");
}

std::optional<DType> parse_dtype(std::string_view name) {
  const auto row = std::ranges::find(kRows, name, &Row::name);
  if (row == kRows.end()) return std::nullopt;
  return row->dtype;
}

std::span<const DType> all_dtypes() { return kDTypes; }

std::size_t bits_of(DType dtype) {
  const Row* row = row_of(dtype);
  return row != nullptr ? row->bits : 0;
}

bool is_float(DType dtype) { return has_kind(dtype, Kind::real); }
bool is_signed_integer(DType dtype) { return has_kind(dtype, Kind::signed_integer); }
bool is_unsigned_integer(DType dtype) { return has_kind(dtype, Kind::unsigned_integer); }
bool is_integer(DType dtype) { return is_signed_integer(dtype) || is_unsigned_integer(dtype); }
bool is_complex(DType dtype) { return has_kind(dtype, Kind::complex); }

std::size_t bytes_for(DType dtype, std::int64_t count) {
  if (count < 0) throw make_error(ErrorCode::internal, "bytes for ", count, " elements were asked for");
  const auto bits = static_cast<std::int64_t>(bits_of(dtype));
  if (bits < 8) return static_cast<std::size_t>(count / 8 * bits + (count % 8 * bits + 7) / 8);
  const std::int64_t bytes_each = bits / 8;
  if (count > std::numeric_limits<std::int64_t>::max() / bytes_each) {
    throw make_error(ErrorCode::resource_exhausted, count, " elements of ", to_string(dtype),
                     " do not fit in any memory; check the extents");
  }
  return static_cast<std::size_t>(count * bytes_each);
}

}  // namespace alate

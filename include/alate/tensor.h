// Host values: element types, dimensions, shapes and tensors. No arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace alate {

/// Element types. The numbers equal PJRT's buffer types where PJRT has the type; Alate's own types start at 1000.
enum class DType : std::int32_t {
  invalid = 0,
  boolean = 1,
  i8 = 2,
  i16 = 3,
  i32 = 4,
  i64 = 5,
  u8 = 6,
  u16 = 7,
  u32 = 8,
  u64 = 9,
  f16 = 10,
  f32 = 11,
  f64 = 12,
  bf16 = 13,
  c64 = 14,
  c128 = 15,
  f8e5m2 = 16,
  f8e4m3fn = 17,
  f8e4m3b11fnuz = 18,
  f8e5m2fnuz = 19,
  f8e4m3fnuz = 20,
  i4 = 21,
  u4 = 22,
  token = 23,
  i2 = 24,
  u2 = 25,
  f8e4m3 = 26,
  f8e3m4 = 27,
  f8e8m0fnu = 28,
  f4e2m1fn = 29,
  i1 = 30,
  u1 = 31,
  string = 1000,  // host only
};

/// Name in Alate's text forms, logs and options, for example "f32"; `boolean` is "bool".
std::string_view to_string(DType dtype);
/// The inverse of `to_string`; nothing for an unknown name.
std::optional<DType> parse_dtype(std::string_view name);
/// Every type but `invalid`, in numeric order.
std::span<const DType> all_dtypes();
/// Bits of one element; 0 for invalid, token and string.
std::size_t bits_of(DType dtype);
bool is_float(DType dtype);             // f16, bf16, f32, f64, fp8 and fp4 kinds
bool is_signed_integer(DType dtype);    // i1 .. i64
bool is_unsigned_integer(DType dtype);  // u1 .. u64, not bool
bool is_integer(DType dtype);
bool is_complex(DType dtype);

/// Bytes of `count` elements, rounded up to whole bytes; sub-byte types are packed low bits first. Throws
/// resource_exhausted when the size does not fit in 63 bits.
std::size_t bytes_for(DType dtype, std::int64_t count);

/// Index of a named (or, later, computed) dimension in a graph's `DimTable`.
using DimId = std::int32_t;

/// One extent of a shape: a number, or an id into the graph's dimension table.
class Dim {
 public:
  constexpr Dim() = default;
  constexpr Dim(std::int64_t number) : value_(number) {}  // NOLINT(google-explicit-constructor): a number is a Dim
  static constexpr Dim of_id(DimId id) {
    Dim dim;
    dim.value_ = -1 - static_cast<std::int64_t>(id);
    return dim;
  }
  constexpr bool is_number() const { return value_ >= 0; }
  /// The extent; only for a number.
  constexpr std::int64_t number() const { return value_; }
  /// The id; only when `is_number()` is false.
  constexpr DimId id() const { return static_cast<DimId>(-1 - value_); }
  friend constexpr bool operator==(Dim, Dim) = default;

 private:
  std::int64_t value_ = 0;
};

/// An element type and extents, outermost first. A rank of 0 is a scalar; an extent of 0 is legal.
struct Shape {
  DType dtype = DType::invalid;
  std::vector<Dim> dims;

  std::size_t rank() const { return dims.size(); }
  bool is_static() const;
  /// Product of the extents of a static shape. Throws resource_exhausted on overflow, internal on a named dim.
  std::int64_t element_count() const;
  /// Bytes of a static shape. Throws as `element_count` does.
  std::size_t byte_count() const;
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// "f32[2,3]"; named dims print as "?ID", since their names are in the graph's table.
std::string to_string(const Shape& shape);

/// A 128-bit identifier of a value or a graph; equal inputs give equal fingerprints in every process and on every
/// machine.
struct Fingerprint {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend constexpr bool operator==(const Fingerprint&, const Fingerprint&) = default;
  friend constexpr auto operator<=>(const Fingerprint&, const Fingerprint&) = default;
};
std::string to_string(const Fingerprint& fingerprint);  // 32 hexadecimal digits

/// Feeds bytes and integers into a fingerprint, in order. Not cryptographic.
class FingerprintBuilder {
 public:
  FingerprintBuilder& add(std::span<const std::byte> bytes);
  FingerprintBuilder& add(std::string_view text);
  FingerprintBuilder& add(std::uint64_t number);
  FingerprintBuilder& add(const Fingerprint& other);
  Fingerprint finish() const;

 private:
  std::uint64_t low_ = 0x9e3779b97f4a7c15ULL;
  std::uint64_t high_ = 0xc2b2ae3d27d4eb4fULL;
  std::uint64_t length_ = 0;
};

/// A host value: a static shape over shared, 64-byte-aligned or borrowed (mapped) storage, row-major and dense.
/// Copying a Tensor shares its bytes. Safe to read from many threads; writing needs one owner.
class Tensor {
 public:
  Tensor() = default;
  /// New zeroed storage. Throws resource_exhausted when allocation fails.
  static Tensor zeros(Shape shape);
  /// New storage with undefined contents.
  static Tensor uninitialized(Shape shape);
  /// Storage owned by `owner`, kept alive as long as any Tensor that shares it. Never writable. Bytes that are not
  /// aligned for their element type are copied instead.
  static Tensor borrow(Shape shape, const std::byte* data, std::shared_ptr<const void> owner);
  /// A copy of `values`; T must be the dtype's C++ type (float for f32, std::int64_t for i64, bool for boolean ...).
  template <typename T>
  static Tensor from(const std::vector<std::int64_t>& extents, std::span<const T> values);
  template <typename T>
  static Tensor from(const std::vector<std::int64_t>& extents, std::initializer_list<T> values) {
    return from<T>(extents, std::span<const T>(values.begin(), values.size()));
  }
  template <typename T>
  static Tensor scalar(T value) {
    return from<T>({}, std::span<const T>(&value, 1));
  }

  const Shape& shape() const { return shape_; }
  DType dtype() const { return shape_.dtype; }
  std::size_t rank() const { return shape_.rank(); }
  std::int64_t extent(std::size_t axis) const { return shape_.dims.at(axis).number(); }
  std::int64_t element_count() const { return shape_.element_count(); }
  std::size_t byte_count() const { return shape_.byte_count(); }
  bool empty() const { return shape_.dtype == DType::invalid; }

  std::span<const std::byte> bytes() const;
  /// Writable bytes. Throws internal on borrowed constant storage.
  std::span<std::byte> mutable_bytes();
  /// The elements as T. Throws internal when T is not the dtype's C++ type.
  template <typename T>
  std::span<const T> values() const;
  template <typename T>
  std::span<T> mutable_values();

  /// The same bytes under other extents of equal element count.
  Tensor reshaped(const std::vector<std::int64_t>& extents) const;
  /// Whether both tensors point at the same bytes.
  bool shares_storage_with(const Tensor& other) const { return data_ == other.data_; }

 private:
  Shape shape_;
  const std::byte* data_ = nullptr;
  bool writable_ = false;
  std::shared_ptr<const void> owner_;
};

/// The DType of a C++ element type; invalid for types without one.
template <typename T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>) return DType::boolean;
  if constexpr (std::is_same_v<T, std::int8_t>) return DType::i8;
  if constexpr (std::is_same_v<T, std::int16_t>) return DType::i16;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::i32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::i64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return DType::u8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return DType::u16;
  if constexpr (std::is_same_v<T, std::uint32_t>) return DType::u32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return DType::u64;
  if constexpr (std::is_same_v<T, float>) return DType::f32;
  if constexpr (std::is_same_v<T, double>) return DType::f64;
  return DType::invalid;
}

namespace detail {
/// Throws internal unless the dtypes are the same.
void require_dtype(DType wanted, DType found);
/// A static shape of these extents. Throws invalid_argument on a negative extent.
Shape shape_of(DType dtype, const std::vector<std::int64_t>& extents);
Tensor copy_of(Shape shape, std::span<const std::byte> bytes);
}  // namespace detail

template <typename T>
Tensor Tensor::from(const std::vector<std::int64_t>& extents, std::span<const T> values) {
  return detail::copy_of(detail::shape_of(dtype_of<T>(), extents), std::as_bytes(values));
}

template <typename T>
std::span<const T> Tensor::values() const {
  detail::require_dtype(dtype_of<T>(), dtype());
  return {reinterpret_cast<const T*>(data_), static_cast<std::size_t>(element_count())};
}

template <typename T>
std::span<T> Tensor::mutable_values() {
  detail::require_dtype(dtype_of<T>(), dtype());
  return {reinterpret_cast<T*>(mutable_bytes().data()), static_cast<std::size_t>(element_count())};
}

}  // namespace alate

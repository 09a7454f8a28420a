// The values of a GGUF file's metadata: views into the file, read when they are asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace alate::formats {

/// The numbers that the file uses: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
enum class GgufType : std::uint32_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12,
};
std::string_view to_string(GgufType type);

class GgufArray;

/// One value. Valid as long as the file's bytes. Conversions throw corrupt, with `what` as the value's name, if the
/// value has another type; numbers convert to wider ones and to others where nothing is lost.
class GgufValue {
 public:
  GgufType type() const { return type_; }
  bool is_string() const { return type_ == GgufType::string; }
  bool is_array() const { return type_ == GgufType::array; }

  bool as_bool(std::string_view what) const;
  std::int64_t as_int(std::string_view what) const;     // any integer that fits
  std::uint64_t as_count(std::string_view what) const;  // any integer that is not negative
  double as_double(std::string_view what) const;        // any number; 64-bit integers are rounded
  /// The bytes of a string, which some writers fill with binary data.
  std::string_view as_bytes(std::string_view what) const;
  /// The same, checked to be UTF-8.
  std::string_view as_text(std::string_view what) const;
  GgufArray as_array(std::string_view what) const;

 private:
  friend class GgufArray;
  friend GgufValue parse_gguf_value(std::span<const std::byte>& left, std::uint32_t type, int depth);
  GgufValue(GgufType type, std::span<const std::byte> bytes) : type_(type), bytes_(bytes) {}

  GgufType type_;
  std::span<const std::byte> bytes_;  // without the length of a string; with type and length of an array
};

/// The elements of an array. Those of fixed size can be read in any order, strings and arrays one after the other.
class GgufArray {
 public:
  GgufType element_type() const { return type_; }
  std::size_t size() const { return count_; }
  /// The elements' bytes in the file, little-endian if they are numbers; strings and arrays include their lengths.
  std::span<const std::byte> bytes() const { return bytes_; }

  /// An element of fixed size. REQUIRES: index < size(), and the elements are neither strings nor arrays.
  GgufValue at(std::size_t index) const;

  class Iterator {
   public:
    GgufValue operator*() const;
    Iterator& operator++();
    bool operator==(const Iterator& other) const { return left_ == other.left_; }
    bool operator!=(const Iterator& other) const { return left_ != other.left_; }

   private:
    friend class GgufArray;
    Iterator(GgufType type, std::size_t left, std::span<const std::byte> bytes)
        : type_(type), left_(left), bytes_(bytes) {}

    GgufType type_;
    std::size_t left_;
    std::span<const std::byte> bytes_;
  };
  Iterator begin() const { return {type_, count_, bytes_}; }
  Iterator end() const { return {type_, 0, {}}; }

 private:
  friend class GgufValue;
  GgufArray(GgufType type, std::size_t count, std::span<const std::byte> bytes)
      : type_(type), count_(count), bytes_(bytes) {}

  GgufType type_;
  std::size_t count_;
  std::span<const std::byte> bytes_;
};

/// Takes the value of this type number from the start of `left`, checking all of it: after this, no view leaves the
/// file. Throws Error corrupt without the file's name: unknown types, lengths beyond the file, booleans other than 0
/// and 1; unsupported for arrays that lie in each other more than 4 deep. Time is linear in the value's bytes.
GgufValue parse_gguf_value(std::span<const std::byte>& left, std::uint32_t type, int depth = 0);

}  // namespace alate::formats

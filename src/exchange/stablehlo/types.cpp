#include "exchange/stablehlo/types.h"

#include <algorithm>
#include <cstring>

#include "alate/error.h"
#include "tensor/packed.h"

namespace alate::exchange {
namespace {

// The bits of the element at `from`, in MLIR's hexadecimal form for floats.
std::string hexadecimal(const std::byte* from, std::size_t bits) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::uint64_t word = 0;
  std::memcpy(&word, from, std::max<std::size_t>(bits / 8, 1));
  std::string text = "0x";
  for (std::size_t left = std::max<std::size_t>(bits, 4); left >= 4; left -= 4)
    text += kDigits[word >> (left - 4) & 15];
  return text;
}

std::string integer(const std::byte* from, std::size_t bits, bool is_signed) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, bits / 8);
  if (!is_signed) return std::to_string(word);
  const auto unused = static_cast<int>(64 - bits);
  return std::to_string(static_cast<std::int64_t>(word << unused) >> unused);
}

// A tensor's elements, unpacked to whole bytes, as text by their original dtype.
class Elements {
 public:
  explicit Elements(const Tensor& tensor)
      : dtype_(tensor.dtype()), carriers_(tensor::unpacked(tensor)), size_(bits_of(carriers_.dtype()) / 8) {}

  std::string operator()(std::size_t i) const {
    const std::byte* from = carriers_.bytes().data() + i * size_;
    if (dtype_ == DType::boolean) return *from != std::byte{0} ? "true" : "false";
    if (is_complex(dtype_))
      return "(" + hexadecimal(from, size_ * 4) + ", " + hexadecimal(from + size_ / 2, size_ * 4) + ")";
    if (is_float(dtype_)) return hexadecimal(from, bits_of(dtype_));
    return integer(from, size_ * 8, is_signed_integer(dtype_));
  }
  std::size_t count() const { return static_cast<std::size_t>(carriers_.element_count()); }
  bool are_all_the_same() const {
    for (std::size_t i = 1; i < count(); ++i) {
      if (std::memcmp(carriers_.bytes().data(), carriers_.bytes().data() + i * size_, size_) != 0) return false;
    }
    return true;
  }

 private:
  DType dtype_;
  Tensor carriers_;
  std::size_t size_;
};

// The nested list of an axis and those after it, from element `next` on.
std::string nested(const Elements& elements, std::span<const std::int64_t> extents, std::size_t& next) {
  if (extents.empty()) return elements(next++);
  std::string text = "[";
  for (std::int64_t i = 0; i < extents[0]; ++i)
    text += (i == 0 ? "" : ", ") + nested(elements, extents.subspan(1), next);
  return text + "]";
}

}  // namespace

std::string_view element_type(DType dtype) {
  switch (dtype) {
    case DType::boolean: return "i1";
    case DType::i2: return "i2";
    case DType::i4: return "i4";
    case DType::i8: return "i8";
    case DType::i16: return "i16";
    case DType::i32: return "i32";
    case DType::i64: return "i64";
    case DType::u2: return "ui2";
    case DType::u4: return "ui4";
    case DType::u8: return "ui8";
    case DType::u16: return "ui16";
    case DType::u32: return "ui32";
    case DType::u64: return "ui64";
    case DType::f16: return "f16";
    case DType::bf16: return "bf16";
    case DType::f32: return "f32";
    case DType::f64: return "f64";
    case DType::c64: return "complex<f32>";
    case DType::c128: return "complex<f64>";
    case DType::f8e5m2: return "f8E5M2";
    case DType::f8e4m3fn: return "f8E4M3FN";
    case DType::f8e4m3b11fnuz: return "f8E4M3B11FNUZ";
    case DType::f8e5m2fnuz: return "f8E5M2FNUZ";
    case DType::f8e4m3fnuz: return "f8E4M3FNUZ";
    case DType::f8e4m3: return "f8E4M3";
    case DType::f8e3m4: return "f8E3M4";
    case DType::f8e8m0fnu: return "f8E8M0FNU";
    case DType::f4e2m1fn: return "f4E2M1FN";
    // MLIR's i1 is bool.
    case DType::i1:
    case DType::u1:
    case DType::invalid:
    case DType::token:
    case DType::string: return {};
  }
  return {};
}

std::string tensor_type(const Shape& shape) {
  std::string text = "tensor<";
  for (const Dim dim : shape.dims) text += std::to_string(dim.number()) + "x";
  return text + std::string(element_type(shape.dtype)) + ">";
}

std::string tensor_types(std::span<const Shape> shapes) {
  std::string text;
  for (const Shape& shape : shapes) text += (text.empty() ? "" : ", ") + tensor_type(shape);
  return "(" + text + ")";
}

std::string literal(const Tensor& tensor) {
  const Elements elements(tensor);
  if (elements.count() == 0) return "dense<>";
  std::size_t next = 0;
  const std::vector<std::int64_t> extents = extents_of(tensor.shape());
  return "dense<" + (elements.are_all_the_same() ? elements(0) : nested(elements, extents, next)) + ">";
}

std::string list(std::span<const std::int64_t> numbers) {
  std::string text = "[";
  for (std::size_t i = 0; i < numbers.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  return text + "]";
}

std::string array_attribute(std::span<const std::int64_t> numbers) {
  const std::string text = list(numbers);
  return numbers.empty() ? "array<i64>" : "array<i64: " + text.substr(1, text.size() - 2) + ">";
}

std::string pairs_attribute(std::span<const std::int64_t> low, std::span<const std::int64_t> high) {
  std::string rows;
  for (std::size_t i = 0; i < low.size(); ++i)
    rows += (i == 0 ? "" : ", ") + list(std::vector<std::int64_t>{low[i], high[i]});
  if (!low.empty()) rows = "[" + rows + "]";
  return "dense<" + rows + "> : tensor<" + std::to_string(low.size()) + "x2xi64>";
}

std::vector<std::int64_t> extents_of(const Shape& shape) {
  std::vector<std::int64_t> extents;
  for (const Dim dim : shape.dims) extents.push_back(dim.number());
  return extents;
}

Shape shape_of(DType dtype, std::span<const std::int64_t> extents) { return {dtype, {extents.begin(), extents.end()}}; }

}  // namespace alate::exchange

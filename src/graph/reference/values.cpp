#include "graph/reference/values.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "alate/error.h"
#include "tensor/element.h"
#include "tensor/packed.h"

namespace alate::graph {
namespace {

template <typename Element>
void widen_words(std::span<const std::byte> bytes, std::span<std::uint64_t> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    Element element;
    std::memcpy(&element, bytes.data() + i * sizeof element, sizeof element);
    words[i] = static_cast<std::uint64_t>(element);  // NOLINT(bugprone-signed-char-misuse): signs are extended
  }
}

template <typename Element>
void narrow_words(std::span<const std::uint64_t> words, std::span<std::byte> bytes) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto element = static_cast<Element>(words[i]);
    std::memcpy(bytes.data() + i * sizeof element, &element, sizeof element);
  }
}

[[noreturn]] void refuse(DType dtype) {
  throw make_error(ErrorCode::internal, "elements of ", to_string(dtype), " were to be computed as integers");
}

}  // namespace

std::vector<double> load_floats(const Tensor& tensor) {
  const Tensor whole = tensor::unpacked(tensor);
  const std::size_t size = bits_of(whole.dtype()) / 8;
  std::vector<double> values(static_cast<std::size_t>(tensor.element_count()));
  const std::byte* from = whole.bytes().data();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = tensor::load_double(tensor.dtype(), from + i * size);
  return values;
}

Tensor store_floats(const Shape& shape, std::span<const double> values) {
  Tensor whole = Tensor::uninitialized({tensor::carrier_of(shape.dtype), shape.dims});
  const std::size_t size = bits_of(whole.dtype()) / 8;
  std::byte* to = whole.mutable_bytes().data();
  for (std::size_t i = 0; i < values.size(); ++i) tensor::store_double(shape.dtype, values[i], to + i * size);
  return tensor::packed(whole, shape.dtype);
}

std::vector<Complex> load_complex(const Tensor& tensor) {
  const DType part = tensor.dtype() == DType::c64 ? DType::f32 : DType::f64;
  const std::size_t size = bits_of(part) / 8;
  std::vector<Complex> values(static_cast<std::size_t>(tensor.element_count()));
  const std::byte* from = tensor.bytes().data();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = {tensor::load_double(part, from + 2 * i * size), tensor::load_double(part, from + (2 * i + 1) * size)};
  }
  return values;
}

Tensor store_complex(const Shape& shape, std::span<const Complex> values) {
  const DType part = shape.dtype == DType::c64 ? DType::f32 : DType::f64;
  const std::size_t size = bits_of(part) / 8;
  Tensor tensor = Tensor::uninitialized(shape);
  std::byte* to = tensor.mutable_bytes().data();
  for (std::size_t i = 0; i < values.size(); ++i) {
    tensor::store_double(part, values[i].real(), to + 2 * i * size);
    tensor::store_double(part, values[i].imag(), to + (2 * i + 1) * size);
  }
  return tensor;
}

std::vector<std::uint64_t> load_words(const Tensor& tensor) {
  std::vector<std::uint64_t> words(static_cast<std::size_t>(tensor.element_count()));
  if (!is_integer(tensor.dtype()) && tensor.dtype() != DType::boolean) refuse(tensor.dtype());
  const Tensor whole = tensor::unpacked(tensor);
  const std::span<const std::byte> bytes = whole.bytes();
  switch (whole.dtype()) {
    case DType::boolean:
      widen_words<std::uint8_t>(bytes, words);
      for (std::uint64_t& word : words) word = word != 0 ? 1 : 0;
      break;
    case DType::i8: widen_words<std::int8_t>(bytes, words); break;
    case DType::i16: widen_words<std::int16_t>(bytes, words); break;
    case DType::i32: widen_words<std::int32_t>(bytes, words); break;
    case DType::i64: widen_words<std::int64_t>(bytes, words); break;
    case DType::u8: widen_words<std::uint8_t>(bytes, words); break;
    case DType::u16: widen_words<std::uint16_t>(bytes, words); break;
    case DType::u32: widen_words<std::uint32_t>(bytes, words); break;
    case DType::u64: widen_words<std::uint64_t>(bytes, words); break;
    default: refuse(tensor.dtype());
  }
  return words;
}

Tensor store_words(const Shape& shape, std::span<const std::uint64_t> words) {
  if (!is_integer(shape.dtype) && shape.dtype != DType::boolean) refuse(shape.dtype);
  Tensor whole = Tensor::uninitialized({tensor::carrier_of(shape.dtype), shape.dims});
  const std::span<std::byte> bytes = whole.mutable_bytes();
  switch (whole.dtype()) {
    case DType::boolean:
      std::transform(words.begin(), words.end(), bytes.begin(),
                     [](std::uint64_t word) { return std::byte{word != 0 ? std::uint8_t{1} : std::uint8_t{0}}; });
      break;
    case DType::i8:
    case DType::u8: narrow_words<std::uint8_t>(words, bytes); break;
    case DType::i16:
    case DType::u16: narrow_words<std::uint16_t>(words, bytes); break;
    case DType::i32:
    case DType::u32: narrow_words<std::uint32_t>(words, bytes); break;
    case DType::i64:
    case DType::u64: narrow_words<std::uint64_t>(words, bytes); break;
    default: refuse(shape.dtype);
  }
  return tensor::packed(whole, shape.dtype);
}

std::vector<std::int64_t> load_indices(const Tensor& tensor) {
  std::vector<std::int64_t> places;
  for (const std::uint64_t word : load_words(tensor)) {
    const bool is_too_large = tensor.dtype() == DType::u64 && word > std::numeric_limits<std::int64_t>::max();
    places.push_back(is_too_large ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(word));
  }
  return places;
}

}  // namespace alate::graph

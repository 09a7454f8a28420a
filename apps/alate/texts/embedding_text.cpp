#include "apps/alate/texts/embedding_text.h"

#include <cstdint>
#include <span>
#include <type_traits>

#include "formats/json.h"

namespace alate::app {
namespace {

template <typename Number>
void append_numbers(std::string& out, std::span<const Number> values, char separator) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += separator;
    if constexpr (std::is_integral_v<Number>) {
      out += std::to_string(values[i]);
    } else {
      formats::append_json_number(out, values[i]);
    }
  }
}

template <typename Number>
void append_row_of(std::string& out, const Tensor& vectors, std::size_t row, char separator) {
  const auto width = static_cast<std::size_t>(vectors.extent(1));
  append_numbers(out, vectors.values<Number>().subspan(row * width, width), separator);
}

}  // namespace

void append_row(std::string& out, const Tensor& vectors, std::size_t row, char separator) {
  switch (vectors.dtype()) {
    case DType::i8: return append_row_of<std::int8_t>(out, vectors, row, separator);
    case DType::u8: return append_row_of<std::uint8_t>(out, vectors, row, separator);
    default: return append_row_of<float>(out, vectors, row, separator);
  }
}

void append_json(std::string& out, const SparseEmbedding& sparse) {
  append_numbers(out += "{\"indices\":[", std::span<const std::int32_t>(sparse.indices), ',');
  append_numbers(out += "],\"values\":[", std::span<const float>(sparse.values), ',');
  out += "]}";
}

void append_json(std::string& out, const Tensor& vectors) {
  out += '[';
  for (std::size_t i = 0; i < static_cast<std::size_t>(vectors.extent(0)); ++i) {
    append_row(out += i > 0 ? ",[" : "[", vectors, i, ',');
    out += ']';
  }
  out += ']';
}

}  // namespace alate::app

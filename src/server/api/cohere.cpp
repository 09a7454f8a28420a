#include "server/api/cohere.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "server/api/base64.h"
#include "server/models/embed_service.h"

namespace alate::server {
namespace {

template <typename Numbers>
void append_integers(std::string& out, const Numbers& numbers, int added) {
  out += '[';
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) out += ',';
    out += std::to_string(numbers[i] + added);
  }
  out += ']';
}

}  // namespace

std::vector<std::int8_t> quantize_int8(std::span<const float> row) {
  double squares = 0;
  for (const float value : row) squares += double{value} * double{value};
  const double scale = squares > 0 ? 127 / std::sqrt(squares) : 0;
  std::vector<std::int8_t> result;
  result.reserve(row.size());
  for (const float value : row)
    result.push_back(static_cast<std::int8_t>(std::nearbyint(std::clamp(double{value} * scale, -127.0, 127.0))));
  return result;
}

std::vector<std::uint8_t> pack_signs(std::span<const float> row) {
  std::vector<std::uint8_t> result((row.size() + 7) / 8);
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] > 0) result[i / 8] = static_cast<std::uint8_t>(result[i / 8] | (0x80 >> (i % 8)));
  }
  return result;
}

void add_cohere_embeddings(ItemizedBody& body, const VectorRows& vectors, std::string_view type) {
  body.add_text("[");
  body.add_list(vectors.rows(), [vectors, type = std::string(type)](std::string& out, std::size_t index) {
    const std::span<const float> row = vectors.row(index);
    if (type == "float") {
      append_vector(out, row);
    } else if (type == "base64") {
      out += '"';
      append_base64(out, row);
      out += '"';
    } else if (type.ends_with("binary")) {
      append_integers(out, pack_signs(row), type == "binary" ? -128 : 0);
    } else {
      append_integers(out, quantize_int8(row), type == "uint8" ? 128 : 0);
    }
  });
  body.add_text("]");
}

std::string random_uuid() {
  std::random_device source;
  std::uniform_int_distribution<int> nibble(0, 15);
  std::string uuid = "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx";
  for (char& c : uuid) {
    if (c == 'x') c = "0123456789abcdef"[nibble(source)];
    if (c == 'y') c = "89ab"[nibble(source) % 4];
  }
  return uuid;
}

}  // namespace alate::server

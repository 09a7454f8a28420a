#include "server/api/vector_types.h"

#include <utility>

#include "formats/base64.h"
#include "formats/json.h"
#include "pipelines/embed/vector_precision.h"

namespace alate::server {

void append_vector(std::string& out, std::span<const float> row) {
  out += '[';
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) out += ',';
    formats::append_json_number(out, row[i]);
  }
  out += ']';
}

void append_sparse(std::string& out, const SparseEmbedding& sparse) {
  out += R"({"indices":[)";
  for (std::size_t i = 0; i < sparse.indices.size(); ++i) out += (i > 0 ? "," : "") + std::to_string(sparse.indices[i]);
  append_vector(out += R"(],"values":)", sparse.values);
  out += '}';
}

void append_vector(std::string& out, std::span<const float> row, Precision precision) {
  if (precision == Precision::float32) return append_vector(out, row);
  out += '[';
  bool is_first = true;
  for (const int number : pipelines::quantized_numbers(row, precision)) {
    if (!std::exchange(is_first, false)) out += ',';
    out += std::to_string(number);
  }
  out += ']';
}

void append_vector_as(std::string& out, std::span<const float> row, std::string_view type) {
  if (type != "base64") return append_vector(out, row, parse_precision(type).value_or(Precision::float32));
  out += '"';
  formats::append_base64(out, row);
  out += '"';
}

}  // namespace alate::server
